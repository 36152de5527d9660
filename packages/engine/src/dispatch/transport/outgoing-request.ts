import { createHash } from "node:crypto"

import { TransportError } from "./transport-error.ts"

/**
 * Turns what a tool gives to `fetch` into one method, one URL, one list of headers and one run of bytes.
 *
 * Owns: what may be said. Must not: send, or know what an effect is.
 *
 * OR1. A body is read to its end before anything is sent: its digest is compared and taken down first, its length is
 *      known, and a source that stalls cannot hold a request half sent.
 * OR2. The same form data gives the same bytes on every attempt: the multipart boundary is made from the content, not
 *      drawn.
 * OR3. Headers that frame a request or redirect it are the transport's own.
 */
export interface ParsedRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly body: ReadableStream<Uint8Array> | null
  readonly is_form: boolean
}

export type FetchInput = string | URL | Request

export interface FetchInit extends RequestInit {
  /** `false`: changes nothing although it is no GET (a token, a search by POST). `true`: is the effect request. */
  readonly effect?: boolean
  /** The URL was built from parameters: private addresses are refused. */
  readonly untrusted_url?: boolean
}

const OWN_HEADERS = [
  "host",
  "connection",
  "transfer-encoding",
  "keep-alive",
  "upgrade",
  "expect",
  "te",
  "trailer",
  "proxy-connection",
]

/** A boundary the platform has drawn. One that a tool chose itself stays: it may have signed the bytes. */
const DRAWN_BOUNDARY = /boundary=----formdata-undici-/

/**
 * Synchronous, so that two calls in one tick are judged in the order they were made. Throws `invalid_request` or
 * `unsupported_url`.
 */
export function parseRequest(input: FetchInput, init: FetchInit = {}): ParsedRequest {
  const { effect: _effect, untrusted_url: _untrusted, signal: _signal, method, ...rest } = init
  let request: Request
  try {
    const named = method === undefined ? {} : { method: method.toUpperCase() }
    request = new Request(input, { duplex: "half", ...rest, ...named, signal: null })
  } catch (error) {
    throw invalid("the HTTP request cannot be built", error)
  }
  const url = new URL(request.url)
  url.hash = ""
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TransportError("unsupported_url", {
      stage: "requested",
      message: `${url.protocol} is not http: or https:`,
    })
  }
  const headers = new Headers(request.headers)
  for (const name of OWN_HEADERS) if (headers.has(name)) throw invalid(`the ${name} header is the transport's own`)
  if (!headers.has("user-agent")) headers.set("user-agent", "invoke")
  if (!headers.has("accept")) headers.set("accept", "*/*")
  const is_form = rest.body instanceof FormData || DRAWN_BOUNDARY.test(headers.get("content-type") ?? "")
  return { url, method: request.method.toUpperCase(), headers, body: request.body, is_form }
}

/** Reads the body, and fixes the headers that depend on it. */
export async function readBody(parsed: ParsedRequest, bytes_max: number): Promise<Uint8Array | null> {
  const { headers } = parsed
  const declared = headers.get("content-length")
  headers.delete("content-length")
  if (!parsed.body) return null
  const read = Buffer.concat(await readChunks(parsed.body, bytes_max))
  const body = parsed.is_form ? stableForm(read, headers) : read
  if (declared !== null && Number(declared) !== body.byteLength) {
    throw invalid(`content-length says ${declared}, the body has ${body.byteLength} bytes`)
  }
  return body
}

async function readChunks(body: ReadableStream<Uint8Array>, bytes_max: number): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes > bytes_max) break
      chunks.push(chunk)
    }
  } catch (error) {
    throw invalid("the request body cannot be read", error)
  }
  if (bytes <= bytes_max) return chunks
  throw new TransportError("request_too_large", {
    stage: "requested",
    message: `the request body has more than ${bytes_max} bytes`,
  })
}

function stableForm(body: Buffer, headers: Headers): Buffer {
  const type = headers.get("content-type") ?? ""
  const drawn = /boundary=(.+)$/.exec(type)?.[1]
  if (!drawn) return body
  const parts = split(body, Buffer.from(drawn, "latin1"))
  const hash = createHash("sha256")
  for (const part of parts) hash.update(`${part.byteLength}:`).update(part)
  const made = `invoke-${hash.digest("hex")}`
  headers.set("content-type", type.replace(drawn, made))
  const boundary = Buffer.from(made, "latin1")
  return Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [boundary, part])))
}

function split(body: Buffer, separator: Buffer): Buffer[] {
  const parts: Buffer[] = []
  let from = 0
  for (let at = body.indexOf(separator); at !== -1; at = body.indexOf(separator, from)) {
    parts.push(body.subarray(from, at))
    from = at + separator.byteLength
  }
  parts.push(body.subarray(from))
  return parts
}

function invalid(message: string, cause?: unknown): TransportError {
  return new TransportError("invalid_request", { stage: "requested", message, cause })
}
