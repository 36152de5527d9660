// Hunts lists and events that are better than the real ones: always fresh, always whole, always on one page.
// Proofs that rest on it: RC-5, RP-3. They are the engine's to prove, so no name here cites them.
import { expect, test } from "vitest"
import { charge, get, post, startStripe, type StripeJson } from "./stripe-client.ts"

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

function ids(list: StripeJson): string[] {
  return list.data.map(({ id }) => id)
}

test("lists come newest first, in pages that say whether there are more", async () => {
  const stripe = await startStripe()
  const made: string[] = []
  for (let n = 0; n < 5; n += 1) made.unshift((await charge(stripe)).id)
  const first = (await get(stripe, "/v1/charges?limit=2")).body
  expect([ids(first), first.has_more]).toEqual([made.slice(0, 2), true])
  const second = (await get(stripe, `/v1/charges?limit=3&starting_after=${made[1]}`)).body
  expect([ids(second), second.has_more]).toEqual([made.slice(2), false])
  const back = (await get(stripe, `/v1/charges?limit=2&ending_before=${made[3]}`)).body
  expect([ids(back), back.has_more]).toEqual([made.slice(1, 3), true])
  expect((await get(stripe, "/v1/charges?starting_after=ch_none")).status).toBe(400)
  expect((await get(stripe, "/v1/charges?limit=101")).status).toBe(400)
})

test("lists are filtered by customer, charge, payment intent and time of creation", async () => {
  const stripe = await startStripe()
  const old = await charge(stripe, { customer: "cus_a" })
  await stripe.control({ clock_offset_ms: 10 * MINUTE_MS })
  const young = await charge(stripe, { customer: "cus_a" })
  const other = await charge(stripe, { customer: "cus_b" })
  const refund = (await post(stripe, "/v1/refunds", { charge: other.id })).body
  const list = async (path: string): Promise<string[]> => ids((await get(stripe, path)).body)
  expect(await list("/v1/charges?customer=cus_a")).toEqual([young.id, old.id])
  expect(await list(`/v1/charges?created[gte]=${young.created}`)).toEqual([other.id, young.id])
  expect(await list(`/v1/charges?customer=cus_a&created[gt]=${old.created}`)).toEqual([young.id])
  expect(await list(`/v1/charges?created[lt]=${young.created}`)).toEqual([old.id])
  expect(await list(`/v1/refunds?charge=${other.id}`)).toEqual([refund.id])
  expect(await list(`/v1/refunds?charge=${old.id}`)).toEqual([])
  expect((await get(stripe, "/v1/charges?colour=red")).body.error.code).toBe("parameter_unknown")
})

test("a lagging list does not show what reading by id shows", async () => {
  const stripe = await startStripe({ list_lag_ms: MINUTE_MS })
  const { id } = await charge(stripe)
  expect(ids((await get(stripe, "/v1/charges")).body)).toEqual([])
  expect((await get(stripe, `/v1/charges/${id}`)).status).toBe(200)
  await stripe.control({ clock_offset_ms: MINUTE_MS + 1000 })
  expect(ids((await get(stripe, "/v1/charges")).body)).toEqual([id])
})

test("events answer by idempotency key, long after the key has expired", async () => {
  const stripe = await startStripe()
  const { id } = await charge(stripe)
  const refund = await post(stripe, "/v1/refunds", { charge: id, amount: 500 }, { key: "refund:84721" })
  await stripe.control({ clock_offset_ms: 10 * DAY_MS })
  const { data } = (await get(stripe, `/v1/events?type=refund.created&created[gte]=${refund.body.created}`)).body
  const request = { id: refund.headers.get("request-id"), idempotency_key: "refund:84721" }
  expect(data.map((event) => [event.object, event.type, event.request])).toEqual([["event", "refund.created", request]])
  expect(data[0]?.data).toEqual({ object: refund.body })
  expect((await get(stripe, `/v1/events/${data[0]?.id}`)).body).toEqual(data[0])
  await stripe.control({ clock_offset_ms: 31 * DAY_MS })
  expect(ids((await get(stripe, "/v1/events")).body)).toEqual([])
})

test("events trail the write: their absence means nothing", async () => {
  const stripe = await startStripe({ events_lag_ms: MINUTE_MS })
  await charge(stripe, {}, "k1")
  expect((await get(stripe, "/v1/events?type=charge.succeeded")).body.data).toEqual([])
  await stripe.control({ clock_offset_ms: MINUTE_MS + 1000 })
  expect((await get(stripe, "/v1/events?type=charge.succeeded")).body.data).toHaveLength(1)
})

test("a replayed request makes no second event", async () => {
  const stripe = await startStripe()
  for (let n = 0; n < 3; n += 1) await charge(stripe, {}, "k1")
  expect((await get(stripe, "/v1/events?types[]=charge.succeeded&types[]=refund.created")).body.data).toHaveLength(1)
})
