// Hunts: a fact that is not on the timeline, an edit that nobody would see (AU-1, AU-2).
import { sha256, verifyChain } from "@invokejs/engine"
import type { AuditEvent, Operation } from "@invokejs/protocol"
import { describe, expect, test } from "vitest"
import { BILL, Outside, payTool } from "./outside.ts"
import { during, row, SECOND, world } from "./world.ts"

async function told() {
  const { clock, open, journal } = world()
  const outside = new Outside(clock)
  const invoke = await open([payTool(outside)])
  outside.script = ["hang"]
  const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0, agentId: "billing" })
  // The agent, told nothing, tries again.
  await clock.advance(31 * SECOND)
  const again = invoke.call({ tool: "pay", params: BILL, agentId: "billing" })
  const result = await during(clock, again)
  await clock.advance(2 * SECOND)
  outside.release()
  await clock.idle()
  return { clock, open, journal, outside, invoke, operation_id, result }
}

describe("the timeline of one operation", () => {
  test("reads as the article's: requested, submitted, timed out, unknown, reconciliation, result, state, duplicate blocked [AU-1]", async () => {
    const { invoke, operation_id, result, outside } = await told()
    expect(result).toMatchObject({ status: "reconciled", final_outcome: "already_succeeded", retry: "blocked" })
    const events = await invoke.timeline(operation_id)
    const order = [
      "requested",
      "submitted",
      "timed_out",
      "unknown",
      "reconciliation_started",
      "provider_result",
      "state_updated",
    ]
    const types = events.map((one) => one.type)
    expect(types.filter((one) => order.includes(one))).toEqual(order)
    expect(types).toContain("duplicate_retry_blocked")
    // The promise that settled after all is on it as well.
    expect(types.at(-1)).toBe("acknowledged")
    expect(outside.requests).toHaveLength(1)
  })

  test("names who caused each fact, from where to where, and holds no model's words [AU-1]", async () => {
    const { invoke, operation_id } = await told()
    const events = await invoke.timeline(operation_id)
    const by = Object.fromEntries(events.map((one) => [one.type, one.actor.split(":")[0]]))
    expect(by).toMatchObject({
      requested: "agent",
      submitted: "worker",
      timed_out: "engine",
      provider_result: "engine",
    })
    expect(events.find((one) => one.type === "requested")?.data).toMatchObject({
      tool: "pay",
      identity: { invoice: "84721" },
    })
    const states = events.filter((one) => one.to !== one.from).map((one) => one.to)
    expect(states).toEqual(["ready", "dispatched", "unknown", "succeeded"])
    expect(events.map((one) => one.seq)).toEqual(events.map((_, n) => n + 1))
  })

  test("can be followed across operations, from a cursor on [AU-1]", async () => {
    const { invoke, operation_id } = await told()
    const all: string[] = []
    let cursor: string | null = null
    for (;;) {
      const page = await invoke.events(cursor, 3)
      if (page.events.length === 0) break
      all.push(...page.events.map((one) => one.type))
      cursor = page.cursor
    }
    expect(all).toHaveLength((await invoke.timeline(operation_id)).length)
  })
})

describe("the chain", () => {
  const faultsOf = (operation: Operation, events: readonly AuditEvent[]) =>
    verifyChain(operation, events, sha256).map((one) => one.fault)

  test("of an untouched timeline verifies [AU-2]", async () => {
    const { invoke, operation_id } = await told()
    expect(faultsOf(await row(invoke, operation_id), await invoke.timeline(operation_id))).toEqual([])
  })

  test("shows every edit, drop, swap, insertion and truncation [AU-2]", async () => {
    const { invoke, operation_id } = await told()
    const operation = await row(invoke, operation_id)
    const events = await invoke.timeline(operation_id)
    const found = (changed: readonly AuditEvent[]) => faultsOf(operation, changed)
    for (const [n, event] of events.entries()) {
      const other = (change: Partial<AuditEvent>) => events.with(n, { ...event, ...change })
      expect(found(events.toSpliced(n, 1)).length, `drop ${n}`).toBeGreaterThan(0)
      expect(found(events.slice(0, n)), `truncate at ${n}`).toContain("head_differs")
      expect(found(other({ actor: "operator:mallory" })), `actor of ${n}`).toContain("edited")
      expect(found(other({ at: event.at + 1 })), `time of ${n}`).toContain("edited")
      expect(found(other({ to: "failed" })), `state of ${n}`).toContain("edited")
      expect(found(other({ data: { ...event.data, added: 1 } })), `data of ${n}`).toContain("data_edited")
      if (n > 0) {
        const swapped = events.with(n, events[n - 1] as AuditEvent).with(n - 1, event)
        expect(found(swapped).length, `swap ${n}`).toBeGreaterThan(0)
      }
    }
    expect(found([...events, events.at(-1) as AuditEvent]).length).toBeGreaterThan(0)
    expect(faultsOf({ ...operation, head_hash: "0".repeat(64) }, events)).toContain("head_differs")
  })

  test("stays whole when payloads are purged, and that they were is on it [AU-2] [R35]", async () => {
    const { clock, open } = world()
    const outside = new Outside(clock)
    const invoke = await open([payTool(outside)])
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL })
    await clock.advance(SECOND)
    await invoke.operator({ name: "ada" }).purge({ before: clock.wall() })
    const events = await invoke.timeline(operation_id)
    expect(events.at(-1)?.type).toBe("payload_purged")
    expect(faultsOf(await row(invoke, operation_id), events)).toEqual([])
  })
})
