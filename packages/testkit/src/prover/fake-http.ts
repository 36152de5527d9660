/** Requests and answers of a fake as HTTP carries them. */
import { request as send, type IncomingMessage } from "node:http"
import type { FakeAnswer, FakeRequest } from "./fake-provider.ts"

export function bytesOf(body: unknown): Buffer {
  if (body === undefined) return Buffer.alloc(0)
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body))
}

/** Null where the request ends before it is complete: then it never came. */
export async function readRequest(incoming: IncomingMessage): Promise<FakeRequest | null> {
  try {
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece as Buffer)
    if (!incoming.complete) return null
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(incoming.headers)) headers[name] = [value].flat().join(", ")
    const { method = "GET", url = "/" } = incoming
    return { method, path: url, headers, body: Buffer.concat(pieces).toString("utf8") }
  } catch {
    return null
  }
}

const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
  "host",
  "expect",
  "te",
  "upgrade",
]

export function forward(origin: string, { method, path, headers, body }: FakeRequest): Promise<FakeAnswer> {
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)))
  return new Promise<FakeAnswer>((resolve, reject) => {
    const outgoing = send(
      new URL(path, origin),
      { method, agent: false, headers: { ...kept, "content-length": Buffer.byteLength(body) } },
      (answer) => {
        const pieces: Buffer[] = []
        answer.on("data", (piece: Buffer) => pieces.push(piece))
        answer.on("error", reject)
        answer.on("end", () => {
          const back: Record<string, string> = {}
          for (const [name, value] of Object.entries(answer.headers)) {
            if (!HOP_BY_HOP.includes(name)) back[name] = [value].flat().join(", ")
          }
          resolve({ status: answer.statusCode ?? 502, headers: back, body: Buffer.concat(pieces) })
        })
      },
    )
    outgoing.on("error", reject)
    outgoing.end(body)
  })
}
