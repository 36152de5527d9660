/** The error answers of the Stripe-shaped provider. Thrown while planning: not stored. Thrown while running: stored. */
import { jsonAnswer, type ProviderAnswer } from "../provider.ts"

export interface StripeErrorFields {
  readonly type: "invalid_request_error" | "card_error" | "idempotency_error" | "api_error"
  readonly message: string
  readonly code?: string
  readonly param?: string
  readonly decline_code?: string
  readonly charge?: string
  readonly payment_intent?: unknown
}

export class StripeError extends Error {
  readonly status: number
  readonly fields: StripeErrorFields

  constructor(status: number, fields: StripeErrorFields) {
    super(fields.message)
    this.status = status
    this.fields = fields
  }

  answer(): ProviderAnswer {
    return stripeErrorAnswer(this.status, this.fields)
  }
}

export function invalid(message: string, param: string, code?: string): StripeError {
  const fields = { type: "invalid_request_error", message, param } as const
  return new StripeError(400, code === undefined ? fields : { ...fields, code })
}

export function missing(kind: string, id: string, param = "id"): StripeError {
  const message = `No such ${kind}: '${id}'`
  return new StripeError(404, { type: "invalid_request_error", code: "resource_missing", message, param })
}

export function stripeErrorAnswer(status: number, fields: StripeErrorFields): ProviderAnswer {
  // The client library retries a 409 of the key layer, and must not retry a 500 that would only be replayed to it.
  const retry: Record<string, string> =
    status === 409 ? { "stripe-should-retry": "true" } : status === 500 ? { "stripe-should-retry": "false" } : {}
  return jsonAnswer(status, { error: fields }, retry)
}

/** What Stripe says with a status when nothing more is known. */
export function stripeWords(status: number): StripeErrorFields {
  switch (status) {
    case 401:
      return { type: "invalid_request_error", message: "Invalid API Key provided" }
    case 402:
      return {
        type: "card_error",
        code: "card_declined",
        decline_code: "generic_decline",
        message: "Your card was declined.",
      }
    case 429:
      return {
        type: "invalid_request_error",
        code: "rate_limit",
        message: "Too many requests hit the API too quickly.",
      }
    default:
      return status >= 500
        ? { type: "api_error", message: "An unknown error occurred" }
        : { type: "invalid_request_error", message: `Request refused with ${status}` }
  }
}
