import type { Clock } from "../../ports/clock.ts"
import type { AttemptObservation } from "./attempt-observation.ts"
import { digestDifference, effectDigest, type EffectDigest } from "./effect-digest.ts"
import { type EffectRule, isEffect, isRead } from "./effect-rule.ts"
import { type FetchInit, type FetchInput, type ParsedRequest, parseRequest, readBody } from "./outgoing-request.ts"
import { refusedLiteral } from "./private-address.ts"
import { followRedirect, isRedirect, REDIRECTS_MAX } from "./redirect.ts"
import { type AttemptWindow, SendWindow } from "./send-window.ts"
import { causeCode, TransportError, type TransportErrorCode } from "./transport-error.ts"
import { type RequestDispatcher, WireRequest } from "./wire-request.ts"

/**
 * The requests of one attempt: which of them is the effect request, and what became of it (protocol §5.2, §5.3).
 *
 * Owns: `fetch` as a tool sees it, the one effect request, its key and digest, the attempt's end.
 * Must not: judge an answer, or send anything that `close` did not see.
 *
 * AT1. One effect request per attempt. It is claimed synchronously, in the order of the calls; a second one is refused
 *      before a byte leaves.
 * AT2. The provider key is on the effect request and on nothing else.
 * AT3. The digest is compared, and told to the owner, before a connection is asked for.
 * AT4. After the end nothing starts: what waits is refused, what is under way is cut off.
 * AT5. One `fetch` is one request on the wire. Only a read follows a redirect, and only when asked to.
 */
export interface AttemptTransportOptions {
  readonly window: AttemptWindow
  /** When declared, what matches is the effect and other requests need no mark. */
  readonly effect?: EffectRule
  readonly provider_key?: { readonly header: string; readonly value: string }
  /** Of the first effect request of this key generation; a different one is refused. */
  readonly earlier_digest?: EffectDigest
  /** Request headers that the provider compares together with the body. */
  readonly covered_headers?: readonly string[]
  readonly scope?: { readonly account?: string; readonly region?: string }
  readonly response_bytes_max: number
  /** Default `REQUEST_BYTES_MAX`. */
  readonly request_bytes_max?: number
  readonly attempt_timeout_ms: number
  /** Lets URLs marked untrusted lead to private addresses. */
  readonly allow_private?: boolean
  /** Called before the effect request may leave, and waited for; an error refuses the request. */
  readonly on_effect_requested?: (digest: EffectDigest) => void | Promise<void>
}

export interface AttemptTransport {
  readonly fetch: (input: FetchInput, init?: FetchInit) => Promise<Response>
  observe(): AttemptObservation
  /** The attempt has ended: unfinished requests are cut off, later ones refused. */
  close(reason: string): void
}

/** Bodies are held in memory (OR1). A tool that sends more uploads first and names the upload in its effect. */
const REQUEST_BYTES_MAX = 64 * 1024 * 1024

/** Where providers put the id that their support asks for, the most specific first. */
const REQUEST_ID_HEADERS = [
  "request-id",
  "x-request-id",
  "x-github-request-id",
  "x-amzn-requestid",
  "x-amz-request-id",
  "x-ms-request-id",
  "x-correlation-id",
  "cf-ray",
]

interface Call {
  /** The one on the wire now: a followed redirect is another request. */
  request: WireRequest
  readonly init: FetchInit
  readonly signal: AbortSignal | null
}

export interface Dispatchers {
  readonly open: RequestDispatcher
  /**
   * Refuses private addresses. Its connections are never shared with `open`, or a pooled one would go round the check.
   */
  readonly guarded: RequestDispatcher
}

export class Attempt implements AttemptTransport {
  readonly fetch: (input: FetchInput, init?: FetchInit) => Promise<Response>
  readonly #clock: Clock
  readonly #dispatchers: Dispatchers
  readonly #options: AttemptTransportOptions
  readonly #window: SendWindow
  readonly #requests: WireRequest[] = []
  readonly #stopTimer: () => void
  readonly #onClose: () => void
  #effect: WireRequest | null = null
  #digest: EffectDigest | null = null
  #second_effect = false
  #closed: { code: TransportErrorCode; reason: string } | null = null

  constructor(clock: Clock, dispatchers: Dispatchers, options: AttemptTransportOptions, onClose: () => void) {
    this.#clock = clock
    this.#dispatchers = dispatchers
    this.#options = options
    this.#onClose = onClose
    this.#window = new SendWindow(clock, options.window)
    this.#stopTimer = clock.after(options.attempt_timeout_ms, () => this.#timeout())
    this.fetch = (input, init) => {
      const answer = this.#fetch(input, init)
      // A tool that forgot to wait for it hears of it by the attempt's outcome; its process does not die of it.
      answer.catch(() => undefined)
      return answer
    }
  }

  observe(): AttemptObservation {
    const effect = this.#effect
    return Object.freeze({
      stage: effect?.stage ?? "none",
      effect_requested: effect !== null,
      second_effect: this.#second_effect,
      ended: effect !== null && effect.ended,
      effect_wire_requests: effect?.heads_written ?? 0,
      wire_requests: this.#requests.reduce((sum, request) => sum + request.heads_written, 0),
      status: effect?.status ?? null,
      headers: effect?.headers ?? {},
      provider_request_id: providerRequestId(effect?.headers ?? {}),
      digest: this.#digest,
      error: effect?.error ? { code: effect.error.code, cause_code: causeCode(effect.error) } : null,
    })
  }

  close(reason: string): void {
    this.#end("attempt_closed", reason)
  }

  /** The transport itself goes away. */
  shut(): void {
    this.#end("transport_closed", "the transport was closed")
  }

  #timeout(): void {
    const reason = `the attempt took longer than ${this.#options.attempt_timeout_ms} ms`
    this.#closed ??= { code: "attempt_timeout", reason }
    for (const request of this.#requests) {
      if (!request.started) request.fail(this.#error("attempt_timeout", reason, request))
    }
    // An answer may already lie in the socket of a process that stalled. One turn of the event loop lets it be read
    // first.
    this.#clock.after(0, () => this.#end("attempt_timeout", reason))
  }

  #end(code: TransportErrorCode, reason: string): void {
    this.#stopTimer()
    this.#closed ??= { code, reason }
    for (const request of this.#requests) request.fail(this.#error(code, reason, request))
    this.#onClose()
  }

  async #fetch(input: FetchInput, init: FetchInit = {}): Promise<Response> {
    if (this.#closed) throw this.#error(this.#closed.code, this.#closed.reason)
    const parsed = this.#parse(input, init)
    const is_effect = this.#isEffect(parsed, init)
    if (is_effect && this.#effect) {
      this.#second_effect = true
      throw this.#error("second_effect", "an attempt has one effect request; mark the others {effect: false}")
    }
    const request = this.#request(is_effect)
    const call: Call = { request, init, signal: init.signal ?? (input instanceof Request ? input.signal : null) }
    request.watch(call.signal)
    try {
      // Raced, so that an abort or the attempt's end is told at once, whatever a body's source or the owner still does.
      const sent = is_effect ? this.#sendEffect(call, parsed) : this.#sendOther(call, parsed)
      return await Promise.race([sent, request.failed])
    } catch (error) {
      // Whatever stopped the request before the wire did: it is over, and the observation says why.
      const failed =
        error instanceof TransportError ? error : this.#error("invalid_request", "it cannot be sent", request, error)
      call.request.fail(failed)
      throw call.request.error ?? failed
    }
  }

  /**
   * A call that cannot be built is still the attempt's effect request if its method says so: it was asked for and never
   * left.
   */
  #parse(input: FetchInput, init: FetchInit): ParsedRequest {
    try {
      return parseRequest(input, init)
    } catch (error) {
      const method = (init.method ?? (input instanceof Request ? input.method : "GET")).toUpperCase()
      const is_effect = init.effect ?? (!isRead(method) && !this.#options.effect)
      if (is_effect && error instanceof TransportError) {
        if (this.#effect) this.#second_effect = true
        else this.#request(true).fail(error)
      }
      throw error
    }
  }

  #isEffect(parsed: ParsedRequest, init: FetchInit): boolean {
    return isEffect({
      method: parsed.method,
      pathname: parsed.url.pathname,
      mark: init.effect,
      rule: this.#options.effect,
    })
  }

  #request(is_effect: boolean): WireRequest {
    const { response_bytes_max } = this.#options
    const request = new WireRequest({ clock: this.#clock, window: is_effect ? this.#window : null, response_bytes_max })
    this.#requests.push(request)
    if (is_effect) this.#effect = request
    return request
  }

  async #sendEffect({ request, init }: Call, parsed: ParsedRequest): Promise<Response> {
    const { provider_key, covered_headers = [], scope = {}, earlier_digest, on_effect_requested } = this.#options
    const { url, method, headers } = parsed
    // Asked here too: what is late already needs no connection, and a clock set back from here on is noticed (SW3).
    if (!this.#window.headOpen()) throw this.#error("send_window_closed", "the request was asked for too late", request)
    const dispatcher = this.#dispatcher(url, init.untrusted_url)
    if (provider_key) headers.set(provider_key.header, provider_key.value)
    const body = await this.#body(parsed)
    const { account, region } = scope
    const digest = effectDigest({ method, url, headers, covered_headers, body, account, region })
    this.#digest = digest
    const difference = earlier_digest === undefined ? null : digestDifference(earlier_digest, digest)
    if (difference) throw this.#error(difference, "this provider key was first sent with another request", request)
    try {
      await on_effect_requested?.(digest)
    } catch (error) {
      throw this.#error("digest_not_recorded", "the owner could not take down the request's digest", request, error)
    }
    return this.#redirectRefused(request, await request.send(dispatcher, { url, method, headers, body }), init)
  }

  async #sendOther(call: Call, parsed: ParsedRequest): Promise<Response> {
    const { init, signal } = call
    const { method } = parsed
    const body = await this.#body(parsed)
    let hop = { url: parsed.url, headers: parsed.headers, untrusted: init.untrusted_url === true }
    for (let hops = 0; ; hops += 1) {
      const { url, headers } = hop
      const response = await call.request.send(this.#dispatcher(url, hop.untrusted), { url, method, headers, body })
      if (init.redirect !== "follow" || !isRead(method) || !isRedirect(response)) {
        return this.#redirectRefused(call.request, response, init)
      }
      if (hops === REDIRECTS_MAX) throw this.#error("redirect_refused", `over ${REDIRECTS_MAX} redirects`, call.request)
      const next = followRedirect(url, headers, response)
      await response.body?.cancel()
      if (this.#closed) throw this.#error(this.#closed.code, this.#closed.reason, call.request)
      // Where a provider sends us is its choice, not the tool's: another origin counts as an untrusted URL.
      hop = { ...next, untrusted: hop.untrusted || next.other_origin }
      call.request = this.#request(false)
      call.request.watch(signal)
    }
  }

  #redirectRefused(request: WireRequest, response: Response, init: FetchInit): Response {
    if (init.redirect !== "error" || !isRedirect(response)) return response
    throw this.#error("redirect_refused", `answered ${response.status}, a redirect`, request)
  }

  #body(parsed: ParsedRequest): Promise<Uint8Array | null> {
    return readBody(parsed, this.#options.request_bytes_max ?? REQUEST_BYTES_MAX)
  }

  #dispatcher(url: URL, untrusted: boolean | undefined): RequestDispatcher {
    if (untrusted !== true || this.#options.allow_private === true) return this.#dispatchers.open
    const refused = refusedLiteral(url)
    if (refused) throw refused
    return this.#dispatchers.guarded
  }

  #error(code: TransportErrorCode, message: string, request?: WireRequest, cause?: unknown): TransportError {
    return new TransportError(code, { stage: request?.stage ?? "requested", message, cause })
  }
}

function providerRequestId(headers: Readonly<Record<string, string>>): string | null {
  const name = REQUEST_ID_HEADERS.find((candidate) => headers[candidate] !== undefined)
  return name === undefined ? null : (headers[name] ?? null)
}
