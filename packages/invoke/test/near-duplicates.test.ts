// Hunts: one action under two keys run twice; an honest second action lost; two owners of one slot.
import { outcome } from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import { describe, expect, test } from "vitest"
import { BILL, Outside, payTool, type Bill, type Over } from "./outside.ts"
import { during, HOUR, reaches, refusal, row, SECOND, world } from "./world.ts"

/** Named by the caller's key; the same invoice and amount look like one action. */
const GUARDED = {
  identity: undefined,
  intent: (p: Bill) => ({ invoice: id(p.invoice), amount: id(String(p.amount)) }),
}

async function setting(over: Over = {}) {
  const { clock, open } = world()
  const outside = new Outside(clock)
  const tool = payTool(outside, { ...GUARDED, ...over })
  const invoke = await open([tool])
  const call = (key: string, wait: string | number = "1m") =>
    invoke.call({ tool: "pay", params: BILL, idempotencyKey: key, wait: wait as number })
  return { clock, open, outside, tool, invoke, call, operator: invoke.operator({ name: "ada" }) }
}

describe("two keys of one intent", () => {
  test("in the same millisecond lead to one dispatch, the other is held [ID-8] [R16] [L7]", async () => {
    const { call, clock, outside } = await setting()
    outside.script = ["hang"]
    const results = await during(clock, Promise.all(["a", "b", "c", "d"].map((key) => call(key, 0))))
    expect(results.filter((one) => one.status === "held")).toHaveLength(3)
    expect(results.filter((one) => one.status === "in_progress")).toHaveLength(1)
    expect(outside.requests).toHaveLength(1)
    outside.release()
  })

  test("of two engines lead to one dispatch as well [ID-8] [R16]", async () => {
    const { call, clock, open, outside, tool } = await setting()
    const other = await open([tool])
    outside.script = ["hang"]
    const both = [call("a", 0), other.call({ tool: "pay", params: BILL, idempotencyKey: "b", wait: 0 })]
    const results = await during(clock, Promise.all(both))
    expect(results.map((one) => one.status).toSorted()).toEqual(["held", "in_progress"])
    expect(outside.requests).toHaveLength(1)
    outside.release()
  })

  test("one settled inside the window: the other is refused, the holder named [ID-8]", async () => {
    const { call, outside } = await setting()
    const first = await call("a")
    const second = await call("b")
    expect(second).toMatchObject({ status: "refused", decision: "escalate", retry: "blocked", exit: 4 })
    expect(second.held_by).toBe(first.operation_id)
    expect(outside.requests).toHaveLength(1)
  })
})

describe("a held operation", () => {
  test("is refused when the earlier one succeeds, however late that is heard [ID-8] [R16]", async () => {
    const { call, clock, outside, invoke } = await setting()
    outside.script = ["hang"]
    const first = await call("a", 0)
    const second = call("b", "5m")
    await clock.advance(40 * SECOND)
    expect(await row(invoke, first.operation_id)).toMatchObject({ state: "succeeded", cause: "operation" })
    expect(await during(clock, second)).toMatchObject({ status: "refused", held_by: first.operation_id })
    outside.release()
    expect(outside.requests).toHaveLength(1)
  })

  test("goes on by itself when the earlier one is refused by the provider [R16] [item 8]", async () => {
    const { call, clock, outside, invoke } = await setting()
    let refuse: (error: unknown) => void = () => undefined
    outside.script = [
      () =>
        new Promise((_, reject) => {
          refuse = reject
        }),
    ]
    const first = await call("a", 0)
    const second = call("b", "5m")
    await clock.idle()
    refuse(outcome.rejected({ code: "declined" }))
    expect(await during(clock, second)).toMatchObject({ status: "succeeded" })
    expect(await row(invoke, first.operation_id)).toMatchObject({ state: "failed" })
    expect(outside.payments).toHaveLength(1)
  })

  test("of two only one is released; the other then waits for that one [item 8]", async () => {
    const { call, clock, outside, invoke } = await setting()
    let refuse: (error: unknown) => void = () => undefined
    outside.script = [
      () =>
        new Promise((_, reject) => {
          refuse = reject
        }),
      "hang",
    ]
    await call("a", 0)
    const second = await call("b", 0)
    const third = await call("c", 0)
    refuse(outcome.rejected({ code: "declined" }))
    await clock.advance(6 * SECOND)
    const rows = [await row(invoke, second.operation_id), await row(invoke, third.operation_id)]
    const runs = rows.find((one) => one.state === "dispatched")
    const waits = rows.find((one) => one.state === "held")
    expect(waits?.held_by).toBe(runs?.operation_id)
    expect(outside.requests).toHaveLength(2)
    outside.release()
    await clock.advance(SECOND)
    expect(await row(invoke, waits?.operation_id ?? "")).toMatchObject({ state: "refused" })
    expect(outside.payments).toHaveLength(1)
  })

  test("expires after its hour, and a holder that ends later releases nothing [item 8] [ST-7]", async () => {
    const { call, clock, outside, invoke } = await setting()
    outside.script = ["lose_answer"]
    outside.lookup = "fail"
    await call("a", 0)
    const { operation_id } = await call("b", 0)
    clock.stepWall(HOUR)
    await clock.advance(2 * SECOND)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "expired" })
    expect(outside.requests).toHaveLength(1)
  })

  test("whose hour passed while no process ran is not released by the end of its holder [item 8]", async () => {
    const { call, clock, open, outside, invoke, tool } = await setting()
    outside.script = ["hang_first"]
    outside.lookup = "fail"
    const first = await call("a", 0)
    const { operation_id } = await call("b", 0)
    await reaches(clock, invoke, first.operation_id, "unknown")
    await invoke.close({ drain: 0 })
    clock.stepWall(26 * HOUR)
    const later = await open([tool], { reconcile: false })
    await later.operator({ name: "ada" }).resolve(first.operation_id, {
      to: "not_applied",
      reason: "looked",
      evidence: { ticket: "1" },
      process_gone: true,
    })
    expect(await row(later, operation_id)).toMatchObject({ state: "held" })
    await during(clock, later.settle())
    expect(await row(later, operation_id)).toMatchObject({ state: "expired" })
    expect(outside.payments).toHaveLength(0)
  })

  test("the end of the window releases nothing held: what succeeded refuses it [item 8]", async () => {
    const { call, clock, outside, invoke } = await setting({ repeatWindow: "1s" })
    outside.script = ["lose_answer"]
    await call("a", 0)
    const { operation_id } = await call("b", 0)
    outside.lookup = "answer"
    await clock.advance(20 * SECOND)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "refused" })
    expect(outside.payments).toHaveLength(1)
  })

  test("is cancelled by a person, and nothing was sent [HU-3]", async () => {
    const { call, outside, operator } = await setting()
    outside.script = ["hang"]
    await call("a", 0)
    const { operation_id } = await call("b", 0)
    expect(await operator.cancel(operation_id)).toMatchObject({ status: "cancelled", final_outcome: "not_executed" })
    expect(outside.requests).toHaveLength(1)
    outside.release()
  })

  test("is allowed by a person as a repeat, and consumes the slot [ID-8] [R16]", async () => {
    const { call, clock, outside, invoke, operator } = await setting()
    outside.script = ["hang"]
    const first = await call("a", 0)
    const second = await call("b", 0)
    expect((await refusal(operator.allow(second.operation_id, { reason: " " }))).code).toBe("invalid_request")
    await operator.allow(second.operation_id, { reason: "two payments were agreed" })
    await reaches(clock, invoke, second.operation_id, "succeeded")
    expect(await row(invoke, second.operation_id)).toMatchObject({ repeats: first.operation_id })
    // The next one meets the second as the holder.
    expect(await call("c", 0)).toMatchObject({ status: "refused", held_by: second.operation_id })
    outside.release()
    expect(outside.requests).toHaveLength(2)
  })
})

describe("a refusal as possible duplicate", () => {
  test("is not replayed once the window is over: the same call opens the key's next revision [item 8]", async () => {
    const { call, clock, outside, invoke } = await setting({ repeatWindow: "1h" })
    await call("a")
    const refused = await call("b")
    expect(await call("b")).toMatchObject({ operation_id: refused.operation_id, status: "refused" })
    clock.stepWall(HOUR)
    const honest = await call("b")
    expect(honest).toMatchObject({ status: "succeeded" })
    expect(await row(invoke, honest.operation_id)).toMatchObject({ revision: 2, key: "b" })
    expect(outside.payments).toHaveLength(2)
  })
})

describe("a repeat on purpose", () => {
  test("is a chain, never a fan: ten times the same repeat is one repeat [R16] [ID-8]", async () => {
    const { call, clock, outside, operator } = await setting()
    const first = await call("a")
    const repeats = await during(
      clock,
      Promise.all(
        Array.from({ length: 10 }, () => operator.repeat(first.operation_id, { reason: "agreed", wait: 5_000 })),
      ),
    )
    expect(new Set(repeats.map((one) => one.operation_id)).size).toBe(1)
    expect(outside.payments).toHaveLength(2)
  })

  test("of the first once more after it was repeated is the same repeat; of the repeat, a new one [R16]", async () => {
    const { call, outside, operator } = await setting()
    const first = await call("a")
    const second = await operator.repeat(first.operation_id, { reason: "agreed", wait: 5_000 })
    expect(second).toMatchObject({ ok: true })
    const again = await operator.repeat(first.operation_id, { reason: "agreed", wait: 5_000 })
    expect(again.operation_id).toBe(second.operation_id)
    const third = await operator.repeat(second.operation_id, { reason: "agreed", wait: 5_000 })
    expect(third).toMatchObject({ ok: true })
    expect(third.operation_id).not.toBe(second.operation_id)
    expect(outside.payments).toHaveLength(3)
  })

  test("of an operation whose slot is another's by now is held or refused like any newcomer [R16]", async () => {
    const { call, clock, outside, operator } = await setting({ repeatWindow: "1h" })
    const first = await call("a")
    clock.stepWall(HOUR)
    const holder = await call("b")
    const repeat = await operator.repeat(first.operation_id, { reason: "agreed" })
    expect(repeat).toMatchObject({ status: "refused", held_by: holder.operation_id })
    expect(outside.payments).toHaveLength(2)
  })

  test("of a tool with identity and no intent is a chain as well", async () => {
    const { clock, open } = world()
    const outside = new Outside(clock)
    const invoke = await open([payTool(outside)])
    const operator = invoke.operator({ name: "ada" })
    const first = await invoke.call({ tool: "pay", params: BILL })
    const second = await operator.repeat(first.operation_id, { reason: "agreed", wait: 5_000 })
    const again = await operator.repeat(first.operation_id, { reason: "agreed", wait: 5_000 })
    expect(again.operation_id).toBe(second.operation_id)
    expect(await row(invoke, second.operation_id)).toMatchObject({ repeats: first.operation_id })
    expect(new Set(outside.requests.map((one) => one.key)).size).toBe(2)
    expect(outside.payments).toHaveLength(2)
    // A plain call is still the first action.
    expect(await invoke.call({ tool: "pay", params: BILL })).toMatchObject({ operation_id: first.operation_id })
  })
})

describe("a retry", () => {
  test("retakes its slot, or is refused where another one took it [item 8] [R18]", async () => {
    const { call, clock, outside, invoke, operator } = await setting({ attempts: 1 })
    outside.script = ["busy"]
    const first = await call("a")
    expect(first.status).toBe("not_applied")
    outside.script = ["hang"]
    const second = await call("b", 0)
    expect(second.status).toBe("in_progress")
    const refused = await refusal(operator.retry(first.operation_id, { afterAttempt: 1 }))
    expect(refused.code).toBe("retry_refused")
    expect(refused.message).toContain(second.operation_id)
    // Nor by the same call made again, which would retry by itself.
    expect(await call("a", 0)).toMatchObject({ operation_id: first.operation_id, status: "not_applied" })
    outside.release()
    await clock.advance(SECOND)
    expect(await row(invoke, first.operation_id)).toMatchObject({ state: "not_applied" })
    expect(outside.requests).toHaveLength(2)
  })

  test("that retook its slot makes a newcomer wait [item 8]", async () => {
    const { call, clock, outside, invoke, operator } = await setting({ attempts: 1 })
    outside.script = ["busy", "hang"]
    const first = await call("a")
    await operator.retry(first.operation_id, { afterAttempt: 1 })
    await clock.idle()
    expect(await call("b", 0)).toMatchObject({ status: "held", held_by: first.operation_id })
    outside.release()
    await reaches(clock, invoke, first.operation_id, "succeeded")
    expect(outside.payments).toHaveLength(1)
  })
})
