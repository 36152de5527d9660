/**
 * The idempotency layer of the Stripe-shaped provider.
 *
 * 1. Only POST looks at keys. A key is compared with the endpoint and all parameters it was first used with.
 * 2. While the first request under a key runs, another one is refused with 409 and nothing is stored of it.
 * 3. What is stored is replayed with the same status and body, a 500 and a decline too.
 * 4. A key is forgotten when its retention, counted from the first use by the provider's clock, is over.
 */
import { createHash } from "node:crypto"
import type { KeyRecord } from "../ledger-line.ts"
import type { ClaimedKey, ProviderAnswer, ProviderRequest } from "../provider.ts"
import { canonicalForm } from "./form-body.ts"
import { StripeError } from "./stripe-error.ts"

/** The longest key the real provider takes. */
const KEY_LENGTH_MAX = 255

interface Stored {
  readonly record: KeyRecord
  readonly request_id: string
  readonly answer: { readonly status: number; readonly body: string }
}

export class KeyLayer {
  readonly #stored = new Map<string, Stored>()
  readonly #running = new Map<string, KeyRecord>()

  learn(record: KeyRecord, request_id: string, answer: { readonly status: number; readonly body: string }): void {
    this.#stored.set(record.key, { record, request_id, answer })
  }

  /** The key's replay, if it has one. Throws on another endpoint, other parameters, or a request still running. */
  replay(request: ProviderRequest, now_ms: number, retention_ms: number): ProviderAnswer | null {
    const key = request.headers.get("idempotency-key")
    if (key === undefined) return null
    if (key.length > KEY_LENGTH_MAX) {
      const message = `Idempotency keys must be ${KEY_LENGTH_MAX} characters or less`
      throw new StripeError(400, { type: "invalid_request_error", message })
    }
    const running = this.#running.get(key)
    if (running !== undefined) {
      compare(running, request)
      throw inUse(key)
    }
    const stored = this.#stored.get(key)
    if (stored === undefined) return null
    if (now_ms - stored.record.first_used_at_ms >= retention_ms) {
      this.#stored.delete(key)
      return null
    }
    compare(stored.record, request)
    const { status, body } = stored.answer
    const headers = {
      "content-type": "application/json",
      "idempotency-key": key,
      "idempotent-replayed": "true",
      "original-request": stored.request_id,
      ...(status === 500 ? { "stripe-should-retry": "false" } : {}),
    }
    return { status, headers, body, replay_of: stored.request_id }
  }

  /** Takes the key for a request whose execution begins now. */
  claim(request: ProviderRequest, now_ms: number): ClaimedKey | null {
    const key = request.headers.get("idempotency-key")
    if (key === undefined) return null
    const record = { key, endpoint: endpoint(request), fingerprint: fingerprint(request), first_used_at_ms: now_ms }
    this.#running.set(key, record)
    return { record, release: () => this.#running.delete(key) }
  }
}

function endpoint(request: ProviderRequest): string {
  return `${request.method} ${request.path}`
}

function fingerprint(request: ProviderRequest): string {
  return createHash("sha256").update(canonicalForm(request.body)).digest("hex")
}

function compare(record: KeyRecord, request: ProviderRequest): void {
  if (record.endpoint !== endpoint(request)) throw mismatch(record.key, `endpoint they were first used for`)
  if (record.fingerprint !== fingerprint(request)) throw mismatch(record.key, "parameters they were first used with")
}

function mismatch(key: string, what: string): StripeError {
  const message =
    `Keys for idempotent requests can only be used with the same ${what}. ` +
    `Try using a key other than '${key}' if you meant to execute a different request.`
  return new StripeError(400, { type: "idempotency_error", message })
}

function inUse(key: string): StripeError {
  const message =
    `There is currently another in-progress request using this Idempotent Key (that probably means you submitted ` +
    `twice, and the other request is still going through): ${key}. Try again later.`
  return new StripeError(409, { type: "idempotency_error", code: "idempotency_key_in_use", message })
}
