// Hunts what the official client does below us: a repeat that nobody asked for, a key of its own, an answer to the second
// request that is taken for an answer to both.
import Stripe from "stripe"
import { expect, test } from "vitest"
import { API_KEY, execute, look, objectsOf, stripeOutside, toolOf, type StripeOutside } from "./stripe-outside.ts"

const CHARGE = { customer_id: "cust_123", amount: 2400 }

function clientOf({ url }: StripeOutside, options: { readonly maxNetworkRetries?: number } = {}): Stripe {
  const { hostname, port } = new URL(url)
  const agent = { host: hostname, port: Number(port), protocol: "http" as const, telemetry: false, ...options }
  return new Stripe(API_KEY, agent)
}

async function postsOf({ provider }: StripeOutside): Promise<{ idempotency_key: string | null }[]> {
  return (await provider.ledger()).flatMap((line) => (line.type === "request" && line.method === "POST" ? [line] : []))
}

test("an instance of Stripe carries the same tools: opaque, and keyed by us [RP-2]", async () => {
  const outside = await stripeOutside()
  const tool = toolOf({ client: clientOf(outside) }, "stripe.charge_customer")
  const word = await execute(tool, { ...CHARGE, metadata: { order: "17" } })
  const [effect] = await outside.provider.effects()
  expect(word).toMatchObject({ kind: "applied", value: { id: effect?.object_id, charged: true } })
  expect(effect).toMatchObject({ idempotency_key: "key_1" })
  expect(effect?.object).toMatchObject({
    metadata: { order: "17", operation_id: "op_1", idempotency_key: "key_1" },
    description: null,
  })
  expect(tool["~definition"]).not.toHaveProperty("transport")
  expect(objectsOf(await look(tool, CHARGE))).toMatchObject([{ id: effect?.object_id, operationId: "op_1" }])
})

test("after a reset the client posts again, with our key: two requests on the wire, one effect [RP-5]", async () => {
  const outside = await stripeOutside()
  outside.proxy.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }])
  const tool = toolOf({ client: clientOf(outside, { maxNetworkRetries: 0 }) }, "stripe.charge_customer")
  const word = await execute(tool, CHARGE)
  expect(word).toMatchObject({ kind: "applied", value: { charged: true } })
  const posts = await postsOf(outside)
  expect(posts.map((post) => post.idempotency_key)).toEqual(["key_1", "key_1"])
  expect(await outside.provider.effects()).toHaveLength(1)
})

test("a client that retries is held to the one repeat that cannot be switched off [RP-5]", async () => {
  const outside = await stripeOutside()
  await outside.provider.answers([{ stage: "before_key", match: { method: "POST" }, status: 503, times: "always" }])
  const tool = toolOf({ client: clientOf(outside, { maxNetworkRetries: 5 }) }, "stripe.charge_customer")
  expect(await execute(tool, CHARGE)).toMatchObject({ kind: "unknown" })
  expect(await postsOf(outside)).toHaveLength(1)
})

test("a refusal of the repeat says nothing about the request that was cut off [R2]", async () => {
  const outside = await stripeOutside()
  outside.proxy.script([
    { match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } },
    {
      match: { method: "POST" },
      fault: {
        kind: "answer_instead",
        status: 429,
        body: '{"error":{"type":"invalid_request_error","code":"rate_limit"}}',
      },
    },
  ])
  const tool = toolOf({ client: clientOf(outside) }, "stripe.charge_customer")
  expect(await execute(tool, CHARGE)).toMatchObject({
    kind: "unknown",
    message: expect.stringContaining("2 requests") as string,
  })
  expect(await outside.provider.effects()).toHaveLength(1)
})

test("a refusal of the only request is heard [ST-3]", async () => {
  const outside = await stripeOutside()
  const tool = toolOf({ client: clientOf(outside) }, "stripe.charge_customer")
  await outside.provider.answers([{ stage: "before_key", status: 429 }])
  expect(await execute(tool, CHARGE)).toMatchObject({ kind: "not_applied", code: "rate_limit" })
  const declined = { ...CHARGE, source: "tok_chargeDeclined" }
  expect(await execute(tool, declined, { providerKey: "key_2" })).toMatchObject({
    kind: "rejected",
    code: "card_declined",
  })
  expect(await outside.provider.effects()).toEqual([])
})

test("an error without an answer says nothing [ST-2]", async () => {
  const outside = await stripeOutside()
  const tool = toolOf({ client: clientOf(outside) }, "stripe.charge_customer")
  outside.proxy.script([], { kind: "drop_answer", then: "fin" })
  expect(await execute(tool, CHARGE)).toMatchObject({ kind: "threw" })
  outside.proxy.script([], { kind: "garble_answer", part: "body" })
  expect(await execute(tool, CHARGE)).toMatchObject({ kind: "threw" })
  expect(await outside.provider.effects()).toHaveLength(1)
})

test("refunds and both steps of a payment go through the client too [RP-3]", async () => {
  const outside = await stripeOutside()
  const client = clientOf(outside)
  const create = toolOf({ client }, "stripe.create_payment_intent")
  await execute(create, { ...CHARGE, payment_method: "pm_card_visa" }, { operationId: "op_1", providerKey: "key_1" })
  const [intent] = await outside.provider.effects("payment_intent.created")
  const payment_intent_id = intent?.object_id ?? ""
  const confirm = toolOf({ client }, "stripe.confirm_payment_intent")
  const confirmed = await execute(confirm, { payment_intent_id }, { operationId: "op_2", providerKey: "key_2" })
  expect(confirmed).toMatchObject({ kind: "applied", value: { confirmed: true } })
  expect(await look(confirm, { payment_intent_id }, { providerKeys: ["key_2"] })).toMatchObject({ kind: "found" })
  const refund = toolOf({ client }, "stripe.refund_payment")
  const refunded = await execute(
    refund,
    { payment_intent_id, amount: 400 },
    { operationId: "op_3", providerKey: "key_3" },
  )
  expect(refunded).toMatchObject({ kind: "applied", value: { refunded: true, minor_units: 400 } })
  const ours = { operationId: "op_3", providerKeys: ["key_3"] }
  expect(objectsOf(await look(refund, { payment_intent_id, amount: 400 }, ours))).toHaveLength(1)
})

test("a look through the client that is refused is no negative [RC-5]", async () => {
  const outside = await stripeOutside()
  await outside.provider.answers([{ stage: "before_key", status: 401 }])
  await expect(look(toolOf({ client: clientOf(outside) }, "stripe.charge_customer"), CHARGE)).rejects.toThrow("401")
})
