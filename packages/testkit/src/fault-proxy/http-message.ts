/**
 * HTTP/1.1 framing: where a message begins and ends on a connection. Bytes are passed on as they came; nothing here
 * normalises, so that what the target sees is what the client sent.
 */
import type { ByteQueue } from "./byte-queue.ts"
import { ChunkedScanner } from "./chunked-scanner.ts"

/** A head larger than any server accepts is not a head. */
const HEAD_BYTES_MAX = 64 * 1024
/** A message that has to be kept whole (to be held, doubled or searched) may not be larger than this. */
const WHOLE_BYTES_MAX = 16 * 1024 * 1024

export interface MessageHead {
  readonly raw: Buffer
  /** The three words of the start line: method, target, version; or version, status, reason. */
  readonly start: readonly [string, string, string]
  readonly headers: ReadonlyMap<string, string>
}

export type Framing = { kind: "none" } | { kind: "length"; bytes: number } | { kind: "chunked" } | { kind: "close" }

/** Reads one head, or null when the peer ended or sent something that is not one. */
export async function readHead(queue: ByteQueue): Promise<MessageHead | null> {
  let seen: Buffer = Buffer.alloc(0)
  for (;;) {
    const chunk = await queue.next()
    if (chunk === null) return null
    seen = Buffer.concat([seen, chunk])
    const end = seen.indexOf("\r\n\r\n")
    if (end >= 0) {
      queue.unread(seen.subarray(end + 4))
      return parseHead(seen.subarray(0, end + 4))
    }
    if (seen.length > HEAD_BYTES_MAX) return null
  }
}

function parseHead(raw: Buffer): MessageHead {
  const lines = raw.toString("latin1").split("\r\n")
  const words = (lines[0] ?? "").split(" ")
  const headers = new Map<string, string>()
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(":")
    if (colon > 0) headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
  }
  return { raw, start: [words[0] ?? "", words[1] ?? "", words.slice(2).join(" ")], headers }
}

export function requestPath(head: MessageHead): string {
  return head.start[1].split("?", 1)[0] ?? ""
}

export function answerStatus(head: MessageHead): number {
  return Number(head.start[1])
}

export function requestFraming(head: MessageHead): Framing {
  return declaredFraming(head) ?? { kind: "none" }
}

/** An answer to HEAD, and a 1xx, 204 or 304, has no body whatever its headers say; without a length it ends by close. */
export function answerFraming(head: MessageHead, method: string): Framing {
  const status = answerStatus(head)
  if (method === "HEAD" || status === 204 || status === 304 || (status < 200 && status !== 101)) return { kind: "none" }
  return declaredFraming(head) ?? { kind: "close" }
}

function declaredFraming(head: MessageHead): Framing | null {
  if (head.headers.get("transfer-encoding")?.toLowerCase().endsWith("chunked") === true) return { kind: "chunked" }
  const length = head.headers.get("content-length")
  return length === undefined ? null : { kind: "length", bytes: Number(length) }
}

/** The body of one message, read once, raw. */
export class MessageBody {
  readonly #queue: ByteQueue
  readonly #framing: Framing
  readonly #chunked = new ChunkedScanner()
  #left: number
  #complete: boolean

  constructor(queue: ByteQueue, framing: Framing) {
    this.#queue = queue
    this.#framing = framing
    this.#left = framing.kind === "length" ? framing.bytes : 0
    this.#complete = framing.kind === "none" || (framing.kind === "length" && framing.bytes === 0)
  }

  /** True once the last byte of the message has been handed out. */
  get complete(): boolean {
    return this.#complete
  }

  async next(): Promise<Buffer | null> {
    if (this.#complete) return null
    const chunk = await this.#queue.next()
    if (chunk === null) {
      if (this.#framing.kind === "close") this.#complete = true
      return null
    }
    const taken = this.#take(chunk)
    this.#queue.unread(chunk.subarray(taken))
    return chunk.subarray(0, taken)
  }

  /** All that is left of the body, read to its end. */
  async rest(): Promise<Buffer> {
    const parts: Buffer[] = []
    let size = 0
    for (let part = await this.next(); part !== null; part = await this.next()) {
      parts.push(part)
      size += part.length
      if (size > WHOLE_BYTES_MAX) throw new Error(`a message kept whole is limited to ${WHOLE_BYTES_MAX} bytes`)
    }
    return Buffer.concat(parts)
  }

  #take(chunk: Buffer): number {
    if (this.#framing.kind === "close") return chunk.length
    if (this.#framing.kind === "chunked") {
      const taken = this.#chunked.scan(chunk)
      this.#complete = this.#chunked.done
      return taken
    }
    const taken = Math.min(chunk.length, this.#left)
    this.#left -= taken
    this.#complete = this.#left === 0
    return taken
  }
}
