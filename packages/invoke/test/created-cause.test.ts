// Hunts: a success read from an object that was there before, or that another operation made (R4, item 7).
import { absent, found } from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import { describe, expect, test } from "vitest"
import { BILL, Outside, payTool, type Bill, type Over } from "./outside.ts"
import { during, HOUR, MINUTE, reaches, row, SECOND, world } from "./world.ts"

const LOOKUP = { correlates: "created", maxExecution: "60s", visibility: "10s", spacing: "10s" }

/** Objects that carry no id of ours: invoice, amount and a creation time are all there is. */
function createdTool(outside: Outside, over: Over = {}, creationTime = true) {
  return payTool(outside, {
    identity: undefined,
    contract: { lookup: { ...LOOKUP, creationTime } },
    probe: ({ params }: { params: Bill }) => {
      const ours = outside.list().filter((one) => one.invoice === params.invoice)
      if (ours.length === 0) return absent({ complete: true })
      return found(
        ours.map((one) => ({
          id: one.id,
          ...(creationTime ? { createdAt: one.created } : {}),
          state: { invoice: one.invoice, amount: one.amount, paid: true },
        })),
        { complete: true },
      )
    },
    expect: (p: Bill) => ({
      match: { invoice: id(p.invoice) },
      effect: { paid: true },
      invariant: { amount: p.amount },
    }),
    ...over,
  })
}

function setting() {
  const made = world()
  return { ...made, outside: new Outside(made.clock) }
}

const call = { tool: "pay", params: BILL }
const OLD = { key: "", operation_id: null }

describe("an object with a creation time", () => {
  test("made by our dispatch confirms it [RC-12] [R4]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([createdTool(outside)])
    outside.script = ["lose_answer"]
    const result = await during(clock, invoke.call({ ...call, idempotencyKey: "a" }))
    expect(result).toMatchObject({ status: "reconciled", cause: "created", ok: true })
    expect(outside.requests).toHaveLength(1)
  })

  test("made last month is no success of this month's call that never arrived [R4]", async () => {
    const { clock, open, outside } = setting()
    outside.apply(BILL, OLD)
    clock.stepWall(30 * 24 * HOUR)
    const invoke = await open([createdTool(outside)])
    outside.script = ["lose_request"]
    const result = await during(clock, invoke.call({ ...call, idempotencyKey: "feb", wait: "30m" }))
    expect(result).toMatchObject({ status: "succeeded", attempt: 2 })
    expect(outside.payments).toHaveLength(2)
  })

  test("made within clock error of our dispatch decides nothing: a person is asked [item 1]", async () => {
    const { clock, open, outside } = setting()
    outside.apply(BILL, OLD)
    clock.stepWall(4 * SECOND)
    const invoke = await open([createdTool(outside)], { poll_ms: 30 * SECOND })
    outside.script = ["lose_request"]
    const { operation_id } = await invoke.call({ ...call, idempotencyKey: "a", wait: 0 })
    await clock.advance(10 * MINUTE)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "unknown", verdict: "inconclusive" })
    expect(outside.requests).toHaveLength(1)
  })

  test("confirms one of two equal operations, never both [R4] [RC-12]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([createdTool(outside)], { poll_ms: 10 * SECOND })
    outside.script = ["lose_request", "lose_answer"]
    const x = await invoke.call({ ...call, idempotencyKey: "x", wait: 0 })
    const y = await invoke.call({ ...call, idempotencyKey: "y", wait: 0 })
    await clock.advance(10 * MINUTE)
    const states = [await row(invoke, x.operation_id), await row(invoke, y.operation_id)]
    expect(states.filter((one) => one.state === "succeeded" && one.attempts.length === 1).length).toBeLessThan(2)
    // While neither is settled nobody can say whose it is, and nothing is dispatched for the other.
    expect(states.map((one) => one.state)).toEqual(["unknown", "unknown"])
    expect(outside.requests).toHaveLength(2)
  })

  test("two objects of two equal operations confirm both, each its own [item 7]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([createdTool(outside)])
    outside.script = ["lose_answer", "lose_answer"]
    const both = ["x", "y"].map((key) => invoke.call({ ...call, idempotencyKey: key, wait: 0 }))
    const [x, y] = await Promise.all(both)
    const rows = [
      await reaches(clock, invoke, x?.operation_id ?? "", "succeeded"),
      await reaches(clock, invoke, y?.operation_id ?? "", "succeeded"),
    ]
    expect(new Set(rows.map((one) => one.object?.object_id)).size).toBe(2)
    expect(outside.requests).toHaveLength(2)
  })

  test("of an acknowledged operation whose id we never learned is not taken for another's [item 7]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([createdTool(outside)], { poll_ms: 10 * SECOND })
    // X: applied and acknowledged, its object's id unreadable. Y: never arrived.
    expect(await invoke.call({ ...call, idempotencyKey: "x" })).toMatchObject({ status: "succeeded" })
    outside.script = ["lose_request"]
    const y = await invoke.call({ ...call, idempotencyKey: "y", wait: 0 })
    await clock.advance(10 * MINUTE)
    expect(await row(invoke, y.operation_id)).toMatchObject({ state: "unknown" })
    expect(outside.payments).toHaveLength(1)
  })

  test("confirmed for one is taken: the other, which never arrived, is proved and sent [RC-12]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([createdTool(outside)])
    outside.script = ["lose_answer"]
    const x = await during(clock, invoke.call({ ...call, idempotencyKey: "x" }))
    expect(x).toMatchObject({ status: "reconciled" })
    outside.script = ["lose_request"]
    const y = await during(clock, invoke.call({ ...call, idempotencyKey: "y", wait: "30m" }))
    expect(y).toMatchObject({ status: "succeeded", attempt: 2 })
    expect(outside.payments).toHaveLength(2)
  })

  test("with another amount is ours and wrong: nothing is sent again, a person decides [R11] [RC-7]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([createdTool(outside)])
    outside.script = [
      (bill, about) => {
        outside.apply({ ...bill, amount: bill.amount + 500 }, { ...about, operation_id: null })
        throw new Error("ECONNRESET")
      },
    ]
    const result = await during(clock, invoke.call({ ...call, idempotencyKey: "a" }))
    expect(result).toMatchObject({ status: "needs_review", final_outcome: "drifted", retry: "blocked", exit: 6 })
    expect(outside.requests).toHaveLength(1)
  })
})

describe("objects without a creation time", () => {
  test("are looked at before attempt 1: what was there then confirms nothing [item 16] [RC-12]", async () => {
    const { clock, open, outside } = setting()
    outside.apply({ ...BILL, amount: 1 }, OLD)
    const invoke = await open([createdTool(outside, {}, false)])
    outside.script = ["lose_answer"]
    const result = await during(clock, invoke.call({ ...call, idempotencyKey: "a" }))
    expect(result).toMatchObject({ status: "reconciled", cause: "created" })
    expect(await row(invoke, result.operation_id)).toMatchObject({
      seen: ["pay_1"],
      object: { object_id: "pay_2" },
      looked_before: true,
    })
  })

  test("a look that fails sends nothing, and is made again [item 16]", async () => {
    const { clock, open, outside } = setting()
    outside.lookup = "fail"
    const invoke = await open([createdTool(outside, {}, false)])
    const { operation_id } = await invoke.call({ ...call, idempotencyKey: "a", wait: 0 })
    await clock.advance(20 * SECOND)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "ready", reason: { code: "look_before_failed" } })
    expect(outside.requests).toHaveLength(0)
    outside.lookup = "answer"
    await reaches(clock, invoke, operation_id, "succeeded")
  })

  test("a look that takes too long sends nothing: two seconds at most [item 16]", async () => {
    const { clock, open, outside } = setting()
    const slow = createdTool(outside, { probe: () => new Promise(() => undefined) }, false)
    const invoke = await open([slow])
    const { operation_id } = await invoke.call({ ...call, idempotencyKey: "a", wait: 0 })
    await clock.advance(3 * SECOND)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "ready", reason: { code: "look_before_failed" } })
    expect(outside.requests).toHaveLength(0)
  })

  test("a look that was not complete, or was a search, sends nothing: what it missed could be taken for ours [item 16]", async () => {
    for (const reach of [{ complete: false }, { complete: true, search: true }]) {
      const { clock, open, outside } = setting()
      outside.apply({ ...BILL, amount: 1 }, OLD)
      const probe = () => found({ id: "pay_1", state: { invoice: "84721", amount: 1, paid: true } }, reach)
      const invoke = await open([createdTool(outside, { probe }, false)])
      const { operation_id } = await invoke.call({ ...call, idempotencyKey: "a", wait: 0 })
      await clock.advance(5 * SECOND)
      expect(await row(invoke, operation_id)).toMatchObject({ state: "ready", looked_before: false })
      expect(outside.requests).toHaveLength(0)
    }
  })

  test("more than can be remembered send nothing [item 16]", async () => {
    const { clock, open, outside } = setting()
    for (let n = 0; n < 101; n += 1) outside.apply({ ...BILL, amount: n }, OLD)
    const invoke = await open([createdTool(outside, {}, false)])
    const { operation_id } = await invoke.call({ ...call, idempotencyKey: "a", wait: 0 })
    await clock.advance(5 * SECOND)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "ready", reason: { code: "look_too_wide" } })
    expect(outside.requests).toHaveLength(0)
  })

  test("a full match found before attempt 1 is held for a person, who is told [item 16]", async () => {
    const { clock, open, outside } = setting()
    outside.apply(BILL, OLD)
    const invoke = await open([createdTool(outside, {}, false)])
    const heard: string[] = []
    invoke.on("attention", (one) => heard.push(one.state))
    const result = await during(clock, invoke.call({ ...call, idempotencyKey: "a" }), 10 * SECOND)
    expect(result).toMatchObject({ status: "held", reason: { code: "exists_already" } })
    expect(heard).toEqual(["held"])
    expect(outside.requests).toHaveLength(0)
    await invoke.operator({ name: "ada" }).allow(result.operation_id, { reason: "a second one was agreed" })
    await reaches(clock, invoke, result.operation_id, "succeeded")
    expect(outside.payments).toHaveLength(2)
  })

  test("a full match is no reason to hold where many are normal [item 16]", async () => {
    const { clock, open, outside } = setting()
    outside.apply(BILL, OLD)
    const contract = { lookup: { ...LOOKUP, creationTime: false }, many: true }
    const invoke = await open([createdTool(outside, { contract }, false)])
    expect(await during(clock, invoke.call({ ...call, idempotencyKey: "a" }))).toMatchObject({ status: "succeeded" })
    expect(outside.payments).toHaveLength(2)
  })
})
