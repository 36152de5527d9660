/**
 * `stripe.create_payment_intent`: the first of two operations of a payment. It moves no money.
 *
 * CP1. It never confirms. Creating and confirming in one request would be two effects behind one answer.
 * CP2. Without a browser to send the customer to, methods that redirect are left out unless they are asked for.
 */
import { absent, defineTool, found, outcome, type FoundObject, type ProbeWord } from "@invokejs/engine"
import { id, minor } from "@invokejs/protocol"
import { z } from "zod"
import { foundObject, ownObjects, type OwnObject } from "./own-objects.ts"
import { paymentIntentState } from "./payment-intent-state.ts"
import { toolOptions, type EffectContext, type StripeConnection } from "./stripe-connection.ts"
import { correlation, type StripeLook } from "./stripe-lists.ts"
import { currencyCode, metadata, minorAmount, stripeId } from "./stripe-params.ts"
import { readAnswer, wordOf } from "./stripe-reading.ts"

interface CreateParams {
  readonly customer_id: string
  readonly amount: number
  readonly currency: string
  readonly payment_method?: string | undefined
  readonly payment_method_types?: string[] | undefined
  readonly capture_method?: "automatic" | "manual" | undefined
  readonly description?: string | undefined
  readonly metadata?: Record<string, string> | undefined
}

const PATH = "/v1/payment_intents"

export function createPaymentIntentTool(stripe: StripeConnection) {
  return defineTool({
    name: "stripe.create_payment_intent",
    description:
      "Prepares a payment of a customer; stripe.confirm_payment_intent makes it. Amounts are in the smallest unit.",
    safety: "write-once-checkable",
    ...toolOptions(stripe, { correlates: "operation", path: PATH }),
    input: z.object({
      customer_id: stripeId,
      amount: minorAmount,
      currency: currencyCode(stripe.currency),
      payment_method: stripeId.optional(),
      payment_method_types: z.array(z.string().min(1)).min(1).optional(),
      capture_method: z.enum(["automatic", "manual"]).optional(),
      description: z.string().max(1_000).optional(),
      metadata,
    }),
    intent: (p) => ({ customer: id(p.customer_id), amount: minor(p.amount, p.currency) }),
    execute: ({ params, ...call }) => create(stripe, params, call),
    probe: ({ params, ...look }) => lookForIntent(stripe, params, look),
    expect: (p) => ({
      match: { customer: id(p.customer_id) },
      effect: { created: true },
      invariant: { amount: minor(p.amount, p.currency) },
    }),
  })
}

async function create({ api, account }: StripeConnection, params: CreateParams, call: EffectContext) {
  const { customer_id, amount, currency, payment_method, payment_method_types, capture_method, description } = params
  const form = {
    amount,
    currency,
    customer: customer_id,
    payment_method,
    ...(payment_method_types === undefined
      ? { automatic_payment_methods: { enabled: true, allow_redirects: "never" } }
      : { payment_method_types }),
    capture_method,
    description,
    metadata: { ...params.metadata, ...correlation(call) },
  }
  const answer = await api.post(PATH, form, call)
  return wordOf(readAnswer(answer, "payment_intent"), (object) =>
    outcome.applied(paymentIntentState(object), { object: foundIntent({ object, key: null }, account) }),
  )
}

async function lookForIntent(stripe: StripeConnection, params: CreateParams, look: StripeLook): Promise<ProbeWord> {
  const { own, complete } = await ownObjects(stripe.api, look, {
    path: PATH,
    kind: "payment_intent",
    filter: { customer: params.customer_id },
    events: ["payment_intent.created"],
    enough: () => true,
  })
  if (own.length === 0) return absent({ complete })
  return found(
    own.map((one) => foundIntent(one, stripe.account)),
    { complete },
  )
}

function foundIntent(own: OwnObject, account: string | undefined): FoundObject {
  return foundObject(own, { kind: "payment_intent", account, final: true, state: paymentIntentState(own.object) })
}
