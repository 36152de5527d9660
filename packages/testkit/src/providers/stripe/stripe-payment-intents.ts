/** PaymentIntents: created cheaply, confirmed into a charge, captured or cancelled. */
import type { Execution } from "../provider.ts"
import type { StripeAccount } from "./stripe-account.ts"
import { chargeFor, withCaptured, type Run } from "./stripe-charges.ts"
import { stripeErrorAnswer, stripeWords } from "./stripe-error.ts"
import type { Charge, PaymentIntent } from "./stripe-objects.ts"
import { unexpectedState, type StripeParams } from "./stripe-params.ts"
import type { StripeWriter } from "./stripe-writer.ts"

export const PAYMENT_INTENT_PARAMS = [
  "amount",
  "currency",
  "customer",
  "description",
  "metadata",
  "payment_method",
  "payment_method_types",
  "automatic_payment_methods",
  "capture_method",
  "confirm",
]
export const CONFIRM_PARAMS = ["payment_method", "return_url"]
export const CAPTURE_PARAMS = ["amount_to_capture"]
export const CANCEL_PARAMS = ["cancellation_reason"]

export function createPaymentIntent(account: StripeAccount, params: StripeParams): Run {
  const amount = params.requiredAmount("amount")
  const currency = params.currency()
  const customer = params.text("customer")
  const description = params.text("description")
  const metadata = params.metadata()
  const payment_method = params.text("payment_method")
  const capture_method = params.oneOf("capture_method", ["automatic", "manual"]) ?? "automatic"
  const confirm = params.flag("confirm", false)
  return (writer) => {
    const intent: PaymentIntent = {
      id: writer.ids.next("pi_"),
      object: "payment_intent",
      amount,
      amount_capturable: 0,
      amount_received: 0,
      canceled_at: null,
      cancellation_reason: null,
      capture_method,
      created: writer.created,
      currency,
      customer,
      description,
      last_payment_error: null,
      latest_charge: null,
      livemode: false,
      metadata,
      payment_method,
      status: payment_method === null ? "requires_payment_method" : "requires_confirmation",
    }
    writer.put(intent)
    writer.event("payment_intent.created", intent)
    writer.effect("payment_intent.created", intent)
    return confirm ? confirmed(account, intent, writer) : writer.answer(intent)
  }
}

export function confirmPaymentIntent(account: StripeAccount, id: string, params: StripeParams): Run {
  const payment_method = params.text("payment_method")
  account.payment_intent(id)
  return (writer) => {
    const intent = account.payment_intent(id)
    return confirmed(account, { ...intent, payment_method: payment_method ?? intent.payment_method }, writer)
  }
}

function confirmed(account: StripeAccount, intent: PaymentIntent, writer: StripeWriter): Execution {
  const confirmable = ["requires_payment_method", "requires_confirmation", "requires_action"].includes(intent.status)
  if (!confirmable) throw wrongStatus(intent, "confirm")
  if (intent.payment_method === null) {
    throw unexpectedState(
      "You cannot confirm this PaymentIntent because it's missing a payment method.",
      "payment_intent_unexpected_state",
    )
  }
  if (intent.payment_method === "pm_card_authenticationRequired" && intent.status !== "requires_action") {
    const waiting: PaymentIntent = { ...intent, status: "requires_action" }
    writer.put(waiting)
    writer.event("payment_intent.requires_action", waiting)
    return writer.answer(waiting)
  }
  const { amount, currency, customer, description, metadata } = intent
  const capture = intent.capture_method === "automatic"
  const source = intent.payment_method
  const order = { amount, currency, customer, description, metadata, capture, payment_intent: intent.id, source }
  const charge = chargeFor(account, order, writer)
  const next = withCharge(intent, charge)
  writer.put(next)
  writer.event(INTENT_EVENTS[next.status] ?? "payment_intent.processing", next)
  if (charge.status !== "failed") return writer.answer(next)
  return writer.execution(stripeErrorAnswer(402, { ...stripeWords(402), charge: charge.id, payment_intent: next }))
}

const INTENT_EVENTS: Partial<Record<PaymentIntent["status"], string>> = {
  requires_payment_method: "payment_intent.payment_failed",
  requires_capture: "payment_intent.amount_capturable_updated",
  succeeded: "payment_intent.succeeded",
  processing: "payment_intent.processing",
}

/** The intent as its charge leaves it; also used when a pending charge settles. */
export function withCharge(intent: PaymentIntent, charge: Charge): PaymentIntent {
  const next = { ...intent, latest_charge: charge.id }
  if (charge.status === "failed") {
    const { type, code = "card_declined", message } = stripeWords(402)
    return {
      ...next,
      status: "requires_payment_method",
      payment_method: null,
      last_payment_error: { type, code, message },
    }
  }
  if (charge.status === "pending") return { ...next, status: "processing" }
  if (!charge.captured) return { ...next, status: "requires_capture", amount_capturable: charge.amount }
  return { ...next, status: "succeeded", amount_received: charge.amount_captured, amount_capturable: 0 }
}

export function intentEvent(intent: PaymentIntent): string {
  return INTENT_EVENTS[intent.status] ?? "payment_intent.processing"
}

export function capturePaymentIntent(account: StripeAccount, id: string, params: StripeParams): Run {
  const asked = params.amount("amount_to_capture")
  account.payment_intent(id)
  return (writer) => {
    const intent = account.payment_intent(id)
    if (intent.status !== "requires_capture" || intent.latest_charge === null) throw wrongStatus(intent, "capture")
    const charge = withCaptured(account.charge(intent.latest_charge), asked)
    const next = withCharge(intent, charge)
    writer.put(charge)
    writer.put(next)
    writer.event("charge.captured", charge)
    writer.event(intentEvent(next), next)
    writer.effect("payment_intent.captured", next)
    return writer.answer(next)
  }
}

export function cancelPaymentIntent(account: StripeAccount, id: string, params: StripeParams): Run {
  const reason = params.text("cancellation_reason")
  account.payment_intent(id)
  return (writer) => {
    const intent = account.payment_intent(id)
    if (["succeeded", "canceled", "processing"].includes(intent.status)) throw wrongStatus(intent, "cancel")
    const next: PaymentIntent = {
      ...intent,
      status: "canceled",
      amount_capturable: 0,
      canceled_at: writer.created,
      cancellation_reason: reason,
    }
    writer.put(next)
    writer.event("payment_intent.canceled", next)
    writer.effect("payment_intent.canceled", next)
    return writer.answer(next)
  }
}

function wrongStatus(intent: PaymentIntent, act: string): Error {
  return unexpectedState(
    `You cannot ${act} this PaymentIntent because it has a status of ${intent.status}.`,
    "payment_intent_unexpected_state",
  )
}
