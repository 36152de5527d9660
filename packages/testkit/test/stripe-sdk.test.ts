// Hunts a stand-in that only our own requests can talk to: the official client must take its answers, lists and errors
// for Stripe's, and behave behind the proxy as it was measured to behave.
// Proofs that rest on it: RP-5. They are the engine's to prove, so no name here cites them.
import { FaultProxy, type FaultRule } from "@invokejs/testkit"
import Stripe from "stripe"
import { expect, onTestFinished, test } from "vitest"
import { startStripe } from "./stripe-client.ts"

async function client(script: readonly FaultRule[] = []) {
  const provider = await startStripe()
  const proxy = await FaultProxy.start({ target: provider.url, script })
  onTestFinished(() => proxy.close())
  const stripe = new Stripe("sk_test_invoke", {
    host: "127.0.0.1",
    port: proxy.port,
    protocol: "http",
    maxNetworkRetries: 0,
    telemetry: false,
  })
  return { provider, proxy, stripe }
}

const CHARGE = { amount: 2400, currency: "usd", customer: "cus_123", metadata: { operation_id: "op_1" } } as const

test("the official client charges, refunds, lists and reads events", async () => {
  const { provider, stripe } = await client()
  const charge = await stripe.charges.create(CHARGE, { idempotencyKey: "k1" })
  expect([charge.status, charge.metadata, charge.lastResponse.idempotencyKey]).toEqual([
    "succeeded",
    CHARGE.metadata,
    "k1",
  ])
  const refund = await stripe.refunds.create({ charge: charge.id, amount: 400 }, { idempotencyKey: "k2" })
  const listed = await stripe.charges.list({ customer: "cus_123", created: { gte: charge.created } })
  expect(listed.data.map(({ id }) => id)).toEqual([charge.id])
  const events = await stripe.events.list({ type: "refund.created", created: { gte: refund.created } })
  expect(events.data.map(({ request }) => request?.idempotency_key)).toEqual(["k2"])
  const intent = await stripe.paymentIntents.create({ amount: 500, currency: "eur", payment_method: "pm_card_visa" })
  expect((await stripe.paymentIntents.confirm(intent.id)).status).toBe("succeeded")
  expect(await provider.effects("charge.created")).toHaveLength(2)
})

test("the official client names the errors as Stripe's", async () => {
  const { stripe } = await client()
  await stripe.charges.create(CHARGE, { idempotencyKey: "k1" })
  const reused = stripe.charges.create({ ...CHARGE, amount: 1 }, { idempotencyKey: "k1" })
  await expect(reused).rejects.toMatchObject({ type: "StripeIdempotencyError", statusCode: 400 })
  const declined = stripe.charges.create({ amount: 100, currency: "usd", source: "tok_chargeDeclined" })
  await expect(declined).rejects.toMatchObject({ type: "StripeCardError", code: "card_declined", statusCode: 402 })
  await expect(stripe.charges.retrieve("ch_none")).rejects.toMatchObject({
    type: "StripeInvalidRequestError",
    statusCode: 404,
  })
})

test("a lost answer makes the official client send twice although its retries are off; the key keeps it one effect", async () => {
  const { provider, proxy, stripe } = await client([{ fault: { kind: "drop_answer", then: "rst" } }])
  const charge = await stripe.charges.create(CHARGE, { idempotencyKey: "k1" })
  expect(charge.lastResponse.headers["idempotent-replayed"]).toBe("true")
  expect(proxy.counters()).toMatchObject({ requests: 2, deliveries: 2 })
  expect(await provider.effects("charge.created")).toHaveLength(1)
})
