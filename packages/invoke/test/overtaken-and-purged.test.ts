// Hunts: a tombstone's digests sent as parameters, an older write sent after a newer one, text that makes a fact unrecordable.
import { absent, defineTool, found } from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import { expect, test } from "vitest"
import { z } from "zod"
import { Outside, payTool } from "./outside.ts"
import { during, reaches, row, world } from "./world.ts"

const BILL = { invoice: "84721", amount: 50_000 }

test("a purged operation is neither retried nor repeated with what is left of its parameters [ID-9] [R35]", async () => {
  const { clock, open } = world()
  const outside = new Outside(clock)
  outside.script = ["busy"]
  const tool = defineTool({
    name: "loose",
    safety: "irreversible",
    attempts: 2,
    input: z.looseObject({}),
    identity: () => ({ one: id("1") }),
    applied: "returned",
    execute: async ({ params, attempt }) => {
      outside.requests.push({ key: JSON.stringify(params), attempt })
      return outside.pay(BILL, { key: "", operation_id: "", attempt })
    },
  })
  const invoke = await open([tool])
  const operator = invoke.operator({ name: "ops" })
  const first = await invoke.call({ tool: "loose", params: { note: "a" }, wait: 0 })
  await clock.idle()
  await operator.cancel(first.operation_id, { reason: "not now" })
  const before = outside.requests.length
  await clock.advance(60_000)
  expect(await operator.purge({ before: clock.wall() })).toMatchObject({ purged: 1 })
  const { attempts } = await row(invoke, first.operation_id)
  await expect(operator.retry(first.operation_id, { afterAttempt: attempts.length })).rejects.toMatchObject({
    code: "retry_refused",
  })
  await expect(operator.repeat(first.operation_id, { reason: "again" })).rejects.toMatchObject({
    code: "illegal_transition",
  })
  await invoke.call({ tool: "loose", params: { note: "a" }, wait: 0 }).catch(() => null)
  await clock.advance(600_000)
  expect(outside.requests.slice(before).filter(({ key }) => key.includes("purged"))).toEqual([])
})

test("a write that a later one has overtaken is looked up, not sent again under its key [R15] [item 3]", async () => {
  const { clock, open } = world()
  const door = { state: "shut", writes: [] as string[], lose: true }
  const tool = defineTool({
    name: "set_door",
    safety: "idempotent",
    input: z.object({ to: z.string() }),
    identity: (p) => ({ to: id(p.to) }),
    resource: () => "door",
    applied: "returned",
    contract: {
      key: {
        sentAs: "header:Idempotency-Key",
        retention: "24h",
        inFlight: "refuses",
        replay: "stored",
        onMismatch: "refuses",
        proved: { date: "2026-01-01", against: "test" },
      },
      lookup: { correlates: "state", maxExecution: "60s", visibility: "10s", spacing: "10s" },
    },
    execute: ({ params }) => {
      if (door.lose) {
        door.lose = false
        throw new Error("ECONNRESET")
      }
      door.writes.push(params.to)
      door.state = params.to
      return { to: params.to }
    },
    probe: () =>
      door.state === "" ? absent({ complete: true }) : found({ id: "door", state: { door: "front", to: door.state } }),
    expect: (p) => ({ match: { door: id("front") }, effect: { to: id(p.to) } }),
  })
  const invoke = await open([tool])
  const lost = await during(clock, invoke.call({ tool: "set_door", params: { to: "open" }, wait: 0 }))
  await reaches(clock, invoke, lost.operation_id, "unknown")
  expect(await during(clock, invoke.call({ tool: "set_door", params: { to: "closed" } }))).toMatchObject({ ok: true })
  await clock.advance(30 * 60_000)
  expect(door.writes).toEqual(["closed"])
  expect((await row(invoke, lost.operation_id)).state).not.toBe("succeeded")
})

test("half a character in a provider's text keeps no outcome and no look from being written [ST-2] [RC-8]", async () => {
  const { clock, open } = world()
  const outside = new Outside(clock)
  outside.script = ["lose_answer"]
  const looks = { failing: 3 }
  const pay = payTool(outside)
  const broken = defineTool({
    name: "torn",
    safety: "write-once-checkable",
    input: z.object({ invoice: z.string(), amount: z.int() }),
    identity: (p) => ({ invoice: id(p.invoice) }),
    applied: "returned",
    contract: { lookup: { correlates: "operation", maxExecution: "60s", visibility: "10s", spacing: "10s" } },
    execute: ({ params, providerKey, operationId, attempt }) =>
      outside.pay(params, { key: providerKey, operation_id: operationId, attempt }),
    probe: ({ operationId }) => {
      if (looks.failing > 0) {
        looks.failing -= 1
        throw new Error(`${"x".repeat(486)}\u{1f4a5} \ud83d`)
      }
      const payment = outside.find(operationId)
      return payment ? found({ id: payment.id, operationId, state: { paid: true } }) : absent({ complete: true })
    },
    expect: () => ({ effect: { paid: true } }),
  })
  const invoke = await open([pay, broken])
  const result = await during(clock, invoke.call({ tool: "torn", params: BILL, wait: "2h" }))
  expect(result).toMatchObject({ ok: true, final_outcome: "already_succeeded" })
  expect(outside.payments).toHaveLength(1)
})
