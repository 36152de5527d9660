/** The objects of the Stripe-shaped provider, with the fields of the real ones that a connector reads. */

export type Metadata = Readonly<Record<string, string>>

interface StripeObject {
  readonly id: string
  /** Unix time in whole seconds. */
  readonly created: number
  readonly livemode: false
}

export interface Charge extends StripeObject {
  readonly object: "charge"
  readonly amount: number
  readonly amount_captured: number
  readonly amount_refunded: number
  readonly captured: boolean
  readonly currency: string
  readonly customer: string | null
  readonly description: string | null
  readonly failure_code: string | null
  readonly failure_message: string | null
  readonly metadata: Metadata
  readonly paid: boolean
  readonly payment_intent: string | null
  readonly refunded: boolean
  readonly status: "succeeded" | "pending" | "failed"
}

export interface Refund extends StripeObject {
  readonly object: "refund"
  readonly amount: number
  readonly charge: string
  readonly currency: string
  readonly failure_reason?: string
  readonly metadata: Metadata
  readonly payment_intent: string | null
  readonly reason: string | null
  readonly status: "succeeded" | "pending" | "failed"
}

export interface PaymentIntent extends StripeObject {
  readonly object: "payment_intent"
  readonly amount: number
  readonly amount_capturable: number
  readonly amount_received: number
  readonly canceled_at: number | null
  readonly cancellation_reason: string | null
  readonly capture_method: "automatic" | "manual"
  readonly currency: string
  readonly customer: string | null
  readonly description: string | null
  readonly last_payment_error: { readonly type: string; readonly code: string; readonly message: string } | null
  readonly latest_charge: string | null
  readonly metadata: Metadata
  readonly payment_method: string | null
  readonly status:
    | "requires_payment_method"
    | "requires_confirmation"
    | "requires_action"
    | "processing"
    | "requires_capture"
    | "succeeded"
    | "canceled"
}

export interface StripeEvent extends StripeObject {
  readonly object: "event"
  readonly type: string
  readonly data: { readonly object: unknown }
  /** Null for what the provider did by itself. */
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null }
}

export function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
