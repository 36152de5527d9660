// Hunts the second refund and the second payment, and a step of a payment that is taken for made because it was asked for:
// through the whole engine, counted at the provider.
import { STAND_IN_PROOF } from "@invokejs/connectors/stripe"
import type { Result } from "@invokejs/invoke"
import { expect, test } from "vitest"
import {
  charge,
  idOf,
  keysPosted,
  open,
  outside,
  toolsOn,
  until,
  type Outside,
  type StripeInvoke,
} from "./stripe-bench.ts"

const DONE = { status: "reconciled", final_outcome: "already_succeeded", retry: "blocked" }
const LOST = [{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }] as const

interface World extends Outside {
  readonly invoke: StripeInvoke
}

async function world(
  options: Parameters<typeof toolsOn>[1] = {},
  settings: Parameters<typeof outside>[0] = {},
): Promise<World> {
  const around = await outside(settings)
  return { ...around, invoke: await open(toolsOn(around, options)) }
}

async function charged(around: World): Promise<string> {
  await charge(around.invoke)
  return idOf((await around.provider.effects("charge.created"))[0])
}

function refund({ invoke }: World, params: object, key = "refund"): Promise<Result> {
  return invoke.call({ tool: "stripe.refund_payment", params, idempotencyKey: key })
}

/** The first of the two operations of a payment. */
async function prepared(around: World, more: object = {}): Promise<string> {
  const params = { customer_id: "cust_123", amount: 2400, payment_method: "pm_card_visa", ...more }
  const result = await around.invoke.call({ tool: "stripe.create_payment_intent", params, idempotencyKey: "pay" })
  expect(result.ok).toBe(true)
  return idOf((await around.provider.effects("payment_intent.created"))[0])
}

function step({ invoke }: World, verb: "confirm" | "capture" | "cancel", params: object, wait?: "1s"): Promise<Result> {
  const tool = `stripe.${verb}_payment_intent` as const
  return invoke.call({ tool, params, idempotencyKey: `pay:${verb}`, ...(wait === undefined ? {} : { wait }) })
}

test("a part of a payment is given back once, although the answer was lost [RC-1]", async () => {
  const around = await world()
  const charge_id = await charged(around)
  around.proxy.script(LOST)
  const result = await refund(around, { charge_id, amount: 400 })
  expect(result).toMatchObject({ ...DONE, output: { refunded: true, minor_units: 400, charge: charge_id } })
  expect(await around.provider.effects("refund.created")).toHaveLength(1)
  expect(await keysPosted(around)).toHaveLength(2)
})

test("a whole payment is given back once, although the request never arrived [RC-4]", async () => {
  const around = await world()
  const charge_id = await charged(around)
  around.proxy.script([{ match: { method: "POST" }, fault: { kind: "refuse", by: "rst" } }])
  expect(await refund(around, { charge_id })).toMatchObject({
    status: "succeeded",
    attempt: 2,
    output: { minor_units: 2400 },
  })
  expect(await around.provider.effects("refund.created")).toHaveLength(1)
})

test("another amount for the same payment is asked about, not given back as well [ID-8] [ID-11]", async () => {
  const around = await world()
  const charge_id = await charged(around)
  expect(await refund(around, { charge_id, amount: 500 }, "first")).toMatchObject({ status: "succeeded" })
  expect(await refund(around, { charge_id, amount: 450 }, "second")).toMatchObject({
    status: "refused",
    retry: "blocked",
  })
  expect(await around.provider.effects("refund.created")).toHaveLength(1)
})

test("a payment that is given back already is refused for good, and the refusal is believed after one look [ST-3]", async () => {
  const around = await world()
  const charge_id = await charged(around)
  const headers = { authorization: "Bearer sk_test_invoke", "content-type": "application/x-www-form-urlencoded" }
  await fetch(`${around.provider.url}/v1/refunds`, { method: "POST", headers, body: `charge=${charge_id}` })
  expect(await refund(around, { charge_id })).toMatchObject({
    status: "failed",
    reason: { code: "charge_already_refunded" },
  })
  expect(await around.provider.effects("refund.created")).toHaveLength(1)
})

test("a refund that waits for the bank is accepted, and done when the bank says so [ST-6]", async () => {
  const around = await world({}, { refunds_settle_after_ms: 3_600_000 })
  const charge_id = await charged(around)
  const params = { charge_id, amount: 400 }
  const first = await around.invoke.call({ tool: "stripe.refund_payment", params, idempotencyKey: "r", wait: "1s" })
  expect(first).toMatchObject({ status: "accepted", final_outcome: "pending" })
  await around.provider.control({ refunds_settle_after_ms: 1 })
  expect(await around.invoke.wait(first.operation_id)).toMatchObject({
    final_outcome: "already_succeeded",
    output: { refunded: true },
  })
})

test("a refund that the bank sends back is shown to a person, never repeated [ST-6] [RC-7]", async () => {
  const around = await world({}, { refunds_settle_after_ms: 3_600_000, refunds_settle_as: "failed" })
  const charge_id = await charged(around)
  const params = { charge_id, amount: 400 }
  const first = await around.invoke.call({ tool: "stripe.refund_payment", params, idempotencyKey: "r", wait: "1s" })
  await around.provider.control({ refunds_settle_after_ms: 1 })
  const result = await around.invoke.wait(first.operation_id)
  expect(result.ok).toBe(false)
  expect(result.retry).toBe("blocked")
  expect(await around.provider.effects("refund.created")).toHaveLength(1)
})

test("both steps of a payment lose their answers, and one payment is made [RC-1] [RC-2]", async () => {
  const around = await world()
  around.proxy.script(LOST)
  const payment_intent_id = await prepared(around)
  around.proxy.script(LOST)
  const confirmed = await step(around, "confirm", { payment_intent_id })
  expect(confirmed).toMatchObject({ ...DONE, cause: "state_holds", output: { confirmed: true, amount_received: 2400 } })
  expect(await around.provider.effects("payment_intent.created")).toHaveLength(1)
  expect(await around.provider.effects("charge.created")).toHaveLength(1)
  expect(await keysPosted(around)).toHaveLength(2)
})

test("one payment intent confirms each of its operations, for each is another effect of it [RC-12]", async () => {
  const around = await world()
  const payment_intent_id = await prepared(around, { capture_method: "manual" })
  const confirmed = await step(around, "confirm", { payment_intent_id })
  const captured = await step(around, "capture", { payment_intent_id })
  const objects = await Promise.all(
    [confirmed, captured].map(async ({ operation_id }) => (await around.invoke.operation(operation_id))?.object),
  )
  expect(objects).toMatchObject([
    { object_id: payment_intent_id, kind: "payment_intent.confirm" },
    { object_id: payment_intent_id, kind: "payment_intent.capture" },
  ])
})

test("a confirm that never arrived is refuted by the intent's own state, and made once more [RC-4] [item 3]", async () => {
  const around = await world()
  const payment_intent_id = await prepared(around)
  around.proxy.script([{ match: { method: "POST" }, fault: { kind: "refuse", by: "rst" } }])
  expect(await step(around, "confirm", { payment_intent_id })).toMatchObject({ status: "succeeded", attempt: 2 })
  expect(await around.provider.effects("charge.created")).toHaveLength(1)
})

test("a confirm that lands after its repeat is answered by the key [RP-2]", async () => {
  const around = await world({ proved: STAND_IN_PROOF, lookup: { maxExecution: "10m" } })
  const payment_intent_id = await prepared(around)
  around.proxy.script([{ match: { method: "POST" }, fault: { kind: "hold", client: "rst" } }])
  expect((await step(around, "confirm", { payment_intent_id })).ok).toBe(true)
  await around.proxy.release()
  expect(await around.provider.effects("charge.created")).toHaveLength(1)
})

test("a declined confirm whose answer was lost has failed, and the card is not tried again [ST-3]", async () => {
  const around = await world({ proved: STAND_IN_PROOF })
  const payment_intent_id = await prepared(around, { payment_method: "pm_card_visa_chargeDeclined" })
  around.proxy.script(LOST)
  expect(await step(around, "confirm", { payment_intent_id })).toMatchObject({ status: "failed", decision: "replan" })
  expect(await around.provider.effects("charge.created")).toEqual([])
  expect(await keysPosted(around)).toHaveLength(2)
})

test("a confirm that waits for the customer is accepted, and done once the customer has acted [ST-6]", async () => {
  const around = await world()
  const payment_intent_id = await prepared(around, { payment_method: "pm_card_authenticationRequired" })
  const first = await step(around, "confirm", { payment_intent_id }, "1s")
  expect(first).toMatchObject({ status: "accepted", final_outcome: "pending", retry: "automatic" })
  const headers = { authorization: "Bearer sk_test_invoke" }
  await fetch(`${around.provider.url}/v1/payment_intents/${payment_intent_id}/confirm`, { method: "POST", headers })
  expect(await around.invoke.wait(first.operation_id)).toMatchObject({ final_outcome: "already_succeeded" })
  expect(await around.provider.effects("charge.created")).toHaveLength(1)
})

test("a capture and a cancellation lose their answers, and each is made once [RC-1]", async () => {
  const around = await world()
  const payment_intent_id = await prepared(around, { capture_method: "manual" })
  expect((await step(around, "confirm", { payment_intent_id })).output).toMatchObject({
    confirmed: true,
    captured: false,
  })
  around.proxy.script(LOST)
  const captured = await step(around, "capture", { payment_intent_id, amount_to_capture: 1000 })
  expect(captured).toMatchObject({ ...DONE, output: { captured: true, amount_received: 1000 } })
  expect(await around.provider.effects("payment_intent.captured")).toHaveLength(1)

  const other = await world()
  const spare = await prepared(other)
  other.proxy.script(LOST)
  expect(await step(other, "cancel", { payment_intent_id: spare })).toMatchObject({
    ...DONE,
    output: { canceled: true },
  })
  expect(await other.provider.effects("payment_intent.canceled")).toHaveLength(1)
})

test("a capture of another amount than the call's is shown as different [RC-7]", async () => {
  const around = await world()
  const payment_intent_id = await prepared(around, { capture_method: "manual" })
  await step(around, "confirm", { payment_intent_id })
  around.proxy.script([{ match: { method: "POST" }, fault: { kind: "hold", client: "rst" } }])
  const calling = step(around, "capture", { payment_intent_id, amount_to_capture: 1000 })
  await until(async () => around.proxy.held().length === 1)
  const headers = { authorization: "Bearer sk_test_invoke", "content-type": "application/x-www-form-urlencoded" }
  const url = `${around.provider.url}/v1/payment_intents/${payment_intent_id}/capture`
  await fetch(url, { method: "POST", headers, body: "amount_to_capture=2000" })
  expect(await calling).toMatchObject({ status: "needs_review", final_outcome: "drifted", retry: "blocked" })
  expect(await around.provider.effects("payment_intent.captured")).toHaveLength(1)
})

test("a payment intent that does not exist fails the step for good [ST-3]", async () => {
  const around = await world()
  expect(await step(around, "confirm", { payment_intent_id: "pi_none" })).toMatchObject({ status: "failed" })
  expect(await around.provider.effects()).toEqual([])
})

test("a payment intent that somebody has paid already is not confirmed again [R4]", async () => {
  const around = await world()
  const payment_intent_id = await prepared(around)
  const headers = { authorization: "Bearer sk_test_invoke" }
  await fetch(`${around.provider.url}/v1/payment_intents/${payment_intent_id}/confirm`, { method: "POST", headers })
  const posted = (await keysPosted(around)).length
  const result = await step(around, "confirm", { payment_intent_id }, "1s")
  expect(result).toMatchObject({ status: "held" })
  expect(await keysPosted(around)).toHaveLength(posted)
  expect(await around.provider.effects("charge.created")).toHaveLength(1)
})
