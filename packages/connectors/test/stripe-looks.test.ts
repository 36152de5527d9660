// Hunts looks that see too much or too little: another operation's charge taken for ours, a short page taken for the whole list,
// a lagging list or a missing event taken for "it did not happen", a decline taken for a charge.
import { expect, test } from "vitest"
import { API_KEY, execute, look, objectsOf, stripeOutside, toolAt } from "./stripe-outside.ts"

const CHARGE = { customer_id: "cust_123", amount: 2400 }

test("a charge is found by the operation id it carries, as it stands now [RC-12]", async () => {
  const { url } = await stripeOutside()
  const tool = toolAt(url, "stripe.charge_customer")
  await execute(tool, CHARGE, { operationId: "op_1", providerKey: "key_1" })
  const word = await look(tool, CHARGE)
  expect(word).toMatchObject({ kind: "found", complete: true, search: false })
  expect(objectsOf(word)).toMatchObject([
    { kind: "charge", operationId: "op_1", final: true, state: { charged: true } },
  ])
})

test("equal charges of other operations are no candidates, and the look says that nothing is there [RC-12] [RC-5]", async () => {
  const { provider, url } = await stripeOutside()
  const tool = toolAt(url, "stripe.charge_customer")
  await execute(tool, CHARGE, { operationId: "op_2", providerKey: "key_2" })
  await execute(tool, CHARGE, { operationId: "op_3", providerKey: "key_3" })
  expect(await look(tool, CHARGE)).toMatchObject({ kind: "absent", complete: true, search: false })
  expect(await provider.effects()).toHaveLength(2)
})

test("every page is read before anything is called absent [RC-5]", async () => {
  const { provider, url } = await stripeOutside()
  const tool = toolAt(url, "stripe.charge_customer")
  await execute(tool, CHARGE, { operationId: "op_1", providerKey: "key_1" })
  for (let other = 0; other < 101; other += 1) {
    await execute(tool, CHARGE, { operationId: `op_other_${other}`, providerKey: `key_other_${other}` })
  }
  expect(objectsOf(await look(tool, CHARGE))).toHaveLength(1)
  const listed = (await provider.ledger()).filter(
    (line) => line.type === "request" && line.path.startsWith("/v1/charges?"),
  )
  expect(listed).toHaveLength(2)
}, 120_000)

test("a look that Stripe does not answer is no negative [RC-5]", async () => {
  const { provider, url } = await stripeOutside()
  const tool = toolAt(url, "stripe.charge_customer")
  for (const status of [401, 429, 500]) {
    await provider.answers([{ stage: "before_key", status }])
    await expect(look(tool, CHARGE)).rejects.toThrow(String(status))
  }
})

test("an answer that is no list is no negative either [RC-5]", async () => {
  const { proxy, url } = await stripeOutside()
  const tool = toolAt(url, "stripe.charge_customer")
  for (const body of [
    "<html>hello</html>",
    "{}",
    '{"data":[],"has_more":"no"}',
    '{"data":[{"id":"re_1","object":"refund"}],"has_more":false}',
  ]) {
    proxy.script([{ fault: { kind: "answer_instead", status: 200, body } }])
    await expect(look(tool, CHARGE), body).rejects.toThrow(/Stripe answered 200 to a look/)
  }
})

test("an event under our key finds what a lagging list does not show [RC-12]", async () => {
  const { provider, url } = await stripeOutside({ list_lag_ms: 600_000 })
  const tool = toolAt(url, "stripe.charge_customer")
  await execute(tool, CHARGE)
  const [effect] = await provider.effects()
  const word = await look(tool, CHARGE)
  expect(objectsOf(word)).toMatchObject([{ id: effect?.object_id, providerKey: "key_1", state: { charged: true } }])
})

test("no event proves nothing: it may trail, or the key may not read them [RC-5]", async () => {
  const { provider, url } = await stripeOutside({ events_lag_ms: 600_000 })
  const tool = toolAt(url, "stripe.charge_customer")
  await execute(tool, CHARGE)
  expect(objectsOf(await look(tool, CHARGE))).toHaveLength(1)
  await provider.answers([{ stage: "before_key", match: { path: "/v1/events" }, status: 403, times: "always" }])
  expect(objectsOf(await look(tool, CHARGE))).toHaveLength(1)
  const other = { operationId: "op_2", providerKeys: ["key_2"] }
  expect(await look(tool, CHARGE, other)).toMatchObject({ kind: "absent", complete: true })
})

test("a charge of an operation that the journal has forgotten is found by its key, in the list and in the events [CS-9]", async () => {
  const { provider, url } = await stripeOutside({ events_lag_ms: 600_000 })
  const tool = toolAt(url, "stripe.charge_customer")
  await execute(tool, CHARGE, { operationId: "op_forgotten", providerKey: "key_1" })
  const ours = { operationId: "op_2", providerKeys: ["key_1"] }
  const charge = { operationId: "op_forgotten", providerKey: "key_1" }
  expect(objectsOf(await look(tool, CHARGE, ours))).toMatchObject([charge])
  await provider.control({ events_lag_ms: 0, list_lag_ms: 600_000 })
  expect(objectsOf(await look(tool, CHARGE, ours))).toMatchObject([charge])
})

test("a decline under our key proves that nothing was charged [ST-3]", async () => {
  const { provider, url } = await stripeOutside()
  const tool = toolAt(url, "stripe.charge_customer")
  await execute(tool, { ...CHARGE, source: "tok_chargeDeclined" })
  expect(await look(tool, CHARGE)).toMatchObject({ kind: "not_applied", permanent: true })
  expect(await provider.effects()).toEqual([])
})

test("a charge that failed after it was pending is shown as it is, not called a decline [ST-6]", async () => {
  const { provider, url } = await stripeOutside({ charges_settle_after_ms: 3_600_000, charges_settle_as: "failed" })
  const tool = toolAt(url, "stripe.charge_customer")
  await execute(tool, CHARGE)
  const pending = await look(tool, CHARGE)
  expect(objectsOf(pending)).toMatchObject([{ state: { charged: false, status: "pending" } }])
  expect(objectsOf(pending)[0]).not.toHaveProperty("final")
  await provider.control({ charges_settle_after_ms: 1 })
  expect(objectsOf(await look(tool, CHARGE))).toMatchObject([
    { final: true, state: { charged: false, status: "failed" } },
  ])
})

test("the amount found carries its own currency [R27]", async () => {
  const { url } = await stripeOutside()
  const tool = toolAt(url, "stripe.charge_customer")
  await execute(tool, { ...CHARGE, currency: "EUR" })
  expect(objectsOf(await look(tool, CHARGE))).toMatchObject([{ state: { amount: { amount: 2400, currency: "eur" } } }])
})

test("a refund is found among those of its payment, by charge and by payment intent [RC-12]", async () => {
  const { provider, url } = await stripeOutside()
  const refund = toolAt(url, "stripe.refund_payment")
  await execute(toolAt(url, "stripe.charge_customer"), CHARGE)
  const [charge] = await provider.effects("charge.created")
  const part = { charge_id: charge?.object_id ?? "", amount: 400 }
  await execute(refund, part, { operationId: "op_2", providerKey: "key_2" })
  await execute(refund, part, { operationId: "op_3", providerKey: "key_3" })
  const word = await look(refund, part, { operationId: "op_2", providerKeys: ["key_2"] })
  expect(objectsOf(word)).toMatchObject([
    { kind: "refund", operationId: "op_2", state: { refunded: true, minor_units: 400 } },
  ])
  const none = await look(refund, part, { operationId: "op_4", providerKeys: ["key_4"] })
  expect(none).toMatchObject({ kind: "absent", complete: true })
})

test("a refund that the bank returned is final, and refunded no more [ST-6]", async () => {
  const { provider, url } = await stripeOutside({ refunds_settle_after_ms: 3_600_000, refunds_settle_as: "failed" })
  const refund = toolAt(url, "stripe.refund_payment")
  await execute(toolAt(url, "stripe.charge_customer"), CHARGE)
  const [charge] = await provider.effects("charge.created")
  const whole = { charge_id: charge?.object_id ?? "" }
  const ours = { operationId: "op_2", providerKeys: ["key_2"] }
  await execute(refund, whole, { operationId: "op_2", providerKey: "key_2" })
  expect(objectsOf(await look(refund, whole, ours))).toMatchObject([{ state: { refunded: false, status: "pending" } }])
  await provider.control({ refunds_settle_after_ms: 1 })
  expect(objectsOf(await look(refund, whole, ours))).toMatchObject([
    { final: true, state: { refunded: false, status: "failed" } },
  ])
})

test("a confirm that was not made leaves the intent's version as it was; one that was made changes it [item 3]", async () => {
  const { provider, url } = await stripeOutside()
  const confirm = toolAt(url, "stripe.confirm_payment_intent")
  await execute(toolAt(url, "stripe.create_payment_intent"), { ...CHARGE, payment_method: "pm_card_visa" })
  const [intent] = await provider.effects("payment_intent.created")
  const params = { payment_intent_id: intent?.object_id ?? "" }
  const before = objectsOf(await look(confirm, params, { firstDispatchedAt: null, providerKeys: [] }))[0]
  expect(objectsOf(await look(confirm, params))).toMatchObject([
    { version: before?.["version"], state: { confirmed: false } },
  ])
  await execute(confirm, params, { providerKey: "key_2" })
  const after = objectsOf(await look(confirm, params, { providerKeys: ["key_2"] }))[0]
  expect(after).toMatchObject({ state: { confirmed: true } })
  expect(after?.["version"]).not.toBe(before?.["version"])
})

test("a confirm that was declined under our key is told from one that was not made [ST-3]", async () => {
  const { provider, url } = await stripeOutside()
  const confirm = toolAt(url, "stripe.confirm_payment_intent")
  await execute(toolAt(url, "stripe.create_payment_intent"), {
    ...CHARGE,
    payment_method: "pm_card_visa_chargeDeclined",
  })
  const [intent] = await provider.effects("payment_intent.created")
  const params = { payment_intent_id: intent?.object_id ?? "" }
  await execute(confirm, params, { providerKey: "key_2" })
  expect(await look(confirm, params, { providerKeys: ["key_2"] })).toMatchObject({
    kind: "not_applied",
    permanent: true,
  })
  expect(await look(confirm, params, { providerKeys: ["key_3"] })).toMatchObject({ kind: "found" })
})

test("a second decline, of somebody else's confirm, changes the intent's version although its status stays [item 3]", async () => {
  const { provider, url } = await stripeOutside()
  const confirm = toolAt(url, "stripe.confirm_payment_intent")
  const method = { payment_method: "pm_card_visa_chargeDeclined" }
  await execute(toolAt(url, "stripe.create_payment_intent"), CHARGE)
  const [intent] = await provider.effects("payment_intent.created")
  const params = { payment_intent_id: intent?.object_id ?? "" }
  await execute(confirm, { ...params, ...method }, { providerKey: "theirs_1" })
  const before = objectsOf(await look(confirm, params))[0]
  await execute(confirm, { ...params, ...method }, { providerKey: "theirs_2" })
  const after = objectsOf(await look(confirm, params))[0]
  expect(after).toMatchObject({ state: { status: "requires_payment_method" } })
  expect(after?.["version"]).not.toBe(before?.["version"])
})

test("while the bank or the customer is at work a look says nothing [ST-6]", async () => {
  const { provider, url } = await stripeOutside()
  const confirm = toolAt(url, "stripe.confirm_payment_intent")
  await execute(toolAt(url, "stripe.create_payment_intent"), {
    ...CHARGE,
    payment_method: "pm_card_authenticationRequired",
  })
  const [intent] = await provider.effects("payment_intent.created")
  const params = { payment_intent_id: intent?.object_id ?? "" }
  await execute(confirm, params, { providerKey: "key_2" })
  expect(await look(confirm, params, { providerKeys: ["key_2"] })).toMatchObject({ kind: "unsure" })
})

test("a payment intent that does not exist cannot have been confirmed [ST-3]", async () => {
  const { url } = await stripeOutside()
  const confirm = toolAt(url, "stripe.confirm_payment_intent")
  const params = { payment_intent_id: "pi_none" }
  expect(await look(confirm, params)).toMatchObject({ kind: "not_applied", permanent: true })
  expect(await look(confirm, params, { firstDispatchedAt: null })).toMatchObject({ kind: "absent", complete: true })
})

test("no look uses Stripe's search [RC-5]", async () => {
  const { provider, url } = await stripeOutside()
  await look(toolAt(url, "stripe.charge_customer"), CHARGE)
  await look(toolAt(url, "stripe.refund_payment"), { charge_id: "ch_1" })
  await look(toolAt(url, "stripe.create_payment_intent"), CHARGE)
  await look(toolAt(url, "stripe.confirm_payment_intent"), { payment_intent_id: "pi_1" })
  const requests = (await provider.ledger()).flatMap((line) => (line.type === "request" ? [line] : []))
  expect(requests.length).toBeGreaterThan(4)
  expect(requests.filter((request) => request.path.includes("/search") || request.method !== "GET")).toEqual([])
  expect(API_KEY).toMatch(/^sk_test_/)
})
