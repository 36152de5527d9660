/** What time alone does to an account: pending charges and refunds become what the settings say. */
import type { StripeAccount } from "./stripe-account.ts"
import { intentEvent, withCharge } from "./stripe-payment-intents.ts"
import { withRefunded } from "./stripe-refunds.ts"
import type { Charge } from "./stripe-objects.ts"
import type { StripeWriter } from "./stripe-writer.ts"

export function settleDue(account: StripeAccount, writer: StripeWriter): void {
  const settings = account.settings()
  for (const charge of account.charges.all()) {
    if (charge.status !== "pending") continue
    if (writer.now_ms < charge.created * 1000 + settings.charges_settle_after_ms) continue
    settleCharge(account, charge, settings.charges_settle_as, writer)
  }
  for (const refund of account.refunds.all()) {
    if (refund.status !== "pending") continue
    if (writer.now_ms < refund.created * 1000 + settings.refunds_settle_after_ms) continue
    const failed = settings.refunds_settle_as === "failed"
    const settled = failed
      ? ({ ...refund, status: "failed", failure_reason: "lost_or_stolen_card" } as const)
      : ({ ...refund, status: "succeeded" } as const)
    writer.put(settled)
    writer.event(failed ? "refund.failed" : "refund.updated", settled)
    // The money of a refund that failed is back with the charge, and may be refunded again.
    if (failed) writer.put(withRefunded(account.charge(refund.charge), -refund.amount))
  }
}

function settleCharge(
  account: StripeAccount,
  charge: Charge,
  status: "succeeded" | "failed",
  writer: StripeWriter,
): void {
  const failed = status === "failed"
  const settled: Charge = {
    ...charge,
    status,
    paid: !failed,
    captured: charge.captured && !failed,
    amount_captured: failed ? 0 : charge.amount_captured,
    failure_code: failed ? "card_declined" : null,
    failure_message: failed ? "Your card was declined." : null,
  }
  writer.put(settled)
  writer.event(`charge.${status}`, settled)
  const intent = charge.payment_intent === null ? null : account.payment_intents.get(charge.payment_intent)
  if (intent === null || intent.status !== "processing") return
  const next = withCharge(intent, settled)
  writer.put(next)
  writer.event(intentEvent(next), next)
}
