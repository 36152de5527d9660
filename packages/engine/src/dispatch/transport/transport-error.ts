import type { Stage } from "./attempt-observation.ts"

/**
 * The one error class a tool sees from its transport.
 *
 * The code says what happened, never whether the effect happened: `ECONNRESET` has been seen with 0 and with 1 effects.
 * That is answered by `neverLeft` over the attempt's observation.
 */
export type TransportErrorCode =
  /** The head, or a chunk of the body, was due after its moment, or a local clock went back. */
  | "send_window_closed"
  /** A second effect request in one attempt; refused before a byte left. */
  | "second_effect"
  /** Differs from what this key generation first sent, or the earlier digest cannot be read. */
  | "key_body_changed"
  | "key_scope_changed"
  /** The owner could not take down the digest, so nothing was sent. */
  | "digest_not_recorded"
  /** The tool gave something that is no sendable request. */
  | "invalid_request"
  | "unsupported_url"
  | "private_address"
  | "request_too_large"
  | "redirect_refused"
  /** No connection for this request: refused, unresolved, timed out, failed handshake. */
  | "not_connected"
  /** The connection failed after the head was handed to a socket. */
  | "connection_lost"
  | "response_too_large"
  | "response_unreadable"
  /** The tool's own abort signal. */
  | "aborted"
  | "attempt_timeout"
  | "attempt_closed"
  | "transport_closed"
  /** The HTTP client started one request twice; the second start was refused. */
  | "wire_repeated"

export interface TransportErrorDetail {
  readonly stage: Stage
  readonly message: string
  readonly cause?: unknown
}

export class TransportError extends Error {
  override readonly name = "TransportError"
  readonly code: TransportErrorCode
  /** How far the request this error is about had come when it failed. */
  readonly stage: Stage

  constructor(code: TransportErrorCode, detail: TransportErrorDetail) {
    super(detail.message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.code = code
    this.stage = detail.stage
  }
}

/** The system's code under an error: unwraps causes and the several errors of a connect race. */
export function causeCode(error: unknown): string | null {
  let current: unknown = error
  for (let depth = 0; depth < 8 && typeof current === "object" && current !== null; depth += 1) {
    if ("code" in current && typeof current.code === "string" && !(current instanceof TransportError)) {
      return current.code
    }
    if ("errors" in current && Array.isArray(current.errors) && current.errors.length > 0) current = current.errors[0]
    else current = "cause" in current ? current.cause : null
  }
  return null
}
