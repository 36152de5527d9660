/**
 * `stripe.refund_payment`: gives back a payment, or a part of it, once.
 *
 * RF1. `pending` and `requires_action` are accepted, not settled: the bank has the last word.
 * RF2. Stripe caps the sum of refunds at the payment, so a full refund cannot happen twice; a partial one can.
 * RF3. A second refund of one payment within the repeat window is asked about, whatever its amount: a model that corrects
 *      itself writes another amount for the same thing.
 */
import { absent, defineTool, found, outcome, type FoundObject, type ProbeWord } from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import { z } from "zod"
import { foundObject, ownObjects, type OwnObject } from "./own-objects.ts"
import { toolOptions, type EffectContext, type StripeConnection } from "./stripe-connection.ts"
import { correlation, type StripeLook } from "./stripe-lists.ts"
import { moneyOf, numberOf, referenceOf, textOf, type StripeMoney, type StripeObject } from "./stripe-object.ts"
import { metadata, minorAmount, stripeId } from "./stripe-params.ts"
import { codeOf, readAnswer, wordOf } from "./stripe-reading.ts"

export interface RefundState {
  readonly id: string
  readonly status: string | null
  readonly refunded: boolean
  readonly charge: string | null
  readonly payment_intent: string | null
  readonly amount: StripeMoney | null
  /** The amount alone: a refund is in the currency of its payment, which the call need not know. */
  readonly minor_units: number | null
}

interface RefundParams {
  readonly charge_id?: string | undefined
  readonly payment_intent_id?: string | undefined
  readonly amount?: number | undefined
  readonly reason?: "duplicate" | "fraudulent" | "requested_by_customer" | undefined
  readonly metadata?: Record<string, string> | undefined
}

const PATH = "/v1/refunds"
const REFUND_EVENTS = ["refund.created", "refund.updated", "refund.failed"]

export function refundPaymentTool(stripe: StripeConnection) {
  return defineTool({
    name: "stripe.refund_payment",
    description:
      "Refunds a charge or a payment intent once: wholly, or the given amount of its smallest currency unit.",
    safety: "write-once-checkable",
    ...toolOptions(stripe, { correlates: "operation", path: PATH }),
    input: z
      .object({
        charge_id: stripeId.optional(),
        payment_intent_id: stripeId.optional(),
        amount: minorAmount.optional(),
        reason: z.enum(["duplicate", "fraudulent", "requested_by_customer"]).optional(),
        metadata,
      })
      .refine((p) => (p.charge_id === undefined) !== (p.payment_intent_id === undefined), {
        message: "needs charge_id or payment_intent_id, and only one of them",
      }),
    intent: (p) => ({ payment: id(paymentOf(p)) }),
    execute: ({ params, ...call }) => refund(stripe, params, call),
    probe: ({ params, ...look }) => lookForRefund(stripe, params, look),
    expect: (p) => ({
      match: p.charge_id === undefined ? { payment_intent: id(paymentOf(p)) } : { charge: id(p.charge_id) },
      effect: { refunded: true },
      ...(p.amount === undefined ? {} : { invariant: { minor_units: p.amount } }),
    }),
  })
}

async function refund({ api, account }: StripeConnection, params: RefundParams, call: EffectContext) {
  const { amount, reason, metadata: pairs } = params
  const form = { ...paymentFilter(params), amount, reason, metadata: { ...pairs, ...correlation(call) } }
  const answer = await api.post(PATH, form, call)
  return wordOf(readAnswer(answer, "refund"), (object) => {
    switch (textOf(object, "status")) {
      case "succeeded":
        return outcome.applied(refundState(object), { object: foundRefund({ object, key: null }, account) })
      case "failed":
      case "canceled":
        throw outcome.rejected({
          code: codeOf(object, "failure_reason") ?? "refund_failed",
          message: "the refund failed",
        })
      default:
        return outcome.accepted(object.id)
    }
  })
}

async function lookForRefund(stripe: StripeConnection, params: RefundParams, look: StripeLook): Promise<ProbeWord> {
  const filter = paymentFilter(params)
  const query = { path: PATH, kind: "refund", filter, events: REFUND_EVENTS, enough: () => true }
  const { own, complete } = await ownObjects(stripe.api, look, query)
  if (own.length === 0) return absent({ complete })
  return found(
    own.map((one) => foundRefund(one, stripe.account)),
    { complete },
  )
}

function paymentFilter({ charge_id, payment_intent_id }: RefundParams) {
  return { charge: charge_id, payment_intent: payment_intent_id }
}

function paymentOf({ charge_id, payment_intent_id }: RefundParams): string {
  return charge_id ?? payment_intent_id ?? ""
}

/** `succeeded` is not called final: a bank can return the money weeks later, and the refund is `failed` then. */
function foundRefund(own: OwnObject, account: string | undefined): FoundObject {
  const state = refundState(own.object)
  const final = state.status === "failed" || state.status === "canceled"
  return foundObject(own, { kind: "refund", account, final, state })
}

function refundState(refunded: StripeObject): RefundState {
  const status = textOf(refunded, "status")
  return {
    id: refunded.id,
    status,
    refunded: status === "succeeded",
    charge: referenceOf(refunded, "charge"),
    payment_intent: referenceOf(refunded, "payment_intent"),
    amount: moneyOf(refunded),
    minor_units: numberOf(refunded, "amount"),
  }
}
