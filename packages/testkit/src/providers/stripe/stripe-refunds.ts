/** Refunds, capped by what the charge still holds. */
import type { StripeAccount } from "./stripe-account.ts"
import type { Run } from "./stripe-charges.ts"
import { invalid } from "./stripe-error.ts"
import type { Charge, Refund } from "./stripe-objects.ts"
import { unexpectedState, type StripeParams } from "./stripe-params.ts"

export const REFUND_PARAMS = ["charge", "payment_intent", "amount", "reason", "metadata"]

export function createRefund(account: StripeAccount, params: StripeParams): Run {
  const charge_id = chargeToRefund(account, params)
  const asked = params.amount("amount")
  const reason = params.oneOf("reason", ["duplicate", "fraudulent", "requested_by_customer"])
  const metadata = params.metadata()
  return (writer) => {
    const charge = account.charge(charge_id)
    const amount = refundable(charge, asked)
    const pending = account.settings().refunds_settle_after_ms > 0
    const refund: Refund = {
      id: writer.ids.next("re_"),
      object: "refund",
      amount,
      charge: charge.id,
      created: writer.created,
      currency: charge.currency,
      livemode: false,
      metadata,
      payment_intent: charge.payment_intent,
      reason,
      status: pending ? "pending" : "succeeded",
    }
    const refunded = withRefunded(charge, amount)
    writer.put(refund)
    writer.put(refunded)
    writer.event("refund.created", refund)
    writer.event("charge.refunded", refunded)
    writer.effect("refund.created", refund)
    return writer.answer(refund)
  }
}

/** The charge after a refund of that amount, or, with a negative one, after a refund that failed. */
export function withRefunded(charge: Charge, amount: number): Charge {
  const amount_refunded = charge.amount_refunded + amount
  return { ...charge, amount_refunded, refunded: amount_refunded >= charge.amount }
}

function chargeToRefund(account: StripeAccount, params: StripeParams): string {
  const charge = params.text("charge")
  if (charge !== null) return account.charge(charge, "charge").id
  const intent = params.text("payment_intent")
  if (intent === null)
    throw invalid("One of the following params should be provided: payment_intent or charge.", "charge")
  const latest = account.payment_intent(intent, "payment_intent").latest_charge
  if (latest === null)
    throw invalid(`PaymentIntent ${intent} does not have a successful charge to refund.`, "payment_intent")
  return latest
}

function refundable(charge: Charge, asked: number | null): number {
  const left = charge.amount - charge.amount_refunded
  if (charge.status === "failed") throw unexpectedState(`Charge ${charge.id} has failed.`, "charge_not_refundable")
  if (left <= 0) throw unexpectedState(`Charge ${charge.id} has already been refunded.`, "charge_already_refunded")
  const amount = asked ?? left
  if (amount > left) {
    throw invalid(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`, "amount")
  }
  return amount
}
