/** A payment intent as the tools see it, and what of it tells whether a step of its state machine was executed. */
import { moneyOf, numberOf, referenceOf, textOf, type StripeMoney, type StripeObject } from "./stripe-object.ts"

export interface PaymentIntentState {
  readonly id: string
  readonly status: string | null
  readonly created: true
  /** The payment is made, or authorised where it is captured by hand. */
  readonly confirmed: boolean
  readonly captured: boolean
  readonly canceled: boolean
  readonly customer: string | null
  readonly amount: StripeMoney | null
  readonly amount_received: number | null
  readonly latest_charge: string | null
}

export function paymentIntentState(intent: StripeObject): PaymentIntentState {
  const status = textOf(intent, "status")
  return {
    id: intent.id,
    status,
    created: true,
    confirmed: status === "succeeded" || status === "requires_capture",
    captured: status === "succeeded",
    canceled: status === "canceled",
    customer: referenceOf(intent, "customer"),
    amount: moneyOf(intent),
    amount_received: numberOf(intent, "amount_received"),
    latest_charge: referenceOf(intent, "latest_charge"),
  }
}

/**
 * Stripe gives payment intents no version. Every executed confirm, capture or cancel changes at least one of these fields: the
 * status moves on, or a declined confirm leaves another charge and another error behind.
 */
export function paymentIntentVersion(intent: StripeObject): string {
  const error = intent["last_payment_error"]
  return JSON.stringify([
    textOf(intent, "status"),
    referenceOf(intent, "latest_charge"),
    referenceOf(intent, "payment_method"),
    numberOf(intent, "amount_received"),
    numberOf(intent, "amount_capturable"),
    numberOf(intent, "canceled_at"),
    typeof error === "object" && error !== null ? referenceOf({ ...error }, "charge") : null,
  ])
}
