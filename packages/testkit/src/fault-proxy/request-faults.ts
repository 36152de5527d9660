/** What becomes of a request on its way to the target. One function per fault; each delivers as often as it says. */
import { writtenAnswer } from "./answer-bytes.ts"
import { Cutter } from "./cutter.ts"
import type { Delivery } from "./delivery.ts"
import type { Exchange } from "./exchange.ts"
import type { CutPlace, EndBy, RequestFault } from "./fault.ts"
import { wait } from "./proxy-timer.ts"

/** The delivery whose answer goes back, and what to tell about that answer; null when there is none to wait for. */
export interface Delivered {
  readonly delivery: Delivery
  readonly answered?: (status: number | null) => void
}

export async function deliverRequest(
  exchange: Exchange,
  fault: RequestFault | { readonly kind: "pass" },
): Promise<Delivered | null> {
  switch (fault.kind) {
    case "pass":
      return passRequest(exchange)
    case "refuse":
      exchange.client.end(fault.by)
      return null
    case "half_open":
      exchange.client.freeze()
      return null
    case "answer_instead":
      await exchange.request.whole()
      if (await exchange.client.write(writtenAnswer(fault))) exchange.entry.answered = "other"
      return null
    case "cut":
      return cutRequest(exchange, fault.at, fault.by)
    case "delay":
      return delayRequest(exchange, fault.ms)
    case "duplicate_request":
      return duplicateRequest(exchange, fault.answer ?? "first", fault.overlap ?? false)
    case "hold":
      return holdRequest(exchange, fault.client ?? "wait")
  }
}

async function passRequest(exchange: Exchange): Promise<Delivered | null> {
  const delivery = exchange.open()
  for await (const piece of exchange.request.pieces()) await delivery.write(piece)
  return finishDelivery(exchange, delivery)
}

function finishDelivery(exchange: Exchange, delivery: Delivery): Delivered | null {
  if (exchange.request.complete) {
    exchange.delivered()
    return { delivery }
  }
  // The client went away inside its own request; the target has to hear that it will not be finished.
  delivery.end("rst")
  exchange.client.end("rst")
  return null
}

async function cutRequest(exchange: Exchange, at: CutPlace, by: EndBy): Promise<Delivered | null> {
  if ("after_message" in at) {
    const passed = await passRequest(exchange)
    if (passed !== null) exchange.client.end(by)
    return passed
  }
  const cutter = new Cutter(at)
  const delivery = exchange.open()
  for await (const piece of exchange.request.pieces()) {
    const { pass, cut } = cutter.feed(piece)
    await delivery.write(pass)
    if (cut) {
      delivery.end(by)
      exchange.client.end(by)
      return null
    }
  }
  await delivery.write(cutter.rest())
  return finishDelivery(exchange, delivery)
}

async function delayRequest(exchange: Exchange, ms: number): Promise<Delivered | null> {
  const bytes = await wholeRequest(exchange)
  if (bytes === null) return null
  await wait(ms, exchange.closing)
  return exchange.closing.aborted ? null : { delivery: await deliverWhole(exchange, bytes) }
}

async function duplicateRequest(
  exchange: Exchange,
  answer: "first" | "last",
  overlap: boolean,
): Promise<Delivered | null> {
  const bytes = await wholeRequest(exchange)
  if (bytes === null) return null
  const first = await deliverWhole(exchange, bytes)
  if (answer === "last") {
    if (!overlap) await dropAnswer(exchange, first)
    const last = await deliverWhole(exchange, bytes)
    if (overlap) void dropAnswer(exchange, first)
    return { delivery: last }
  }
  if (overlap) {
    void dropAnswer(exchange, await deliverWhole(exchange, bytes))
    return { delivery: first }
  }
  // The first answer is kept whole while the second request runs to its end.
  await (await first.answer(exchange.seen.method))?.whole()
  await dropAnswer(exchange, await deliverWhole(exchange, bytes))
  return { delivery: first }
}

async function holdRequest(exchange: Exchange, client: "wait" | EndBy): Promise<Delivered | null> {
  const bytes = await wholeRequest(exchange)
  if (bytes === null) return null
  if (client !== "wait") exchange.client.end(client)
  const answered = await exchange.held.hold(exchange.seen.method, exchange.seen.path)
  if (answered === null) return null
  return { delivery: await deliverWhole(exchange, bytes), answered }
}

async function wholeRequest(exchange: Exchange): Promise<Buffer | null> {
  const bytes = await exchange.request.whole()
  if (exchange.request.complete) return bytes
  exchange.client.end("rst")
  return null
}

async function deliverWhole(exchange: Exchange, bytes: Buffer): Promise<Delivery> {
  const delivery = exchange.open()
  await delivery.write(bytes)
  exchange.delivered()
  return delivery
}

async function dropAnswer(exchange: Exchange, delivery: Delivery): Promise<void> {
  const answer = await delivery.answer(exchange.seen.method)
  await answer?.whole()
  delivery.end("fin")
}
