// Hunts money that the stand-in moves where the real provider would not, or does not move where it would.
// Proofs that rest on it: RC-7, RP-3, ST-6. They are the engine's to prove, so no name here cites them.
import { expect, test } from "vitest"
import { charge, CHARGE, get, post, startStripe } from "./stripe-client.ts"

const MINUTE_MS = 60_000

test("a charge has the amount, the customer, the metadata and a time in whole seconds", async () => {
  const stripe = await startStripe()
  const made = await charge(stripe, { description: "Invoice 84721" })
  expect(made).toMatchObject({
    object: "charge",
    amount: 2400,
    amount_refunded: 0,
    captured: true,
    currency: "usd",
    customer: "cus_123",
    description: "Invoice 84721",
    metadata: { operation_id: "op_1" },
    paid: true,
    status: "succeeded",
  })
  expect(made.id).toMatch(/^ch_[0-9A-Za-z]{24}$/)
  expect(Number.isInteger(made.created)).toBe(true)
  expect((await get(stripe, `/v1/charges/${made.id}`)).body).toEqual(made)
})

test("an object that is not there is a 404 that names it", async () => {
  const stripe = await startStripe()
  for (const path of ["charges/ch_none", "refunds/re_none", "payment_intents/pi_none", "events/evt_none"]) {
    const { status, body } = await get(stripe, `/v1/${path}`)
    expect([status, body.error.code]).toEqual([404, "resource_missing"])
  }
  expect((await post(stripe, "/v1/coupons", {})).body.error.message).toContain("Unrecognized request URL")
})

test("refunds never give back more than was charged", async () => {
  const stripe = await startStripe()
  const { id } = await charge(stripe)
  const part = await post(stripe, "/v1/refunds", { charge: id, amount: 1000, reason: "requested_by_customer" })
  expect([part.status, part.body.amount, part.body.status]).toEqual([200, 1000, "succeeded"])
  expect(part.body.id).toMatch(/^re_/)
  const over = await post(stripe, "/v1/refunds", { charge: id, amount: 1401 })
  expect([over.status, over.body.error.message]).toEqual([
    400,
    "Refund amount (1401) is greater than unrefunded amount on charge (1400)",
  ])
  expect((await post(stripe, "/v1/refunds", { charge: id })).body.amount).toBe(1400)
  const spent = await post(stripe, "/v1/refunds", { charge: id })
  expect([spent.status, spent.body.error.code]).toEqual([400, "charge_already_refunded"])
  expect((await get(stripe, `/v1/charges/${id}`)).body).toMatchObject({ amount_refunded: 2400, refunded: true })
  expect(await stripe.effects("refund.created")).toHaveLength(2)
})

test("a full refund is naturally single, a partial one is not", async () => {
  const stripe = await startStripe()
  const whole = await charge(stripe)
  const statuses = []
  for (let n = 0; n < 2; n += 1) statuses.push((await post(stripe, "/v1/refunds", { charge: whole.id })).status)
  const other = await charge(stripe)
  for (let n = 0; n < 2; n += 1) {
    statuses.push((await post(stripe, "/v1/refunds", { charge: other.id, amount: 700 })).status)
  }
  expect(statuses).toEqual([200, 400, 200, 200])
})

test("two refunds in flight at once cannot both take the last of the money", async () => {
  const stripe = await startStripe()
  const { id } = await charge(stripe)
  await stripe.gate("before_effect")
  const both = ["k1", "k2"].map((key) => post(stripe, "/v1/refunds", { charge: id }, { key }))
  await stripe.atGate(2)
  await stripe.gate("open")
  expect((await Promise.all(both)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400])
  expect(await stripe.effects("refund.created")).toHaveLength(1)
})

test("a refusal by the charge's state is stored under the key, as everything after execution began", async () => {
  const stripe = await startStripe()
  const { id } = await charge(stripe)
  await post(stripe, "/v1/refunds", { charge: id })
  await post(stripe, "/v1/refunds", { charge: id }, { key: "k1" })
  const again = await post(stripe, "/v1/refunds", { charge: id }, { key: "k1" })
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([400, "true"])
})

test("a declined charge is an object that moved no money", async () => {
  const stripe = await startStripe()
  const declined = await post(stripe, "/v1/charges", { ...CHARGE, source: "tok_chargeDeclined" })
  expect(declined.status).toBe(402)
  const { body } = await get(stripe, `/v1/charges/${declined.body.error.charge}`)
  expect(body).toMatchObject({ status: "failed", paid: false, captured: false, failure_code: "card_declined" })
  expect(await stripe.effects()).toEqual([])
})

test.each(["succeeded", "failed"] as const)("a processing charge is pending until its time and then %s", async (as) => {
  const stripe = await startStripe({ charges_settle_after_ms: MINUTE_MS, charges_settle_as: as })
  const { id, status } = await charge(stripe)
  expect(status).toBe("pending")
  await stripe.control({ clock_offset_ms: MINUTE_MS + 1000 })
  expect((await get(stripe, `/v1/charges/${id}`)).body).toMatchObject({ status: as, paid: as === "succeeded" })
  const events = await get(stripe, `/v1/events?type=charge.${as}`)
  expect(events.body.data.map(({ request }) => request)).toEqual([{ id: null, idempotency_key: null }])
})

test("a refund that fails later gives its amount back to the charge", async () => {
  const stripe = await startStripe({ refunds_settle_after_ms: MINUTE_MS, refunds_settle_as: "failed" })
  const { id } = await charge(stripe)
  const refund = await post(stripe, "/v1/refunds", { charge: id })
  expect(refund.body.status).toBe("pending")
  await stripe.control({ clock_offset_ms: MINUTE_MS + 1000 })
  expect((await get(stripe, `/v1/refunds/${refund.body.id}`)).body.status).toBe("failed")
  expect((await get(stripe, `/v1/charges/${id}`)).body).toMatchObject({ amount_refunded: 0, refunded: false })
  expect((await post(stripe, "/v1/refunds", { charge: id })).status).toBe(200)
})

test("a surcharge makes the charge another amount than was asked", async () => {
  const stripe = await startStripe({ surcharge: 35 })
  expect((await charge(stripe)).amount).toBe(2435)
})

test("a charge may be authorized first and captured once", async () => {
  const stripe = await startStripe()
  const { id } = await charge(stripe, { capture: "false" })
  expect((await get(stripe, `/v1/charges/${id}`)).body).toMatchObject({ captured: false, amount_captured: 0 })
  const captured = await post(stripe, `/v1/charges/${id}/capture`, { amount: 2000 })
  expect(captured.body).toMatchObject({ captured: true, amount_captured: 2000, amount_refunded: 400 })
  expect((await post(stripe, `/v1/charges/${id}/capture`, {})).body.error.code).toBe("charge_already_captured")
})

const INTENT = { amount: 5000, currency: "eur", customer: "cus_9", "metadata[op_id]": "op_9" } as const

test("a payment intent is created cheaply and confirmed once into one charge", async () => {
  const stripe = await startStripe()
  const created = await post(stripe, "/v1/payment_intents", INTENT, { key: "create" })
  const { id } = created.body
  expect([id.startsWith("pi_"), created.body.status, created.body.latest_charge]).toEqual([
    true,
    "requires_payment_method",
    null,
  ])
  expect(await stripe.effects("charge.created")).toEqual([])
  const confirmed = await post(
    stripe,
    `/v1/payment_intents/${id}/confirm`,
    { payment_method: "pm_card_visa" },
    { key: "confirm" },
  )
  expect(confirmed.body).toMatchObject({ status: "succeeded", amount_received: 5000, metadata: { op_id: "op_9" } })
  const again = await post(stripe, `/v1/payment_intents/${id}/confirm`, { payment_method: "pm_card_visa" })
  expect([again.status, again.body.error.code]).toEqual([400, "payment_intent_unexpected_state"])
  const charges = await get(stripe, `/v1/charges?payment_intent=${id}`)
  expect(charges.body.data.map((one) => one.id)).toEqual([confirmed.body.latest_charge])
  expect(await stripe.effects("charge.created")).toHaveLength(1)
  const refund = await post(stripe, "/v1/refunds", { payment_intent: id })
  expect(refund.body).toMatchObject({ amount: 5000, charge: confirmed.body.latest_charge, payment_intent: id })
  expect((await get(stripe, `/v1/refunds?payment_intent=${id}`)).body.data).toHaveLength(1)
})

test("a declined confirmation leaves the intent open for another payment method", async () => {
  const stripe = await startStripe()
  const { body } = await post(stripe, "/v1/payment_intents", INTENT)
  const declined = await post(stripe, `/v1/payment_intents/${body.id}/confirm`, {
    payment_method: "pm_card_visa_chargeDeclined",
  })
  expect(declined.status).toBe(402)
  expect((await get(stripe, `/v1/payment_intents/${body.id}`)).body.status).toBe("requires_payment_method")
  const good = await post(stripe, `/v1/payment_intents/${body.id}/confirm`, { payment_method: "pm_card_visa" })
  expect(good.body.status).toBe("succeeded")
  expect(await stripe.effects("charge.created")).toHaveLength(1)
})

test("a manual intent waits for its capture, and an uncaptured one can be cancelled", async () => {
  const stripe = await startStripe()
  const manual = { ...INTENT, capture_method: "manual", confirm: "true", payment_method: "pm_card_visa" }
  const first = await post(stripe, "/v1/payment_intents", manual)
  expect(first.body).toMatchObject({ status: "requires_capture", amount_capturable: 5000, amount_received: 0 })
  const captured = await post(stripe, `/v1/payment_intents/${first.body.id}/capture`, { amount_to_capture: 4000 })
  expect(captured.body).toMatchObject({ status: "succeeded", amount_received: 4000 })
  const second = await post(stripe, "/v1/payment_intents", manual)
  expect((await post(stripe, `/v1/payment_intents/${second.body.id}/cancel`, {})).body.status).toBe("canceled")
  for (const { body } of [first, second]) {
    expect((await post(stripe, `/v1/payment_intents/${body.id}/cancel`, {})).status).toBe(400)
  }
})

test("an intent that needs the customer has moved no money yet", async () => {
  const stripe = await startStripe()
  const asked = { ...INTENT, confirm: "true", payment_method: "pm_card_authenticationRequired" }
  const { body } = await post(stripe, "/v1/payment_intents", asked)
  expect(body.status).toBe("requires_action")
  expect(await stripe.effects("charge.created")).toEqual([])
  expect((await post(stripe, `/v1/payment_intents/${body.id}/confirm`, {})).body.status).toBe("succeeded")
})

test("an intent over a processing charge settles with it", async () => {
  const stripe = await startStripe({ charges_settle_after_ms: MINUTE_MS, charges_settle_as: "failed" })
  const { body } = await post(stripe, "/v1/payment_intents", {
    ...INTENT,
    confirm: "true",
    payment_method: "pm_card_visa",
  })
  expect(body.status).toBe("processing")
  await stripe.control({ clock_offset_ms: MINUTE_MS + 1000 })
  expect((await get(stripe, `/v1/payment_intents/${body.id}`)).body.status).toBe("requires_payment_method")
})
