// Hunts: a restart that runs again what was sent, or forgets what was not.
import { id } from "@invokejs/protocol"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { BILL, mailTool, Outside, payTool, type Bill } from "./outside.ts"
import { during, HOUR, MINUTE, reaches, row, SECOND, world } from "./world.ts"

function setting() {
  const made = world()
  return { ...made, outside: new Outside(made.clock) }
}

describe("a restart with an operation that is", () => {
  test("ready goes on where its backoff stood, under the same provider key [CS-5] [RP-2]", async () => {
    const { clock, open, outside } = setting()
    const before = await open([payTool(outside)])
    outside.script = ["busy"]
    const { operation_id } = await before.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    await before.close()
    const after = await open([payTool(outside)])
    await reaches(clock, after, operation_id, "succeeded")
    expect(outside.requests).toHaveLength(2)
    expect(outside.payments).toHaveLength(1)
  })

  test("ready and past its deadline expires, and nothing is sent [ST-7] [R29]", async () => {
    const { clock, open, outside } = setting()
    const before = await open([payTool(outside, { deadline: "1h" })])
    outside.script = ["busy"]
    const { operation_id } = await before.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    await before.close()
    clock.stepWall(2 * HOUR)
    const after = await open([payTool(outside, { deadline: "1h" })])
    expect(await reaches(clock, after, operation_id, "not_applied")).toMatchObject({ reason: { code: "deadline" } })
    expect(outside.requests).toHaveLength(1)
  })

  test("unknown is looked up with no caller attached, and settles [RC-1] [L1] [F7]", async () => {
    const { clock, open, outside } = setting()
    const before = await open([payTool(outside)])
    outside.script = ["lose_answer"]
    const { operation_id } = await before.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    await before.close()
    clock.stepWall(HOUR)
    const after = await open([payTool(outside)])
    await reaches(clock, after, operation_id, "succeeded")
    expect(outside.requests).toHaveLength(1)
  })

  test("dispatched under a lease that lives is left alone; lapsed, it is probed [CS-3] [CS-5] [C11]", async () => {
    const { clock, open, outside } = setting()
    const before = await open([payTool(outside)])
    outside.script = ["hang"]
    const { operation_id } = await before.call({ tool: "pay", params: BILL, wait: 0 })
    await before.close({ drain: 0 })
    const after = await open([payTool(outside)])
    await clock.advance(5 * SECOND)
    expect(await row(after, operation_id)).toMatchObject({ state: "dispatched" })
    expect(await reaches(clock, after, operation_id, "succeeded")).toMatchObject({ cause: "operation" })
    expect(outside.requests).toHaveLength(1)
    outside.release()
  })

  test("dispatched and irreversible goes to a person, at once when it is known to be lost [RP-7] [A4]", async () => {
    const { clock, open, outside } = setting()
    const before = await open([mailTool(outside)])
    outside.script = ["hang"]
    const { operation_id } = await before.call({ tool: "mail", params: BILL, wait: 0 })
    await before.close({ drain: 0 })
    const after = await open([mailTool(outside)])
    await reaches(clock, after, operation_id, "needs_review")
    await clock.advance(5 * MINUTE)
    expect(outside.requests).toHaveLength(1)
    outside.release()
  })

  test("held is judged afresh when its holder ends in the new process [item 8]", async () => {
    const { clock, open, outside } = setting()
    const intent = (p: Bill) => ({ invoice: id(p.invoice) })
    const tool = payTool(outside, { identity: undefined, intent })
    const before = await open([tool])
    outside.script = ["lose_request"]
    const first = await before.call({ tool: "pay", params: BILL, idempotencyKey: "a", wait: 0 })
    const held = await before.call({ tool: "pay", params: BILL, idempotencyKey: "b", wait: 0 })
    expect(held.status).toBe("held")
    await before.close()
    const after = await open([tool])
    await reaches(clock, after, first.operation_id, "succeeded")
    expect(await reaches(clock, after, held.operation_id, "refused")).toMatchObject({ held_by: first.operation_id })
    expect(outside.payments).toHaveLength(1)
  })

  test("accepted goes on waiting for its settlement [ST-6]", async () => {
    const { clock, open, outside } = setting()
    const before = await open([payTool(outside)])
    outside.script = ["accept"]
    const { operation_id, status } = await before.call({ tool: "pay", params: BILL, wait: 0 })
    expect(status).toBe("in_progress")
    await clock.idle()
    await before.close()
    const after = await open([payTool(outside)])
    await clock.advance(MINUTE)
    expect(await row(after, operation_id)).toMatchObject({ state: "accepted" })
    outside.apply(BILL, { key: "", operation_id })
    await reaches(clock, after, operation_id, "succeeded")
    expect(outside.requests).toHaveLength(1)
  })
})

describe("a process without the tool", () => {
  test("leaves its operations alone, says so, and the one with it goes on [L1] [R29]", async () => {
    const { clock, open, outside } = setting()
    const before = await open([payTool(outside)])
    outside.script = ["lose_answer"]
    const { operation_id } = await before.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    await before.close()
    const without = await open([])
    await clock.advance(MINUTE)
    expect(await without.wait(operation_id, { wait: 0 })).toMatchObject({
      status: "unknown",
      reason: { code: "waiting_for_tool" },
    })
    expect(outside.lookups).toBe(0)
    const withIt = await open([payTool(outside)])
    await reaches(clock, withIt, operation_id, "succeeded")
  })

  test("raises an incident where something waits to be sent and no live process can [R29] [L1]", async () => {
    const { clock, open, outside, journal } = setting()
    const before = await open([payTool(outside)])
    outside.script = ["busy"]
    const { operation_id } = await before.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    await before.close()
    const without = await open([])
    await clock.advance(MINUTE)
    expect(await without.wait(operation_id, { wait: 0 })).toMatchObject({ reason: { code: "waiting_for_tool" } })
    const reader = await journal()
    expect(await reader.incidents({ operation_id })).toMatchObject([{ kind: "no_worker" }])
    await reader.close()
    const withIt = await open([payTool(outside)])
    await reaches(clock, withIt, operation_id, "succeeded")
    expect(outside.payments).toHaveLength(1)
  })
})

describe("stored parameters", () => {
  test("that today's schema refuses start no tool, and no invented outcome [S3]", async () => {
    const { clock, open, outside } = setting()
    const before = await open([payTool(outside)])
    outside.script = ["busy"]
    const { operation_id } = await before.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    await before.close()
    const stricter = z.object({ invoice: z.string(), amount: z.int().max(1) })
    const after = await open([payTool(outside, { input: stricter })])
    const done = await reaches(clock, after, operation_id, "failed")
    expect(done.reason).toMatchObject({ code: "params_unreadable" })
    expect(outside.requests).toHaveLength(1)
  })

  test("of an unknown one that today's schema refuses stay unknown: the look was not made [S3] [RC-8]", async () => {
    const { clock, open, outside } = setting()
    const before = await open([payTool(outside)])
    outside.script = ["lose_answer"]
    const { operation_id } = await before.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    await before.close()
    const input = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => {
          throw new Error("the schema is broken")
        },
      },
    }
    const after = await open([payTool(outside, { input })])
    await clock.advance(MINUTE)
    const unknown = await row(after, operation_id)
    expect(unknown.state).toBe("unknown")
    expect(unknown.probes.answered).toBe(0)
    await during(clock, after.close())
  })
})
