// Hunts a stand-in that is kinder than the real key layer: one that forgets to replay a 500, stores a 401, never lets a
// key expire, or runs two requests under one key. Behind such a stand-in a broken engine passes every test.
// Proofs that rest on it: CS-5, RP-3, RP-4, ST-2. They are the engine's to prove, so no name here cites them.
import { expect, test } from "vitest"
import { charge, CHARGE, get, post, startStripe } from "./stripe-client.ts"

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

test("the same key with the same parameters replays the stored answer and has one effect", async () => {
  const stripe = await startStripe()
  const first = await post(stripe, "/v1/charges", CHARGE, { key: "k1" })
  const again = await post(stripe, "/v1/charges", CHARGE, { key: "k1" })
  expect([again.status, again.text]).toEqual([200, first.text])
  expect(first.headers.get("idempotent-replayed")).toBeNull()
  expect(again.headers.get("idempotent-replayed")).toBe("true")
  expect(again.headers.get("original-request")).toBe(first.headers.get("request-id"))
  expect(again.headers.get("request-id")).not.toBe(first.headers.get("request-id"))
  expect([first.headers.get("idempotency-key"), again.headers.get("idempotency-key")]).toEqual(["k1", "k1"])
  expect(await stripe.effects("charge.created")).toHaveLength(1)
})

test("the order of parameters is no difference, their values are", async () => {
  const stripe = await startStripe()
  const reversed = Object.fromEntries(Object.entries(CHARGE).reverse())
  await post(stripe, "/v1/charges", CHARGE, { key: "k1" })
  expect((await post(stripe, "/v1/charges", reversed, { key: "k1" })).headers.get("idempotent-replayed")).toBe("true")
  for (const other of [
    { ...CHARGE, amount: 2500 },
    { ...CHARGE, description: "again" },
  ]) {
    const { status, body } = await post(stripe, "/v1/charges", other, { key: "k1" })
    expect([status, body.error.type]).toEqual([400, "idempotency_error"])
    expect(body.error.message).toContain("same parameters they were first used with")
  }
  expect(await stripe.effects("charge.created")).toHaveLength(1)
})

test("a key used on another endpoint is refused", async () => {
  const stripe = await startStripe()
  const { id } = await charge(stripe, {}, "k1")
  const { status, body } = await post(stripe, "/v1/refunds", { charge: id }, { key: "k1" })
  expect([status, body.error.type]).toEqual([400, "idempotency_error"])
  expect(body.error.message).toContain("same endpoint")
  expect(await stripe.effects("refund.created")).toEqual([])
})

test("without a key every request has its own effect, and with another key too", async () => {
  const stripe = await startStripe()
  for (const key of [undefined, undefined, "k1", "k2"]) await charge(stripe, {}, key)
  expect(await stripe.effects("charge.created")).toHaveLength(4)
})

test("a request under a key that is still running is refused with 409, and nothing of it is stored", async () => {
  const stripe = await startStripe()
  await stripe.gate("before_effect")
  const first = post(stripe, "/v1/charges", CHARGE, { key: "k1" })
  await stripe.atGate(1)
  const second = await post(stripe, "/v1/charges", CHARGE, { key: "k1" })
  expect([second.status, second.body.error.type, second.body.error.code]).toEqual([
    409,
    "idempotency_error",
    "idempotency_key_in_use",
  ])
  expect(second.headers.get("stripe-should-retry")).toBe("true")
  const other = await post(stripe, "/v1/charges", { ...CHARGE, amount: 1 }, { key: "k1" })
  expect(other.status).toBe(400)
  await stripe.gate("open")
  const done = await first
  expect(done.status).toBe(200)
  const third = await post(stripe, "/v1/charges", CHARGE, { key: "k1" })
  expect([third.text, third.headers.get("idempotent-replayed")]).toEqual([done.text, "true"])
  expect(await stripe.effects("charge.created")).toHaveLength(1)
})

test("a key is in use until its answer has left, also after the effect", async () => {
  const stripe = await startStripe()
  await stripe.gate("after_effect")
  const first = post(stripe, "/v1/charges", CHARGE, { key: "k1" })
  await stripe.atGate(1)
  expect(await stripe.effects("charge.created")).toHaveLength(1)
  expect((await post(stripe, "/v1/charges", CHARGE, { key: "k1" })).status).toBe(409)
  await stripe.gate("open")
  expect((await first).status).toBe(200)
})

test("two requests under different keys run side by side", async () => {
  const stripe = await startStripe()
  await stripe.gate("before_effect")
  const both = ["k1", "k2"].map((key) => post(stripe, "/v1/charges", CHARGE, { key }))
  await stripe.atGate(2)
  await stripe.gate("open")
  expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200])
  expect(await stripe.effects("charge.created")).toHaveLength(2)
})

test("an expired key executes again, and one that has not expired does not", async () => {
  const stripe = await startStripe()
  const first = await charge(stripe, {}, "k1")
  await stripe.control({ clock_offset_ms: DAY_MS - MINUTE_MS })
  expect(await charge(stripe, {}, "k1")).toEqual(first)
  await stripe.control({ clock_offset_ms: DAY_MS + MINUTE_MS })
  const second = await charge(stripe, {}, "k1")
  expect(second.id).not.toBe(first.id)
  expect(await stripe.effects("charge.created")).toHaveLength(2)
  expect((await charge(stripe, {}, "k1")).id).toBe(second.id)
})

test("replaying a key does not prolong it", async () => {
  const stripe = await startStripe({ key_retention_ms: 60 * MINUTE_MS })
  await charge(stripe, {}, "k1")
  for (const minutes of [30, 59, 61]) {
    await stripe.control({ clock_offset_ms: minutes * MINUTE_MS })
    await charge(stripe, {}, "k1")
  }
  expect(await stripe.effects("charge.created")).toHaveLength(2)
})

test("an expired key takes other parameters", async () => {
  const stripe = await startStripe()
  await charge(stripe, {}, "k1")
  await stripe.control({ clock_offset_ms: DAY_MS + MINUTE_MS })
  expect((await charge(stripe, { amount: 99 }, "k1")).amount).toBe(99)
})

test("a 401 comes before the key layer and is not stored", async () => {
  const stripe = await startStripe()
  const refused = await post(stripe, "/v1/charges", CHARGE, { key: "k1", secret: "sk_wrong" })
  expect([refused.status, refused.body.error.message]).toEqual([401, "Invalid API Key provided"])
  const first = await charge(stripe, {}, "k1")
  const blocked = await post(stripe, "/v1/charges", CHARGE, { key: "k1", secret: "sk_wrong" })
  expect([blocked.status, blocked.headers.get("idempotent-replayed")]).toEqual([401, null])
  await stripe.control({ api_key: "sk_rolled" })
  const rolled = await post(stripe, "/v1/charges", CHARGE, { key: "k1", secret: "sk_rolled" })
  expect([rolled.body.id, rolled.headers.get("idempotent-replayed")]).toEqual([first.id, "true"])
})

test("a 429 comes before the key layer: not stored, and told even for a key that has a stored answer", async () => {
  const stripe = await startStripe()
  const limited = [{ stage: "before_key", status: 429, headers: { "retry-after": "1" } }] as const
  await stripe.answers(limited)
  const refused = await post(stripe, "/v1/charges", CHARGE, { key: "k1" })
  expect([refused.status, refused.headers.get("retry-after"), refused.body.error.code]).toEqual([
    429,
    "1",
    "rate_limit",
  ])
  await charge(stripe, {}, "k1")
  await stripe.answers(limited)
  expect((await post(stripe, "/v1/charges", CHARGE, { key: "k1" })).status).toBe(429)
  expect((await post(stripe, "/v1/charges", CHARGE, { key: "k1" })).headers.get("idempotent-replayed")).toBe("true")
  expect(await stripe.effects("charge.created")).toHaveLength(1)
})

test("a request that fails validation is not stored: the corrected one may use its key", async () => {
  const stripe = await startStripe()
  for (const wrong of [
    { ...CHARGE, amount: "12.50" },
    { ...CHARGE, amount: -5 },
    { ...CHARGE, currency: "" },
    { ...CHARGE, colour: "red" },
  ]) {
    expect((await post(stripe, "/v1/charges", wrong, { key: "k1" })).status).toBe(400)
  }
  expect((await post(stripe, "/v1/refunds", { charge: "ch_none" }, { key: "k1" })).status).toBe(404)
  expect((await charge(stripe, {}, "k1")).amount).toBe(2400)
})

test("a decline is stored: the same key answers 402 although the card is good by now", async () => {
  const stripe = await startStripe()
  await stripe.answers([{ stage: "execution", status: 402 }])
  const declined = await post(stripe, "/v1/charges", CHARGE, { key: "k1" })
  expect([declined.status, declined.body.error.code]).toEqual([402, "card_declined"])
  const again = await post(stripe, "/v1/charges", CHARGE, { key: "k1" })
  expect([again.status, again.text, again.headers.get("idempotent-replayed")]).toEqual([402, declined.text, "true"])
  expect(await stripe.effects()).toEqual([])
  expect((await charge(stripe, {}, "k2")).status).toBe("succeeded")
})

test.each([
  ["before its effect", "execution", 0],
  ["after its effect", "after_effect", 1],
] as const)("a 500 %s is stored and replayed, and only the effects tell the two apart", async (_, stage, effects) => {
  const stripe = await startStripe()
  await stripe.answers([{ stage, status: 500 }])
  for (const replayed of [null, "true", "true"]) {
    const answer = await post(stripe, "/v1/charges", CHARGE, { key: "k1" })
    expect([answer.status, answer.body.error.type]).toEqual([500, "api_error"])
    expect(answer.headers.get("idempotent-replayed")).toBe(replayed)
    expect(answer.headers.get("stripe-should-retry")).toBe("false")
  }
  expect(await stripe.effects("charge.created")).toHaveLength(effects)
})

test("keys mean nothing on reads", async () => {
  const stripe = await startStripe()
  const { id } = await charge(stripe, {}, "k1")
  const headers = { authorization: "Bearer sk_test_invoke", "idempotency-key": "k1" }
  const read = await fetch(`${stripe.url}/v1/charges/${id}`, { headers })
  expect([read.status, read.headers.get("idempotent-replayed")]).toEqual([200, null])
})

test("a key longer than 255 characters is refused", async () => {
  const stripe = await startStripe()
  expect((await post(stripe, "/v1/charges", CHARGE, { key: "k".repeat(256) })).status).toBe(400)
  expect((await post(stripe, "/v1/charges", CHARGE, { key: "k".repeat(255) })).status).toBe(200)
})

test("a crash before the effect leaves the key free, a crash after it leaves the effect and its replay", async () => {
  const stripe = await startStripe()
  await stripe.answers([{ stage: "execution", then: "exit" }])
  await expect(post(stripe, "/v1/charges", CHARGE, { key: "k1" })).rejects.toThrow("fetch failed")
  await stripe.exited()
  expect(await stripe.effects("charge.created")).toEqual([])
  await stripe.restart()
  await stripe.answers([{ stage: "after_effect", then: "exit" }])
  await expect(post(stripe, "/v1/charges", CHARGE, { key: "k1" })).rejects.toThrow("fetch failed")
  await stripe.exited()
  const [effect] = await stripe.effects("charge.created")
  await stripe.restart()
  const replay = await post(stripe, "/v1/charges", CHARGE, { key: "k1" })
  expect([replay.body.id, replay.headers.get("idempotent-replayed")]).toEqual([effect?.object_id, "true"])
  expect((await get(stripe, `/v1/charges/${replay.body.id}`)).body).toEqual(replay.body)
  expect(await stripe.effects("charge.created")).toHaveLength(1)
})

test.each(["fin", "rst"] as const)(
  "the provider itself can end the connection by %s after the effect",
  async (then) => {
    const stripe = await startStripe()
    await stripe.answers([{ stage: "after_effect", then }])
    await expect(post(stripe, "/v1/charges", CHARGE, { key: "k1" })).rejects.toThrow("fetch failed")
    expect((await post(stripe, "/v1/charges", CHARGE, { key: "k1" })).headers.get("idempotent-replayed")).toBe("true")
    expect(await stripe.effects("charge.created")).toHaveLength(1)
  },
)
