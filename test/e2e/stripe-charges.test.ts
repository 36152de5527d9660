// Hunts the second charge, and the charge that is called failed although it was made: through the whole engine, counted at the
// provider.
import { STAND_IN_PROOF } from "@invokejs/connectors/stripe"
import { expect, test } from "vitest"
import { charge, keysPosted, looked, open, outside, toolsOn, until } from "./stripe-bench.ts"

const DONE = { status: "reconciled", final_outcome: "already_succeeded", decision: "do_not_retry", retry: "blocked" }
const PROVED = { proved: STAND_IN_PROOF }

test("the article's charge: the acknowledgement is lost, live state says charged [RC-1] [RC-2]", async () => {
  const world = await outside()
  world.proxy.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }])
  const invoke = await open(toolsOn(world))
  const result = await charge(invoke)
  expect(result).toMatchObject({ ...DONE, verdict: "confirmed", cause: "operation", attempt: 1 })
  const [effect, ...more] = await world.provider.effects()
  expect(more).toEqual([])
  expect(result.output).toMatchObject({
    id: effect?.object_id,
    charged: true,
    amount: { amount: 2400, currency: "usd" },
  })
  expect(await keysPosted(world)).toHaveLength(1)
  expect(await charge(invoke)).toMatchObject({
    status: "replayed",
    final_outcome: "already_succeeded",
    retry: "blocked",
  })
  expect(await world.provider.effects()).toHaveLength(1)
})

test("an ordinary charge succeeds, and gives the same output as a reconciled one [RC-2]", async () => {
  const world = await outside()
  const invoke = await open(toolsOn(world))
  const params = { customer_id: "cust_123", amount: 2400, currency: "EUR" }
  const result = await invoke.run("stripe.charge_customer", params, { idempotencyKey: "typed" })
  const charged: boolean | undefined = result.output?.charged
  expect(charged).toBe(true)
  expect(result).toMatchObject({
    status: "succeeded",
    output: { customer: "cust_123", status: "succeeded", amount: { amount: 2400, currency: "eur" } },
  })
  const operation = await invoke.operation(result.operation_id)
  expect(operation?.attempts[0]).toMatchObject({
    http_status: 200,
    provider_request_id: expect.stringMatching(/^req_/) as string,
  })
})

test.each([
  { name: "a connection closed in silence", fault: { kind: "drop_answer", then: "fin" } },
  { name: "a body that breaks off", fault: { kind: "truncate_answer", keep_bytes: 10, then: "rst" } },
  { name: "an unreadable body", fault: { kind: "garble_answer", part: "body" } },
  { name: "an unreadable status", fault: { kind: "garble_answer", part: "status_line" } },
  { name: "a gateway's 502", fault: { kind: "replace_answer", status: 502, body: "bad gateway" } },
] as const)("$name after the charge ends as reconciled, with one charge [ST-2] [RC-1]", async ({ fault }) => {
  const world = await outside()
  world.proxy.script([{ match: { method: "POST" }, fault }])
  expect(await charge(await open(toolsOn(world)))).toMatchObject(DONE)
  expect(await world.provider.effects()).toHaveLength(1)
  expect(await keysPosted(world)).toHaveLength(1)
})

test("a 500 after the charge is looked into, not repeated [RC-1]", async () => {
  const world = await outside()
  await world.provider.answers([{ stage: "after_effect", status: 500 }])
  expect(await charge(await open(toolsOn(world, PROVED)))).toMatchObject(DONE)
  expect(await world.provider.effects()).toHaveLength(1)
  expect(await keysPosted(world)).toHaveLength(1)
})

test("a request that never arrived is refuted, then made once more under the next key [RC-4] [RC-5]", async () => {
  const world = await outside()
  world.proxy.script([{ match: { method: "POST" }, fault: { kind: "refuse", by: "rst" } }])
  const invoke = await open(toolsOn(world))
  const result = await charge(invoke)
  expect(result).toMatchObject({ status: "succeeded", attempt: 2 })
  expect(await world.provider.effects()).toHaveLength(1)
  const [first, second] = (await invoke.operation(result.operation_id))?.attempts ?? []
  expect(first).toMatchObject({ status: "disproved", left: true })
  expect(second?.provider_key).not.toBe(first?.provider_key)
})

test("with a proved key it is made once more under the same key, after one look [RP-2] [RP-9]", async () => {
  const world = await outside()
  world.proxy.script([{ match: { method: "POST" }, fault: { kind: "refuse", by: "rst" } }])
  const invoke = await open(toolsOn(world, { ...PROVED, lookup: { maxExecution: "10m" } }))
  const result = await charge(invoke)
  expect(result).toMatchObject({ status: "succeeded", attempt: 2 })
  expect(await world.provider.effects()).toHaveLength(1)
  const keys = (await invoke.operation(result.operation_id))?.attempts.map((attempt) => attempt.provider_key)
  expect(new Set(keys).size).toBe(1)
})

test("a request that lands after its repeat is answered by the key, and charges nothing [RP-2]", async () => {
  const world = await outside()
  world.proxy.script([{ match: { method: "POST" }, fault: { kind: "hold", client: "rst" } }])
  const invoke = await open(toolsOn(world, { ...PROVED, lookup: { maxExecution: "10m" } }))
  expect(await charge(invoke)).toMatchObject({ status: "succeeded", attempt: 2 })
  expect(await world.proxy.release()).toMatchObject({ target_status: 200 })
  const [first, second] = await keysPosted(world)
  expect(first).toBe(second)
  expect(await world.provider.effects()).toHaveLength(1)
})

test("a look that finds nothing while the request may still land allows nothing [RC-5] [R6]", async () => {
  const world = await outside()
  world.proxy.script([{ match: { method: "POST" }, fault: { kind: "hold", client: "rst" } }])
  const invoke = await open(toolsOn(world, { lookup: { maxExecution: "10m", visibility: 0, spacing: 0 } }))
  const calling = charge(invoke)
  await until(() => looked(world))
  await world.proxy.release()
  expect(await calling).toMatchObject(DONE)
  expect(await world.provider.effects()).toHaveLength(1)
})

test("a key in use by a request still running is neither yes nor no [R2]", async () => {
  const world = await outside()
  await world.provider.gate("before_effect")
  world.proxy.script([
    { match: { method: "POST" }, fault: { kind: "cut", direction: "request", at: { after_message: true }, by: "rst" } },
  ])
  const invoke = await open(toolsOn(world, { ...PROVED, attempts: 2 }))
  const calling = charge(invoke)
  await until(async () =>
    (await world.provider.ledger()).some((line) => line.type === "answered" && line.status === 409),
  )
  await world.provider.gate("open")
  expect(await calling).toMatchObject(DONE)
  expect(await world.provider.effects()).toHaveLength(1)
})

test("a 401 on the second attempt proves nothing about the first [R2] [ST-8]", async () => {
  const world = await outside({ list_lag_ms: 600_000, events_lag_ms: 600_000 })
  world.proxy.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }])
  const invoke = await open(toolsOn(world, { ...PROVED, attempts: 2, lookup: { maxExecution: "10m" } }))
  const calling = charge(invoke)
  await until(async () => (await world.provider.effects()).length === 1)
  await world.provider.answers([{ stage: "before_key", match: { method: "POST" }, status: 401 }])
  await until(async () => (await keysPosted(world)).length === 2)
  await world.provider.control({ list_lag_ms: 0 })
  expect(await calling).toMatchObject(DONE)
  expect(await world.provider.effects()).toHaveLength(1)
})

test("a decline ends the action: failed, nothing charged, nothing tried again [ST-3]", async () => {
  const world = await outside()
  const result = await charge(await open(toolsOn(world, PROVED)), { source: "tok_chargeDeclined" })
  expect(result).toMatchObject({
    status: "failed",
    final_outcome: "failed",
    decision: "replan",
    reason: { code: "card_declined" },
  })
  expect(await world.provider.effects()).toEqual([])
  expect(await keysPosted(world)).toHaveLength(1)
})

test("a decline whose answer was lost ends the same way, and the card is not tried again [RC-1] [ST-3]", async () => {
  const world = await outside()
  world.proxy.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }])
  const result = await charge(await open(toolsOn(world, PROVED)), { source: "tok_chargeDeclined" })
  expect(result).toMatchObject({ status: "failed", final_outcome: "failed", decision: "replan" })
  expect(await world.provider.effects()).toEqual([])
  expect(await keysPosted(world)).toHaveLength(1)
})

test("a refused API key is waited out: the charge is made once it is accepted [RP-1]", async () => {
  const world = await outside()
  await world.provider.answers([{ stage: "before_key", match: { method: "POST" }, status: 401 }])
  expect(await charge(await open(toolsOn(world)))).toMatchObject({ status: "succeeded", attempt: 2 })
  expect(await world.provider.effects()).toHaveLength(1)
})

test("a pending charge is accepted, and succeeds when the bank says so [ST-6]", async () => {
  const world = await outside({ charges_settle_after_ms: 3_600_000 })
  const invoke = await open(toolsOn(world))
  const first = await invoke.call({
    tool: "stripe.charge_customer",
    params: { customer_id: "cust_123", amount: 2400 },
    idempotencyKey: "pending",
    wait: "1s",
  })
  expect(first).toMatchObject({ status: "accepted", final_outcome: "pending" })
  await world.provider.control({ charges_settle_after_ms: 1 })
  expect(await invoke.wait(first.operation_id)).toMatchObject({
    final_outcome: "already_succeeded",
    output: { charged: true },
  })
  expect(await keysPosted(world)).toHaveLength(1)
})

test("another amount than the call's is shown as different, and nothing is sent again [RC-4] [RC-7]", async () => {
  const world = await outside({ surcharge: 100 })
  world.proxy.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }])
  const result = await charge(await open(toolsOn(world, PROVED)))
  expect(result).toMatchObject({
    status: "needs_review",
    final_outcome: "drifted",
    decision: "replan",
    retry: "blocked",
  })
  expect(await keysPosted(world)).toHaveLength(1)
})

test("a journal that forgot the charge gets the first one back, by its key [CS-9]", async () => {
  const world = await outside()
  const before = await open(toolsOn(world), { name: "shop" })
  await charge(before)
  const after = await open(toolsOn(world), { name: "shop" })
  const result = await charge(after)
  expect(result).toMatchObject({ ...DONE, cause: "operation" })
  const [first, second] = await keysPosted(world)
  expect(first).toBe(second)
  expect(await world.provider.effects()).toHaveLength(1)
})

test("equal charges under two keys are one action until a person says otherwise [ID-8]", async () => {
  const world = await outside()
  const invoke = await open(toolsOn(world))
  const first = await charge(invoke, {}, "key-a")
  const second = await charge(invoke, {}, "key-b")
  expect(first.status).toBe("succeeded")
  expect(second).toMatchObject({ status: "refused", reason: { code: "possible_duplicate" } })
  expect(await world.provider.effects()).toHaveLength(1)
})
