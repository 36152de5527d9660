// Hunts: an acceptance read as a settlement, or refuted into a second dispatch.
import { found, notApplied } from "@invokejs/engine"
import { describe, expect, test } from "vitest"
import { BILL, mailTool, Outside, payTool } from "./outside.ts"
import { during, HOUR, MINUTE, reaches, refusal, row, SECOND, world } from "./world.ts"

async function setting(over: Parameters<typeof payTool>[1] = {}) {
  const { clock, open } = world()
  const outside = new Outside(clock)
  const invoke = await open(
    [payTool(outside, over), mailTool(outside, over["settleBy"] ? { settleBy: over["settleBy"] } : {})],
    {
      poll_ms: 10 * SECOND,
    },
  )
  outside.script = ["accept"]
  return { clock, outside, invoke, operator: invoke.operator({ name: "ada" }) }
}

describe("an accepted operation", () => {
  test("is pending, and waited for; its settlement is found by looking [ST-6]", async () => {
    const { clock, outside, invoke } = await setting()
    const told = await during(clock, invoke.call({ tool: "pay", params: BILL, wait: "1s" }))
    expect(told).toMatchObject({ status: "accepted", final_outcome: "pending", decision: "wait", http: 202, ok: false })
    outside.apply(BILL, { key: "", operation_id: told.operation_id })
    await reaches(clock, invoke, told.operation_id, "succeeded")
    expect(await invoke.call({ tool: "pay", params: BILL })).toMatchObject({ status: "reconciled", cause: "operation" })
    expect(outside.requests).toHaveLength(1)
  })

  test("is not refuted by any number of silent looks, and never sent again [item 5] [R10]", async () => {
    const { clock, outside, invoke } = await setting()
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(20 * MINUTE)
    const waiting = await row(invoke, operation_id)
    expect(waiting).toMatchObject({ state: "accepted" })
    expect(waiting.probes.answered).toBeGreaterThan(3)
    expect(await invoke.call({ tool: "pay", params: BILL, wait: 0 })).toMatchObject({ status: "accepted" })
    expect(outside.requests).toHaveLength(1)
  })

  test("that never settles is looked up once more at settleBy, and then goes to a person as accepted [item 5] [ST-7]", async () => {
    const { clock, outside, invoke, operator } = await setting({ settleBy: "2h" })
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    clock.stepWall(2 * HOUR)
    const review = await reaches(clock, invoke, operation_id, "needs_review")
    expect(review.reason).toMatchObject({ code: "accepted" })
    expect(outside.lookups).toBeGreaterThan(0)
    expect(await invoke.wait(operation_id, { wait: 0 })).toMatchObject({
      status: "needs_review",
      final_outcome: "pending",
    })
    const not = operator.resolve(operation_id, { to: "not_applied", reason: "r", evidence: { x: 1 } })
    expect((await refusal(not)).code).toBe("illegal_transition")
    expect(await operator.resolve(operation_id, { to: "undone", reason: "bounced", evidence: { x: 1 } })).toMatchObject(
      {
        status: "undone",
        final_outcome: "undone",
      },
    )
    expect(outside.requests).toHaveLength(1)
  })

  test("that nobody can look up goes to a person at settleBy [ST-7]", async () => {
    const { clock, outside, invoke } = await setting({ settleBy: "2h" })
    const { operation_id } = await invoke.call({ tool: "mail", params: BILL, wait: 0 })
    await clock.idle()
    expect(await row(invoke, operation_id)).toMatchObject({ state: "accepted" })
    clock.stepWall(2 * HOUR)
    await reaches(clock, invoke, operation_id, "needs_review")
    expect(outside.requests).toHaveLength(1)
  })

  test("that a person finds settled succeeds, and one that bounced is undone and may be superseded [R10] [HU-3]", async () => {
    const { outside, invoke, operator } = await setting()
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await new Promise((resolve) => setImmediate(resolve))
    await operator.resolve(operation_id, { to: "undone", reason: "the bank sent it back", evidence: { x: 1 } })
    const undone = await invoke.call({ tool: "pay", params: BILL })
    expect(undone).toMatchObject({ status: "undone", decision: "replan", retry: "after_replan" })
    const { version } = await row(invoke, operation_id)
    const next = await operator.supersede(operation_id, { params: BILL, expectedVersion: version, wait: 1_000 })
    expect(next).toMatchObject({ ok: true })
    expect(outside.payments).toHaveLength(1)
  })

  test("about which the probe says that it was not applied is still no ground to send again [item 5]", async () => {
    const { clock, outside, invoke } = await setting({ probe: () => notApplied("the provider cancelled it") })
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(10 * MINUTE)
    expect(["accepted", "needs_review"]).toContain((await row(invoke, operation_id)).state)
    expect(outside.requests).toHaveLength(1)
  })

  test("whose object is found half done stays accepted until it is done [item 1]", async () => {
    let paid = false
    const probe = ({ operationId }: { operationId: string }) =>
      found({ id: "pay_1", operationId, state: { invoice: BILL.invoice, amount: BILL.amount, paid } })
    const { clock, outside, invoke } = await setting({ probe })
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(5 * MINUTE)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "accepted" })
    paid = true
    await reaches(clock, invoke, operation_id, "succeeded")
    expect(outside.requests).toHaveLength(1)
  })
})
