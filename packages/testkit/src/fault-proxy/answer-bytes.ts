/** Answers the target did not write, as bytes. */
import { STATUS_CODES } from "node:http"
import { dechunk } from "./chunked-scanner.ts"
import type { ScriptedAnswer } from "./fault.ts"
import type { HttpStream } from "./http-stream.ts"

export function writtenAnswer(answer: ScriptedAnswer): Buffer {
  const body = Buffer.from(answer.body ?? "")
  const head = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? "Unknown"}`]
  for (const [name, value] of Object.entries(answer.headers ?? {})) head.push(`${name}: ${value}`)
  head.push(`content-length: ${body.length}`, "", "")
  return Buffer.concat([Buffer.from(head.join("\r\n"), "latin1"), body])
}

/** The same answer with a first line that no parser accepts. */
export function withGarbledLine(whole: Buffer): Buffer {
  const end = whole.indexOf("\r\n")
  return Buffer.concat([Buffer.from("\u0016\u0003 not an answer", "latin1"), whole.subarray(end)])
}

/** The same head over a body of the same length in which every byte is overwritten. */
export async function withGarbledBody(answer: HttpStream): Promise<Buffer> {
  const body = await answer.body()
  const length = answer.framing.kind === "chunked" ? dechunk(body).length : body.length
  const head = answer.head.raw
    .toString("latin1")
    .split("\r\n")
    .filter((line) => !/^(transfer-encoding|content-length):/i.test(line))
  head.splice(-2, 0, `content-length: ${length}`)
  return Buffer.concat([Buffer.from(head.join("\r\n"), "latin1"), Buffer.alloc(length, "#")])
}
