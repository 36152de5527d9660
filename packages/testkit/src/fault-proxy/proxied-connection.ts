/**
 * Serves one client connection: request after request, each with the faults the script chose for it.
 *
 * 1. A request that reached the target wholly is left to run to its end there, whatever becomes of the client.
 * 2. Requests of one connection are served one after the other; their faults are chosen in that order.
 */
import type { Socket } from "node:net"
import { returnAnswer } from "./answer-faults.ts"
import { ClientSide } from "./client-side.ts"
import { Delivery, type Target } from "./delivery.ts"
import type { Exchange } from "./exchange.ts"
import type { ChosenFaults } from "./fault.ts"
import type { HeldRequests } from "./held-requests.ts"
import { readHead, requestFraming, requestPath, type MessageHead } from "./http-message.ts"
import { HttpStream } from "./http-stream.ts"
import type { ProxyCounters, ProxyRecordEntry } from "./proxy-record.ts"
import { deliverRequest, type Delivered } from "./request-faults.ts"
import type { RuleScript, SeenRequest } from "./rule-script.ts"

const CONTINUE = Buffer.from("HTTP/1.1 100 Continue\r\n\r\n")

/** What all connections of one proxy share. The script and the target are those of the moment they are asked for. */
export interface ProxyState {
  readonly counters: ProxyCounters
  readonly held: HeldRequests
  readonly closing: AbortSignal
  script(): RuleScript
  target(): Target
  record(entry: ProxyRecordEntry): void
  changed(): void
  /** Hands over a socket that has to end when the proxy closes. */
  track(socket: Socket): void
}

export async function serveConnection(socket: Socket, connection: number, state: ProxyState): Promise<void> {
  const unread = state.script().atConnection(connection)
  if (unread !== null) return endUnread(socket, connection, unread, state)
  const client = new ClientSide(socket, state.counters)
  while (!client.over && !state.closing.aborted) {
    const head = await readHead(client.queue)
    if (head === null) break
    await serveRequest(client, head, connection, state)
  }
  client.end("fin")
}

/** The socket was accepted paused: nothing of what the client sends is read. */
function endUnread(socket: Socket, connection: number, chosen: ChosenFaults, state: ProxyState): void {
  socket.on("error", () => {})
  const fault = chosen.request
  if (fault.kind === "refuse" && fault.by === "rst") socket.resetAndDestroy()
  else if (fault.kind === "refuse") socket.end()
  state.record({ ...newEntry(connection, 0, "", ""), faults: [fault.kind], finished: true })
}

async function serveRequest(
  client: ClientSide,
  head: MessageHead,
  connection: number,
  state: ProxyState,
): Promise<void> {
  state.counters.requests += 1
  const request = new HttpStream(head, requestFraming(head), client.queue)
  const entry = newEntry(connection, state.counters.requests, head.start[0], requestPath(head))
  state.record(entry)
  try {
    await exchangeOne(client, request, entry, state)
  } catch (error) {
    entry.trouble = error instanceof Error ? error.message : String(error)
    client.end("rst")
  }
  entry.client_gone = client.gone
  entry.finished = true
  state.changed()
}

async function exchangeOne(
  client: ClientSide,
  request: HttpStream,
  entry: ProxyRecordEntry,
  state: ProxyState,
): Promise<void> {
  // Interim answers are not passed on, so a client that waits for one before its body hears it from the proxy.
  if (request.head.headers.get("expect")?.toLowerCase() === "100-continue") await client.write(CONTINUE)
  const script = state.script()
  let seen: SeenRequest = { connection: entry.connection, method: entry.method, path: entry.path, whole: null }
  if (script.needsBody(seen)) seen = { ...seen, whole: await request.whole() }
  const chosen = script.atRequest(seen)
  for (const fault of [chosen.request, chosen.answer]) if (fault.kind !== "pass") entry.faults.push(fault.kind)
  const exchange: Exchange = {
    client,
    request,
    seen,
    entry,
    held: state.held,
    script,
    closing: state.closing,
    open: () => new Delivery(state.target(), state.counters, (socket) => state.track(socket)),
    delivered: () => {
      entry.deliveries += 1
      state.counters.deliveries += 1
      state.changed()
    },
  }
  const delivered = await deliverRequest(exchange, chosen.request)
  if (delivered !== null) await carryBack(exchange, delivered, chosen)
}

async function carryBack(exchange: Exchange, { delivery, answered }: Delivered, chosen: ChosenFaults): Promise<void> {
  const answer = await delivery.answer(exchange.seen.method)
  exchange.entry.target_status = answer === null ? null : Number(answer.head.start[1])
  if (answer === null) {
    exchange.client.end(delivery.endedBy)
  } else {
    await returnAnswer(exchange, answer, await answerFault(exchange, answer, chosen), () => delivery.endedBy)
    await answer.whole()
  }
  delivery.end("fin")
  answered?.(exchange.entry.target_status)
}

async function answerFault(
  exchange: Exchange,
  answer: HttpStream,
  chosen: ChosenFaults,
): Promise<ChosenFaults["answer"]> {
  if (chosen.answer.kind !== "pass" || !exchange.script.needsAnswer(exchange.seen)) return chosen.answer
  const late = exchange.script.atAnswer(exchange.seen, await answer.whole())
  if (late === null || late.answer.kind === "pass") return chosen.answer
  exchange.entry.faults.push(late.answer.kind)
  return late.answer
}

function newEntry(connection: number, request: number, method: string, path: string): ProxyRecordEntry {
  return {
    connection,
    request,
    method,
    path,
    faults: [],
    deliveries: 0,
    target_status: null,
    answered: "nothing",
    client_gone: false,
    finished: false,
    trouble: null,
  }
}
