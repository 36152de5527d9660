// Hunts: a timeout read as failure, a retry without evidence, an outcome nobody proved.
import { describe, expect, test } from "vitest"
import { mailTool, Outside, payTool } from "./outside.ts"
import { during, MINUTE, row, SECOND, world } from "./world.ts"

const BILL = { invoice: "84721", amount: 50_000 }

describe("a lost acknowledgement", () => {
  test("an applied call whose answer is lost is reconciled, never repeated [RC-1] [RC-2] [ST-2]", async () => {
    const { clock, open } = world()
    const outside = new Outside(clock)
    const invoke = await open([payTool(outside)])
    outside.script = ["lose_answer"]
    const result = await during(clock, invoke.run("pay", BILL))
    expect(result).toMatchObject({
      status: "reconciled",
      final_outcome: "already_succeeded",
      retry: "blocked",
      ok: true,
      cause: "operation",
    })
    expect(outside.payments).toHaveLength(1)
    expect(outside.requests).toHaveLength(1)
  })

  test("a call that never arrived is proved, retried and applied once [RC-4] [RC-5] [RP-1]", async () => {
    const { clock, open } = world()
    const outside = new Outside(clock)
    const invoke = await open([payTool(outside)])
    outside.script = ["lose_request"]
    const started = clock.wall()
    const result = await during(clock, invoke.run("pay", BILL, { wait: "1h" }))
    expect(result).toMatchObject({ status: "succeeded", attempt: 2 })
    expect(outside.payments).toHaveLength(1)
    // Two looks, the first no earlier than Q + V after the attempt ended.
    expect(clock.wall() - started).toBeGreaterThanOrEqual(70 * SECOND)
    expect(outside.lookups).toBeGreaterThanOrEqual(2)
  })

  test("nothing is dispatched while looks are blind inside the settle window [RC-5] [R6]", async () => {
    const { clock, open } = world()
    const outside = new Outside(clock)
    outside.script = ["lose_answer"]
    outside.lookup = "blind"
    const invoke = await open([payTool(outside)])
    const first = await invoke.run("pay", BILL, { wait: 0 })
    await clock.advance(69 * SECOND)
    expect(outside.requests).toHaveLength(1)
    outside.lookup = "answer"
    const result = await during(clock, invoke.wait(first.operation_id, { wait: "1h" }))
    expect(result.ok).toBe(true)
    expect(outside.payments).toHaveLength(1)
  })

  test("a look that is not answered is no negative and spends no budget [RC-8] [R29]", async () => {
    const { clock, open } = world()
    const outside = new Outside(clock)
    outside.script = ["lose_answer"]
    outside.lookup = "fail"
    const invoke = await open([payTool(outside)], { poll_ms: MINUTE })
    const { operation_id } = await invoke.run("pay", BILL, { wait: 0 })
    await clock.advance(10 * MINUTE)
    const waiting = await row(invoke, operation_id)
    expect(waiting.state).toBe("unknown")
    expect(waiting.probes.answered).toBe(0)
    expect(outside.lookups).toBeGreaterThanOrEqual(5)
    outside.lookup = "answer"
    await invoke.operator({ name: "ada" }).reconcile(operation_id)
    await clock.idle()
    expect(await invoke.wait(operation_id, { wait: 0 })).toMatchObject({ ok: true, final_outcome: "already_succeeded" })
    expect(outside.requests).toHaveLength(1)
  })

  test("an effect that nobody can look up waits for a person, at once [RP-7] [RC-8]", async () => {
    const { clock, open } = world()
    const outside = new Outside(clock)
    outside.script = ["lose_answer"]
    const invoke = await open([mailTool(outside)], { poll_ms: MINUTE })
    const result = await during(clock, invoke.run("mail", BILL), MINUTE)
    expect(result).toMatchObject({ status: "needs_review", final_outcome: "unknown", retry: "blocked", exit: 3 })
    await clock.advance(10 * MINUTE)
    expect(outside.requests).toHaveLength(1)
  })

  test("a tool that returns an answer the rule does not accept is unknown, not succeeded [ST-2] [R3]", async () => {
    const { clock, open } = world()
    const outside = new Outside(clock)
    const invoke = await open([payTool(outside)])
    outside.script = ["reject"]
    const rejected = await during(clock, invoke.run("pay", BILL))
    expect(rejected).toMatchObject({ status: "failed", final_outcome: "failed", decision: "replan" })
    expect(outside.payments).toHaveLength(0)
  })

  test("a refusal that may be tried again is tried again, a bounded number of times [RP-1] [ST-7]", async () => {
    const { clock, open } = world()
    const outside = new Outside(clock)
    outside.script = ["busy", "busy", "busy", "busy", "busy"]
    const invoke = await open([payTool(outside)])
    const result = await during(clock, invoke.run("pay", BILL, { wait: "24h" }))
    expect(result).toMatchObject({ status: "not_applied", final_outcome: "not_executed", retry: "after_replan" })
    expect(outside.requests).toHaveLength(3)
    expect(outside.payments).toHaveLength(0)
  })
})
