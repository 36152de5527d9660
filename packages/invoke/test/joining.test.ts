// Hunts: a duplicate that runs beside the first, waits for ever, or is told something that the row does not say.
import { describe, expect, test } from "vitest"
import { BILL, Outside, payTool } from "./outside.ts"
import { during, MINUTE, reaches, refusal, row, SECOND, world } from "./world.ts"

function setting() {
  const { clock, open } = world()
  return { clock, open, outside: new Outside(clock) }
}

describe("a duplicate of a running operation", () => {
  test("joins it and gets its result, marked as a replay [ID-6] [C5]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["hang"]
    const first = invoke.call({ tool: "pay", params: BILL })
    const second = invoke.call({ tool: "pay", params: BILL })
    await clock.advance(SECOND)
    outside.release()
    const [told, joined] = await during(clock, Promise.all([first, second]))
    expect(told).toMatchObject({ status: "succeeded", final_outcome: "succeeded", replayed_from: null })
    expect(joined).toMatchObject({ status: "replayed", final_outcome: "already_succeeded", output: told.output })
    expect(joined.replayed_from).toMatchObject({ operation_id: told.operation_id, attempt: 1 })
    expect(outside.requests).toHaveLength(1)
  })

  test("with wait 0 is told right away that it runs [ID-6] [A1]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["hang"]
    await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    expect(await invoke.call({ tool: "pay", params: BILL, wait: 0 })).toMatchObject({
      status: "in_progress",
      decision: "wait",
      retry: "automatic",
      http: 202,
    })
    outside.release()
  })

  test("in another engine joins on the row, and hears of it without a notice of its own [ID-6] [R32]", async () => {
    const { clock, open, outside } = setting()
    const one = await open([payTool(outside)])
    const two = await open([payTool(outside)])
    outside.script = ["hang"]
    await one.call({ tool: "pay", params: BILL, wait: 0 })
    const joined = two.call({ tool: "pay", params: BILL, wait: "5m" })
    await clock.advance(3 * SECOND)
    outside.release()
    expect(await during(clock, joined)).toMatchObject({ status: "replayed", ok: true })
    expect(outside.requests).toHaveLength(1)
  })

  test("survives its leader, is never promoted to dispatcher, and gets what the row says [R32] [C6]", async () => {
    const { clock, open, outside } = setting()
    const leader = await open([payTool(outside)])
    const other = await open([payTool(outside)])
    outside.script = ["hang_first"]
    await leader.call({ tool: "pay", params: BILL, wait: 0 })
    const joined = other.call({ tool: "pay", params: BILL, wait: "2m" })
    await clock.advance(SECOND)
    await leader.close({ drain: 0 })
    const result = await during(clock, joined)
    expect(result).toMatchObject({ status: "unknown", final_outcome: "unknown", decision: "wait" })
    expect(outside.requests).toHaveLength(1)
    outside.release()
  })

  test("of an unknown operation waits for its reconciliation and runs nothing [ID-6] [E13]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["lose_answer"]
    const first = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    const joined = await during(clock, invoke.call({ tool: "pay", params: BILL }))
    // The first call was told `in_progress`; the fact that reconciliation found is owed to whoever asks first.
    expect(joined).toMatchObject({ status: "reconciled", operation_id: first.operation_id })
    expect(await invoke.call({ tool: "pay", params: BILL })).toMatchObject({ status: "replayed" })
    expect(outside.requests).toHaveLength(1)
  })
})

describe("the end of a wait", () => {
  test("is no end of the operation: a call whose wait is over is told unknown, and the next one the truth [ST-2]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["lose_answer"]
    outside.lookup = "fail"
    const result = await during(clock, invoke.call({ tool: "pay", params: BILL, wait: "10s" }))
    expect(result).toMatchObject({ status: "unknown", final_outcome: "unknown", retry: "automatic" })
    expect(result.agent_text).not.toMatch(/\bfailed\b|try again/i)
    outside.lookup = "answer"
    await reaches(clock, invoke, result.operation_id, "succeeded")
    expect(await invoke.wait(result.operation_id)).toMatchObject({ status: "reconciled" })
    expect(await invoke.wait(result.operation_id)).toMatchObject({ status: "replayed" })
  })

  test("an aborted signal ends the waiting only, also one that was aborted before [A1]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["hang", "answer"]
    const controller = new AbortController()
    const call = invoke.call({ tool: "pay", params: BILL, signal: controller.signal })
    await clock.advance(SECOND)
    controller.abort()
    const told = await during(clock, call)
    expect(told).toMatchObject({ status: "in_progress" })
    outside.release()
    await reaches(clock, invoke, told.operation_id, "succeeded")
    const before = await invoke.call({
      tool: "pay",
      params: { ...BILL, invoice: "2" },
      signal: AbortSignal.abort(),
    })
    expect(["in_progress", "succeeded"]).toContain(before.status)
    await reaches(clock, invoke, before.operation_id, "succeeded")
    expect(outside.payments).toHaveLength(2)
  })

  test("an abort that comes in the moment of the result loses nothing", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["hang"]
    const controller = new AbortController()
    const call = invoke.call({ tool: "pay", params: BILL, signal: controller.signal })
    await clock.idle()
    outside.release()
    controller.abort()
    const { operation_id } = await during(clock, call)
    expect(await reaches(clock, invoke, operation_id, "succeeded")).toMatchObject({ attempts: [{ attempt: 1 }] })
  })

  test("a needs_review row ends every wait: a person is needed", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([
      payTool(outside, { probe: undefined, expect: undefined, safety: "irreversible", contract: {} }),
    ])
    outside.script = ["lose_answer"]
    const both = [1, 2].map(() => invoke.call({ tool: "pay", params: BILL, wait: "10m" }))
    const results = await during(clock, Promise.all(both), MINUTE)
    expect(results.map((one) => one.status)).toEqual(["needs_review", "needs_review"])
  })
})

describe("many", () => {
  test("ten thousand parallel calls of one action are one effect and one row [ID-6] [ID-11]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    const calls = Array.from({ length: 10_000 }, () => invoke.call({ tool: "pay", params: BILL }))
    const results = await during(clock, Promise.all(calls))
    expect(outside.payments).toHaveLength(1)
    expect(new Set(results.map((one) => one.operation_id)).size).toBe(1)
    expect(results.every((one) => one.ok)).toBe(true)
    expect(results.filter((one) => one.status === "succeeded")).toHaveLength(1)
    await clock.advance(2 * SECOND)
    const [first] = results
    const operation = await row(invoke, first?.operation_id ?? "")
    expect(operation.duplicates.count).toBe(9_999)
    expect(operation.attempts).toHaveLength(1)
  })

  test("a thousand actions at once each have their own effect and their own result", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    const calls = Array.from({ length: 1_000 }, (_, n) =>
      invoke.call({ tool: "pay", params: { invoice: `i${n}`, amount: n } }),
    )
    const results = await during(clock, Promise.all(calls))
    expect(results.every((one) => one.status === "succeeded")).toBe(true)
    expect(new Set(outside.payments.map((one) => one.invoice)).size).toBe(1_000)
    expect(outside.payments).toHaveLength(1_000)
  })
})

describe("identical parallel calls of one turn", () => {
  const NAMELESS = { identity: undefined }
  const IN_TURN = { tool: "pay", params: BILL, runId: "run", turnId: "turn-1" }

  test("run once [ID-10] [D6]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside, NAMELESS)])
    const results = await during(clock, Promise.all([1, 2, 3].map(() => invoke.call(IN_TURN))))
    expect(new Set(results.map((one) => one.operation_id)).size).toBe(1)
    expect(outside.payments).toHaveLength(1)
  })

  test("run as often as there are where the application says so; repeats of the turn do not [ID-10] [D6]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside, NAMELESS)])
    const turn = (turnId: string) =>
      during(
        clock,
        Promise.all([1, 2, 3].map(() => invoke.call({ ...IN_TURN, turnId, identicalCalls: "each" as const }))),
      )
    const results = await turn("turn-1")
    expect(new Set(results.map((one) => one.operation_id)).size).toBe(3)
    expect(outside.payments).toHaveLength(3)
    const again = await turn("turn-1")
    expect(again.map((one) => one.operation_id).toSorted()).toEqual(results.map((one) => one.operation_id).toSorted())
    expect(outside.payments).toHaveLength(3)
    // One that follows is not parallel: it names the first.
    const follows = await invoke.call({ ...IN_TURN, turnId: "turn-2", identicalCalls: "each" })
    expect(results.map((one) => one.operation_id)).toContain(follows.operation_id)
    expect(outside.payments).toHaveLength(3)
  })

  test("a call made again after its promise ended joins its own action, not a new one [ID-10] [D7]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside, NAMELESS)])
    const each = { ...IN_TURN, identicalCalls: "each" as const, wait: 0 }
    outside.script = ["hang", "hang"]
    const [one, two] = await Promise.all([invoke.call(each), invoke.call(each)])
    const again = await invoke.call(each)
    expect([one?.operation_id, two?.operation_id]).toContain(again.operation_id)
    await clock.idle()
    expect(outside.requests).toHaveLength(2)
    outside.release()
  })

  test("cannot be several where an identity or a key names the action, or no turn is given [ID-10]", async () => {
    const { open, outside } = setting()
    const named = await open([payTool(outside)])
    const each = { ...IN_TURN, identicalCalls: "each" as const }
    expect((await refusal(named.call(each))).detail).toMatchObject({ field: "identicalCalls" })
    const nameless = await open([payTool(outside, NAMELESS)])
    expect((await refusal(nameless.call({ ...each, idempotencyKey: "k" }))).code).toBe("invalid_request")
    const { turnId: _turn, ...rest } = each
    expect((await refusal(nameless.call(rest))).message).toContain("turnId")
    expect(outside.requests).toHaveLength(0)
  })
})
