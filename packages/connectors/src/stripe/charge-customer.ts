/**
 * `stripe.charge_customer`: charges a customer once.
 *
 * CC1. `pending` is accepted, not settled: bank debits succeed or fail days later.
 * CC2. A charge that failed under our own key is a decline, and proves that nothing was charged. One that failed later is not.
 */
import { absent, defineTool, found, notApplied, outcome, type FoundObject, type ProbeWord } from "@invokejs/engine"
import { id, minor } from "@invokejs/protocol"
import { z } from "zod"
import { foundObject, ownObjects, type OwnObject } from "./own-objects.ts"
import { toolOptions, type EffectContext, type StripeConnection } from "./stripe-connection.ts"
import { correlation, type StripeLook } from "./stripe-lists.ts"
import { moneyOf, referenceOf, textOf, type StripeMoney, type StripeObject } from "./stripe-object.ts"
import { currencyCode, metadata, minorAmount, stripeId } from "./stripe-params.ts"
import { codeOf, readAnswer, wordOf } from "./stripe-reading.ts"

export interface ChargeState {
  readonly id: string
  readonly status: string | null
  /** The money was taken. */
  readonly charged: boolean
  readonly customer: string | null
  readonly amount: StripeMoney | null
}

interface ChargeParams {
  readonly customer_id: string
  readonly amount: number
  readonly currency: string
  readonly source?: string | undefined
  readonly description?: string | undefined
  readonly metadata?: Record<string, string> | undefined
}

const PATH = "/v1/charges"
const CHARGE_EVENTS = ["charge.succeeded", "charge.pending", "charge.failed"]

export function chargeCustomerTool(stripe: StripeConnection) {
  return defineTool({
    name: "stripe.charge_customer",
    description: "Charges a customer of the Stripe account once. The amount is in the currency's smallest unit.",
    safety: "write-once-checkable",
    ...toolOptions(stripe, { correlates: "operation", path: PATH }),
    input: z.object({
      customer_id: stripeId,
      amount: minorAmount,
      currency: currencyCode(stripe.currency),
      source: stripeId.optional(),
      description: z.string().max(1_000).optional(),
      metadata,
    }),
    intent: (p) => ({ customer: id(p.customer_id), amount: minor(p.amount, p.currency) }),
    execute: ({ params, ...call }) => charge(stripe, params, call),
    probe: ({ params, ...look }) => lookForCharge(stripe, params, look),
    expect: (p) => ({
      match: { customer: id(p.customer_id) },
      effect: { charged: true },
      invariant: { amount: minor(p.amount, p.currency) },
    }),
  })
}

async function charge({ api, account }: StripeConnection, params: ChargeParams, call: EffectContext) {
  const { customer_id, amount, currency, source, description, metadata: pairs } = params
  const form = {
    amount,
    currency,
    customer: customer_id,
    source,
    description,
    metadata: { ...pairs, ...correlation(call) },
  }
  const answer = await api.post(PATH, form, call)
  return wordOf(readAnswer(answer, "charge"), (object) => {
    switch (textOf(object, "status")) {
      case "succeeded":
        return outcome.applied(chargeState(object), { object: foundCharge({ object, key: null }, account) })
      case "failed":
        throw outcome.rejected({
          code: codeOf(object, "failure_code") ?? "charge_failed",
          message: "the charge failed",
        })
      default:
        return outcome.accepted(object.id)
    }
  })
}

async function lookForCharge(stripe: StripeConnection, params: ChargeParams, look: StripeLook): Promise<ProbeWord> {
  const { own, complete, events } = await ownObjects(stripe.api, look, {
    path: PATH,
    kind: "charge",
    filter: { customer: params.customer_id },
    events: CHARGE_EVENTS,
    enough: (object) => !hasFailed(object),
  })
  if (own.length === 0) return absent({ complete })
  const declined = events.filter((event) => event.type === "charge.failed").map((event) => event.object_id)
  // CC2: the decline is stored under the key, so no other copy of the request can be charged either.
  if (own.every(({ object }) => hasFailed(object) && declined.includes(object.id))) {
    return notApplied("the payment was declined", { permanent: true })
  }
  return found(
    own.map((one) => foundCharge(one, stripe.account)),
    { complete },
  )
}

function foundCharge(own: OwnObject, account: string | undefined): FoundObject {
  const state = chargeState(own.object)
  const final = state.status === "succeeded" || state.status === "failed"
  return foundObject(own, { kind: "charge", account, final, state })
}

function chargeState(charge: StripeObject): ChargeState {
  const status = textOf(charge, "status")
  return {
    id: charge.id,
    status,
    charged: status === "succeeded" && charge["paid"] === true,
    customer: referenceOf(charge, "customer"),
    amount: moneyOf(charge),
  }
}

function hasFailed(charge: StripeObject): boolean {
  return textOf(charge, "status") === "failed"
}
