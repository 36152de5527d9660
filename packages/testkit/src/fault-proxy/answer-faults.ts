/** What becomes of the target's answer on its way to the client. */
import { withGarbledBody, withGarbledLine, writtenAnswer } from "./answer-bytes.ts"
import { Cutter } from "./cutter.ts"
import type { Exchange } from "./exchange.ts"
import type { AnswerFault, CutPlace, EndBy } from "./fault.ts"
import type { HttpStream } from "./http-stream.ts"
import { wait } from "./proxy-timer.ts"

type Chosen = AnswerFault | { readonly kind: "pass" }

/** Gives the client what the fault leaves of the answer. `targetEnd` is how the target ends an unfinished one. */
export async function returnAnswer(
  exchange: Exchange,
  answer: HttpStream,
  fault: Chosen,
  targetEnd: () => EndBy,
): Promise<void> {
  const { client, entry } = exchange
  switch (fault.kind) {
    case "pass":
      return passAnswer(exchange, answer, targetEnd)
    case "delay":
      await wait(fault.ms, exchange.closing)
      return passAnswer(exchange, answer, targetEnd)
    case "cut":
      return cutAnswer(exchange, answer, fault.at, fault.by)
    case "drop_answer":
      await answer.whole()
      return leaveClient(exchange, fault.then)
    case "truncate_answer": {
      const whole = await answer.whole()
      const kept = whole.subarray(0, answer.head.raw.length + fault.keep_bytes)
      if (await client.write(kept)) entry.answered = "part"
      return leaveClient(exchange, fault.then)
    }
    case "garble_answer": {
      const garbled = fault.part === "body" ? await withGarbledBody(answer) : withGarbledLine(await answer.whole())
      if (await client.write(garbled)) entry.answered = "other"
      return
    }
    case "replace_answer":
      await answer.whole()
      if (await client.write(writtenAnswer(fault))) entry.answered = "other"
      return
    case "answer_twice": {
      const whole = await answer.whole()
      if (await client.write(Buffer.concat([whole, whole]))) entry.answered = "twice"
      return
    }
  }
}

async function passAnswer(exchange: Exchange, answer: HttpStream, targetEnd: () => EndBy): Promise<void> {
  const { client, entry } = exchange
  let written = true
  for await (const piece of answer.pieces()) {
    written &&= await client.write(piece)
    if (written) entry.answered = "part"
  }
  if (!answer.complete) return client.end(targetEnd())
  if (written) entry.answered = "whole"
  const closes = answer.framing.kind === "close" || answer.head.headers.get("connection")?.toLowerCase() === "close"
  if (closes) client.end(targetEnd())
}

async function cutAnswer(exchange: Exchange, answer: HttpStream, at: CutPlace, by: EndBy): Promise<void> {
  const { client, entry } = exchange
  const cutter = new Cutter(at)
  let written = true
  for await (const piece of answer.pieces()) {
    const { pass, cut } = cutter.feed(piece)
    written &&= await client.write(pass)
    if (written && pass.length > 0) entry.answered = "part"
    if (cut) return client.end(by)
  }
  written &&= await client.write(cutter.rest())
  if (written) entry.answered = "whole"
  if ("after_message" in at) client.end(by)
}

function leaveClient(exchange: Exchange, then: EndBy | "keep_open" | "half_open"): void {
  if (then === "half_open") exchange.client.freeze()
  else if (then !== "keep_open") exchange.client.end(then)
}
