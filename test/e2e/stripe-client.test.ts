// Hunts the effects of a client that posts on its own: the application's own Stripe client under the whole engine.
import { stripeTools, STAND_IN_PROOF } from "@invokejs/connectors/stripe"
import Stripe from "stripe"
import { expect, test } from "vitest"
import { API_KEY, charge, keysPosted, looked, open, outside, SOON, until, type Outside } from "./stripe-bench.ts"

function tools(
  { proxy }: Outside,
  options: { readonly proved?: typeof STAND_IN_PROOF; readonly attempts?: number } = {},
) {
  const client = new Stripe(API_KEY, { host: "127.0.0.1", port: proxy.port, protocol: "http", telemetry: false })
  return stripeTools({ client, lookup: SOON, ...options })
}

test("a reset makes the client post twice under our key, and the customer is charged once [RP-2] [RP-5]", async () => {
  const world = await outside()
  world.proxy.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }])
  const invoke = await open(tools(world))
  const result = await charge(invoke)
  expect(result).toMatchObject({ status: "succeeded", attempt: 1, output: { charged: true } })
  const [first, second, ...more] = await keysPosted(world)
  expect(first).toBe((await invoke.operation(result.operation_id))?.attempts[0]?.provider_key)
  expect([second, ...more]).toEqual([first])
  expect(await world.provider.effects()).toHaveLength(1)
})

test("both answers are lost: the charge is found, and not made again [RC-1]", async () => {
  const world = await outside()
  world.proxy.script([{ match: { method: "POST" }, times: 2, fault: { kind: "drop_answer", then: "rst" } }])
  const result = await charge(await open(tools(world, { proved: STAND_IN_PROOF })))
  expect(result).toMatchObject({ status: "reconciled", final_outcome: "already_succeeded", retry: "blocked" })
  expect(await keysPosted(world)).toHaveLength(2)
  expect(await world.provider.effects()).toHaveLength(1)
})

test("the repeat is refused after the first was executed: the charge is found, not called refused [R2]", async () => {
  const world = await outside()
  const body = '{"error":{"type":"invalid_request_error","code":"rate_limit"}}'
  world.proxy.script([
    { match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } },
    { match: { method: "POST" }, fault: { kind: "answer_instead", status: 429, body } },
  ])
  expect(await charge(await open(tools(world)))).toMatchObject({
    status: "reconciled",
    final_outcome: "already_succeeded",
  })
  expect(await world.provider.effects()).toHaveLength(1)
})

test("nothing arrived: it is refuted by looks, and made once more [RC-4]", async () => {
  const world = await outside()
  world.proxy.script([{ match: { method: "POST" }, times: 2, fault: { kind: "refuse", by: "rst" } }])
  expect(await charge(await open(tools(world)))).toMatchObject({ status: "succeeded", attempt: 2 })
  expect(await world.provider.effects()).toHaveLength(1)
})

test("a decline is a decline [ST-3]", async () => {
  const world = await outside()
  const result = await charge(await open(tools(world)), { source: "tok_chargeDeclined" })
  expect(result).toMatchObject({ status: "failed", reason: { code: "card_declined" } })
  expect(await looked(world)).toBe(false)
  await until(async () => (await keysPosted(world)).length === 1)
  expect(await world.provider.effects()).toEqual([])
})
