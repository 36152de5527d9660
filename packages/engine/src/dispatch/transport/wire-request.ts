import type { Dispatcher } from "undici"

import type { Clock } from "../../ports/clock.ts"
import { STAGES, type Stage } from "./attempt-observation.ts"
import { CHUNK_BYTES, gatedBody } from "./gated-body.ts"
import { IncomingResponse } from "./incoming-response.ts"
import type { SendWindow } from "./send-window.ts"
import { causeCode, TransportError, type TransportErrorCode } from "./transport-error.ts"

/**
 * One request on the wire: the only place where a stage is seen and where a gate stands.
 *
 * Owns: the handler the HTTP client calls for this request, and for no other. Must not: know attempts, keys or rules.
 *
 * WR1. Stages come from this handler, never from an async context: on a shared pool that context is another caller's.
 * WR2. The head is written in the very call that asked the window, or one microtask after it; never a turn of the event
 *      loop later.
 * WR3. At most one head is handed to a socket. A second start is refused, whoever asks for it.
 * WR4. What ended before its head was written can never be written: a start after the end is refused.
 * WR5. `head_written` is set before the write. Too early is ambiguous; too late would be a false proof.
 */
export interface WireRequestOptions {
  readonly clock: Clock
  /** Set on the effect request only. */
  readonly window: SendWindow | null
  readonly response_bytes_max: number
}

export interface Outgoing {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly body: Uint8Array | null
}

export type RequestDispatcher = Pick<Dispatcher, "dispatch">

const UNSENDABLE = ["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH"]

/** A timer beyond this fires at once; a body that may take longer is looked at again. */
const TIMER_MS_MAX = 2 ** 31 - 1

export class WireRequest {
  stage: Stage = "requested"
  heads_written = 0
  ended = false
  status: number | null = null
  headers: Readonly<Record<string, string>> = {}
  error: TransportError | null = null
  /**
   * Rejects when the request ends, sent or not, without an answer; never resolves. Later errors are the response
   * body's.
   */
  readonly failed: Promise<never>

  readonly #options: WireRequestOptions
  #controller: Dispatcher.DispatchController | null = null
  #incoming: IncomingResponse | null = null
  #reject: (error: TransportError) => void = () => {}
  #stopBodyTimer: (() => void) | null = null
  #unwatch: (() => void) | null = null

  constructor(options: WireRequestOptions) {
    this.#options = options
    this.failed = new Promise((_resolve, reject) => {
      this.#reject = reject
    })
    // Nobody may be waiting: an attempt can end while its tool does something else.
    this.failed.catch(() => {})
  }

  get started(): boolean {
    return this.#controller !== null
  }

  async send(dispatcher: RequestDispatcher, outgoing: Outgoing): Promise<Response> {
    if (this.error) throw this.error
    this.stage = "connecting"
    const { url, method, body } = outgoing
    const small = body === null || body.byteLength <= CHUNK_BYTES
    const headers = [...outgoing.headers].flat()
    if (!small) headers.push("content-length", String(body.byteLength))
    const answered = new Promise<Response>((resolve) => {
      dispatcher.dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method,
          headers,
          // Types know no async iterables here; the client writes them chunk by chunk and asks for each when it can be
          // written.
          body: (small ? body : this.#gated(body)) as Uint8Array | null,
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        this.#handler(outgoing, small, resolve),
      )
    })
    return Promise.race([answered, this.failed])
  }

  /** Lets the tool's signal end the request for as long as it runs. */
  watch(signal: AbortSignal | null): void {
    if (!signal) return
    const abort = (): void => this.fail(this.#because("aborted", "the tool aborted the request", signal.reason))
    this.#unwatch = () => signal.removeEventListener("abort", abort)
    if (signal.aborted) abort()
    else signal.addEventListener("abort", abort, { once: true })
  }

  /** Ends the request with this error: unsent it never leaves, sent it is ambiguous. Does nothing to a finished one. */
  fail(error: TransportError): void {
    if (this.ended) return
    this.#end(error)
    this.#controller?.abort(error)
  }

  #handler(
    outgoing: Outgoing,
    head_at_start: boolean,
    resolve: (response: Response) => void,
  ): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (controller) => {
        const refused = this.#refusal()
        this.#controller = controller
        if (refused) {
          this.#end(refused)
          controller.abort(refused)
          return
        }
        if (!head_at_start) return
        this.#headWritten()
        // Head and small body go into the socket in the caller's next statements.
        queueMicrotask(() => this.#reach("body_written"))
      },
      onResponseStart: (_controller, status, headers, status_text = "") => {
        if (this.ended || status < 200) return
        this.status = status
        this.headers = plainHeaders(headers)
        this.#reach("head_received")
        const head = { status, status_text, headers, url: outgoing.url.href, method: outgoing.method }
        try {
          this.#incoming = new IncomingResponse(head, this.#options.response_bytes_max)
        } catch (error) {
          this.fail(this.#wrap(error))
          return
        }
        resolve(this.#incoming.response)
      },
      onResponseData: (_controller, chunk) => {
        if (this.ended) return
        const error = this.#incoming?.push(chunk, this.stage)
        if (error) this.fail(error)
      },
      onResponseEnd: () => {
        if (this.ended) return
        this.#reach("body_received")
        this.#end(null)
      },
      onResponseError: (_controller, error) => {
        if (!this.ended) this.#end(this.#wrap(error))
      },
    }
  }

  /** Why a head may not be written now; null when it may (WR2-WR4). */
  #refusal(): TransportError | null {
    if (this.error) return this.error
    if (this.ended || this.#controller)
      return this.#because("wire_repeated", "the HTTP client started the request twice")
    return this.#windowRefusal(true)
  }

  #windowRefusal(head: boolean): TransportError | null {
    const { window } = this.#options
    if (!window || (head ? window.headOpen() : window.bodyOpen())) return null
    return this.#because(
      "send_window_closed",
      head ? "the request was due too late to start" : "the body took too long to leave",
    )
  }

  #headWritten(): void {
    this.heads_written += 1
    this.#reach("head_written")
  }

  #gated(body: Uint8Array): AsyncIterable<Uint8Array> {
    return gatedBody(body, {
      chunk: (first) => {
        const refused =
          this.error ?? (this.ended ? this.#because("wire_repeated", "already answered") : this.#windowRefusal(first))
        if (refused) {
          this.#end(refused)
          throw refused
        }
        if (!first) return
        this.#headWritten()
        this.#watchBody()
      },
      end: () => {
        this.#stopBodyTimer?.()
        this.#reach("body_written")
      },
    })
  }

  /**
   * Ends a body whose chunk waits outside the kernel when its last moment passes; the chunk gate alone would not be
   * asked.
   */
  #watchBody(): void {
    const { clock, window } = this.#options
    if (!window) return
    this.#stopBodyTimer = clock.after(Math.min(Math.ceil(window.bodyLeft()) + 1, TIMER_MS_MAX), () => {
      const refused = this.#windowRefusal(false)
      if (refused) this.fail(refused)
      else this.#watchBody()
    })
  }

  #reach(stage: Stage): void {
    if (!this.ended && STAGES.indexOf(stage) > STAGES.indexOf(this.stage)) this.stage = stage
  }

  #end(error: TransportError | null): void {
    if (this.ended) return
    this.ended = true
    this.error = error
    this.#stopBodyTimer?.()
    this.#unwatch?.()
    if (!error) this.#incoming?.end()
    else if (this.#incoming) this.#incoming.fail(error)
    else this.#reject(error)
  }

  #wrap(error: unknown): TransportError {
    if (error instanceof TransportError) return this.#because(error.code, error.message, error)
    const message = error instanceof Error ? error.message : "the HTTP client failed"
    if (this.heads_written > 0) return this.#because("connection_lost", message, error)
    const cause_code = causeCode(error) ?? ""
    const code = UNSENDABLE.includes(cause_code) ? "invalid_request" : "not_connected"
    return this.#because(code, message, error)
  }

  #because(code: TransportErrorCode, message: string, cause?: unknown): TransportError {
    return new TransportError(code, { stage: this.stage, message, cause })
  }
}

function plainHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string>> {
  const plain: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    // Cookies are credentials; nothing that is kept of an answer needs them.
    if (value === undefined || name === "set-cookie") continue
    plain[name] = typeof value === "string" ? value : value.join(", ")
  }
  return Object.freeze(plain)
}
