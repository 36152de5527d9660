/** Charges: creating, declining, capturing. */
import type { Execution } from "../provider.ts"
import type { StripeAccount } from "./stripe-account.ts"
import { invalid, stripeErrorAnswer, stripeWords } from "./stripe-error.ts"
import type { Charge, Metadata } from "./stripe-objects.ts"
import { unexpectedState, type StripeParams } from "./stripe-params.ts"
import type { StripeWriter } from "./stripe-writer.ts"

export type Run = (writer: StripeWriter) => Execution

export const CHARGE_PARAMS = ["amount", "currency", "customer", "source", "description", "metadata", "capture"]

/** What a charge is asked for, by the charges endpoint or by a payment intent. */
export interface ChargeOrder {
  readonly amount: number
  readonly currency: string
  readonly customer: string | null
  readonly description: string | null
  readonly metadata: Metadata
  readonly capture: boolean
  readonly payment_intent: string | null
  /** The token or payment method that pays; those named for a decline are declined. */
  readonly source: string | null
}

export function createCharge(account: StripeAccount, params: StripeParams): Run {
  const order: ChargeOrder = {
    amount: params.requiredAmount("amount"),
    currency: params.currency(),
    customer: params.text("customer"),
    description: params.text("description"),
    metadata: params.metadata(),
    capture: params.flag("capture", true),
    payment_intent: null,
    source: params.text("source"),
  }
  if (order.customer === null && order.source === null) throw invalid("Must provide source or customer.", "source")
  return (writer) => {
    const charge = chargeFor(account, order, writer)
    if (charge.status !== "failed") return writer.answer(charge)
    return writer.execution(stripeErrorAnswer(402, { ...stripeWords(402), charge: charge.id }))
  }
}

/** Makes the charge; a declined one is an object of status `failed` and no effect. */
export function chargeFor(account: StripeAccount, order: ChargeOrder, writer: StripeWriter): Charge {
  const declined = isDeclined(order.source)
  const { surcharge, charges_settle_after_ms } = account.settings()
  const pending = !declined && charges_settle_after_ms > 0
  const amount = order.amount + surcharge
  const charge: Charge = {
    id: writer.ids.next("ch_"),
    object: "charge",
    amount,
    amount_captured: order.capture && !declined ? amount : 0,
    amount_refunded: 0,
    captured: order.capture && !declined,
    created: writer.created,
    currency: order.currency,
    customer: order.customer,
    description: order.description,
    failure_code: declined ? "card_declined" : null,
    failure_message: declined ? "Your card was declined." : null,
    livemode: false,
    metadata: order.metadata,
    paid: !declined && !pending,
    payment_intent: order.payment_intent,
    refunded: false,
    status: declined ? "failed" : pending ? "pending" : "succeeded",
  }
  writer.put(charge)
  writer.event(`charge.${charge.status}`, charge)
  if (!declined) writer.effect("charge.created", charge)
  return charge
}

export function captureCharge(account: StripeAccount, id: string, params: StripeParams): Run {
  const asked = params.amount("amount")
  account.charge(id)
  return (writer) => {
    const charge = account.charge(id)
    if (charge.captured) throw unexpectedState(`Charge ${id} has already been captured.`, "charge_already_captured")
    const captured = withCaptured(charge, asked)
    writer.put(captured)
    writer.event("charge.captured", captured)
    writer.effect("charge.captured", captured)
    return writer.answer(captured)
  }
}

/** The charge with so much of it captured; the rest is released. */
export function withCaptured(charge: Charge, asked: number | null): Charge {
  const amount = asked ?? charge.amount
  if (amount > charge.amount) throw invalid("Capture amount is greater than the authorized amount", "amount")
  return { ...charge, captured: true, amount_captured: amount, amount_refunded: charge.amount - amount }
}

function isDeclined(source: string | null): boolean {
  return (
    source !== null && (source.startsWith("tok_chargeDeclined") || source.startsWith("pm_card_visa_chargeDeclined"))
  )
}
