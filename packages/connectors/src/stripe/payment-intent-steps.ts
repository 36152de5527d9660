/**
 * `stripe.confirm_payment_intent`, `stripe.capture_payment_intent`, `stripe.cancel_payment_intent`: steps of a state machine
 * that Stripe keeps, so its state answers whether a step was made.
 *
 * PS1. A step goes one way: what it has made true stays true, so each step is a resource of its own.
 * PS2. `processing` and `requires_action` are accepted, not settled, and no look at them is a negative.
 * PS3. A payment intent cannot be deleted: one that is not there cannot have been confirmed, captured or cancelled.
 */
import { absent, defineTool, found, notApplied, outcome, unsure, type ProbeWord } from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import { z } from "zod"
import { paymentIntentState, paymentIntentVersion, type PaymentIntentState } from "./payment-intent-state.ts"
import type { StripeParams } from "./stripe-api.ts"
import { toolOptions, type EffectContext, type StripeConnection } from "./stripe-connection.ts"
import { eventsOfKeys, retrieve, type StripeLook } from "./stripe-lists.ts"
import { isRecord, type StripeObject } from "./stripe-object.ts"
import { minorAmount, stripeId } from "./stripe-params.ts"
import { codeOf, readAnswer, wordOf } from "./stripe-reading.ts"

interface Step {
  readonly verb: "confirm" | "capture" | "cancel"
  /** The field of the state that the step makes true. */
  readonly makes: "confirmed" | "captured" | "canceled"
  /** Statuses in which Stripe or the customer is still at work. */
  readonly under_way: readonly string[]
  /** The event that tells of a decline caused by our own request. */
  readonly declines?: string
}

const CONFIRM: Step = {
  verb: "confirm",
  makes: "confirmed",
  under_way: ["processing", "requires_action"],
  declines: "payment_intent.payment_failed",
}
const CAPTURE: Step = { verb: "capture", makes: "captured", under_way: ["processing"] }
const CANCEL: Step = { verb: "cancel", makes: "canceled", under_way: [] }

export function confirmPaymentIntentTool(stripe: StripeConnection) {
  return defineTool({
    name: "stripe.confirm_payment_intent",
    description: "Makes the payment that a payment intent prepared, once.",
    safety: "write-once-checkable",
    ...toolOptions(stripe, { correlates: "state", path: pathOf(CONFIRM, ":id") }),
    input: z.object({
      payment_intent_id: stripeId,
      payment_method: stripeId.optional(),
      return_url: z.url().optional(),
    }),
    intent: (p) => ({ payment_intent: id(p.payment_intent_id) }),
    resource: (p) => resourceOf(CONFIRM, p.payment_intent_id),
    execute: ({ params: { payment_intent_id, payment_method, return_url }, ...call }) =>
      step(stripe, CONFIRM, payment_intent_id, { payment_method, return_url }, call),
    probe: ({ params, ...look }) => lookAtIntent(stripe, CONFIRM, params.payment_intent_id, look),
    expect: (p) => ({ match: { id: id(p.payment_intent_id) }, effect: { confirmed: true } }),
  })
}

export function capturePaymentIntentTool(stripe: StripeConnection) {
  return defineTool({
    name: "stripe.capture_payment_intent",
    description:
      "Captures an authorised payment intent once: wholly, or the given amount of its smallest currency unit.",
    safety: "write-once-checkable",
    ...toolOptions(stripe, { correlates: "state", path: pathOf(CAPTURE, ":id") }),
    input: z.object({ payment_intent_id: stripeId, amount_to_capture: minorAmount.optional() }),
    intent: (p) => ({ payment_intent: id(p.payment_intent_id) }),
    resource: (p) => resourceOf(CAPTURE, p.payment_intent_id),
    execute: ({ params: { payment_intent_id, amount_to_capture }, ...call }) =>
      step(stripe, CAPTURE, payment_intent_id, { amount_to_capture }, call),
    probe: ({ params, ...look }) => lookAtIntent(stripe, CAPTURE, params.payment_intent_id, look),
    expect: (p) => ({
      match: { id: id(p.payment_intent_id) },
      effect: { captured: true },
      ...(p.amount_to_capture === undefined ? {} : { invariant: { amount_received: p.amount_to_capture } }),
    }),
  })
}

export function cancelPaymentIntentTool(stripe: StripeConnection) {
  return defineTool({
    name: "stripe.cancel_payment_intent",
    description: "Cancels a payment intent that is not paid; an authorised amount is released.",
    safety: "write-once-checkable",
    ...toolOptions(stripe, { correlates: "state", path: pathOf(CANCEL, ":id") }),
    input: z.object({
      payment_intent_id: stripeId,
      reason: z.enum(["duplicate", "fraudulent", "requested_by_customer", "abandoned"]).optional(),
    }),
    intent: (p) => ({ payment_intent: id(p.payment_intent_id) }),
    resource: (p) => resourceOf(CANCEL, p.payment_intent_id),
    execute: ({ params: { payment_intent_id, reason }, ...call }) =>
      step(stripe, CANCEL, payment_intent_id, { cancellation_reason: reason }, call),
    probe: ({ params, ...look }) => lookAtIntent(stripe, CANCEL, params.payment_intent_id, look),
    expect: (p) => ({ match: { id: id(p.payment_intent_id) }, effect: { canceled: true } }),
  })
}

function pathOf({ verb }: Step, intent_id: string): string {
  return `/v1/payment_intents/${intent_id}/${verb}`
}

function resourceOf({ verb }: Step, intent_id: string): string {
  return `stripe:payment_intent:${intent_id}:${verb}`
}

async function step(
  { api, account }: StripeConnection,
  made: Step,
  intent_id: string,
  form: StripeParams,
  call: EffectContext,
) {
  const answer = await api.post(pathOf(made, encodeURIComponent(intent_id)), form, call)
  return wordOf<PaymentIntentState>(readAnswer(answer, "payment_intent"), (object) => {
    const state = paymentIntentState(object)
    if (state[made.makes]) return outcome.applied(state, { object: foundIntent(made, object, account) })
    if (made.under_way.includes(state.status ?? "")) return outcome.accepted(object.id)
    const error = isRecord(object["last_payment_error"]) ? object["last_payment_error"] : {}
    throw outcome.rejected({
      code: codeOf(error, "code") ?? `not_${made.makes}`,
      message: `Stripe answered, and the payment intent is not ${made.makes}`,
    })
  })
}

async function lookAtIntent(
  { api, account }: StripeConnection,
  made: Step,
  intent_id: string,
  look: StripeLook,
): Promise<ProbeWord> {
  const path = `/v1/payment_intents/${encodeURIComponent(intent_id)}`
  const intent = await retrieve(api, look, path, "payment_intent")
  const sent = look.firstDispatchedAt !== null
  if (intent === null) {
    return sent ? notApplied("there is no such payment intent", { permanent: true }) : absent({ complete: true })
  }
  const state = paymentIntentState(intent)
  if (sent && !state[made.makes]) {
    if (made.under_way.includes(state.status ?? "")) return unsure(`the payment intent is ${state.status ?? ""}`)
    if (await declinedByUs(api, look, made, intent.id))
      return notApplied("the payment was declined", { permanent: true })
  }
  return found(foundIntent(made, intent, account))
}

/** The decline is stored under our key: no other copy of the request can be paid. */
async function declinedByUs(
  api: StripeConnection["api"],
  look: StripeLook,
  { declines }: Step,
  intent_id: string,
): Promise<boolean> {
  if (declines === undefined) return false
  const events = await eventsOfKeys(api, look, [declines])
  return events.some((event) => event.object_id === intent_id)
}

/** One object, three effects: the kind keeps each step's confirmation apart from the others'. */
function foundIntent({ verb, makes }: Step, intent: StripeObject, account: string | undefined) {
  const state = paymentIntentState(intent)
  return {
    id: intent.id,
    kind: `payment_intent.${verb}`,
    version: paymentIntentVersion(intent),
    state,
    ...(account === undefined ? {} : { account }),
    ...(state[makes] ? { final: true } : {}),
  }
}
