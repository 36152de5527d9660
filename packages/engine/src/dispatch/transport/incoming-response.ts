import { promisify } from "node:util"
import { brotliDecompress, gunzip, inflate } from "node:zlib"

import type { Stage } from "./attempt-observation.ts"
import { TransportError } from "./transport-error.ts"

/**
 * The standard `Response` a tool gets, fed by the wire.
 *
 * IR1. Bytes are taken from the wire whether or not the tool reads them, so that the answer completes; hence the bound.
 * IR2. Nothing the body does can hide the status: it was recorded before.
 * IR3. The bound holds for what was received and for what it decodes to.
 */
export interface ResponseHead {
  readonly status: number
  readonly status_text: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly url: string
  readonly method: string
}

const DECODERS: Readonly<Record<string, (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
}

const WITHOUT_BODY = [204, 205, 304]

export class IncomingResponse {
  readonly response: Response
  readonly #bytes_max: number
  readonly #decode: ((data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>) | undefined
  #stream: ReadableStreamDefaultController<Uint8Array> | null = null
  #encoded: Uint8Array[] = []
  #bytes = 0

  constructor(head: ResponseHead, bytes_max: number) {
    const headers = standardHeaders(head.headers)
    const bodiless = head.method === "HEAD" || WITHOUT_BODY.includes(head.status)
    this.#bytes_max = bytes_max
    this.#decode = bodiless ? undefined : DECODERS[headers.get("content-encoding")?.trim().toLowerCase() ?? ""]
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#stream = controller
      },
      cancel: () => {
        this.#stream = null
      },
    })
    try {
      this.response = new Response(bodiless ? null : stream, {
        status: head.status,
        statusText: /^[\t\x20-\x7e]*$/.test(head.status_text) ? head.status_text : "",
        headers,
      })
    } catch (error) {
      throw new TransportError("response_unreadable", {
        stage: "head_received",
        message: `status ${head.status} is not one a response can carry`,
        cause: error,
      })
    }
    Object.defineProperty(this.response, "url", { value: head.url })
    if (bodiless) this.#stream = null
  }

  /** Takes bytes from the wire; returns the error that ends the request when there are too many. */
  push(chunk: Uint8Array, stage: Stage): TransportError | null {
    this.#bytes += chunk.byteLength
    if (this.#bytes > this.#bytes_max) return this.#tooLarge(stage)
    if (this.#decode) this.#encoded.push(chunk)
    else this.#stream?.enqueue(chunk)
    return null
  }

  end(): void {
    if (this.#decode && this.#bytes > 0) void this.#decodeAll(this.#decode)
    else this.#close()
  }

  fail(error: TransportError): void {
    this.#encoded = []
    this.#stream?.error(error)
    this.#stream = null
  }

  async #decodeAll(decode: (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>): Promise<void> {
    try {
      const decoded = await decode(Buffer.concat(this.#encoded), { maxOutputLength: this.#bytes_max })
      if (decoded.byteLength > 0) this.#stream?.enqueue(decoded)
      this.#close()
    } catch (error) {
      const large = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
      this.fail(
        large
          ? this.#tooLarge("body_received")
          : new TransportError("response_unreadable", {
              stage: "body_received",
              message: "the response body cannot be decoded",
              cause: error,
            }),
      )
    }
    this.#encoded = []
  }

  #close(): void {
    this.#stream?.close()
    this.#stream = null
  }

  #tooLarge(stage: Stage): TransportError {
    return new TransportError("response_too_large", {
      stage,
      message: `the response body has more than ${this.#bytes_max} bytes`,
    })
  }
}

function standardHeaders(received: ResponseHead["headers"]): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(received)) {
    for (const item of typeof value === "string" ? [value] : (value ?? [])) {
      try {
        headers.append(name, item)
      } catch {
        // A value no header object can carry. The answer itself stands.
      }
    }
  }
  return headers
}
