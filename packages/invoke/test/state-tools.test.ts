// Hunts: a newer write undone by an older one, a success claimed for somebody else's write, a replay of what no longer holds.
import { absent, defineTool, found, type AnyTool } from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { during, MINUTE, reaches, row, SECOND, world } from "./world.ts"

type Fault = "answer" | "lose_answer" | "lose_request"

/** Customers with a tier and a version of it; it counts its writes. */
class Customers {
  readonly writes: string[] = []
  readonly tiers = new Map<string, { tier: string; version: number }>()
  script: Fault[] = []
  reachable = true

  set(customer: string, tier: string): void {
    this.writes.push(tier)
    this.tiers.set(customer, { tier, version: (this.tiers.get(customer)?.version ?? 0) + 1 })
  }

  async call(customer: string, tier: string): Promise<unknown> {
    const fault = this.script.shift() ?? "answer"
    if (fault === "lose_request") throw new Error("ECONNRESET")
    this.set(customer, tier)
    if (fault === "lose_answer") throw new Error("ECONNRESET")
    return { tier }
  }
}

function tierTool(customers: Customers, options: { exclusive?: boolean; versions?: boolean } = {}): AnyTool {
  return defineTool({
    name: "set_tier",
    safety: "write-once-checkable",
    input: z.object({ customer: z.string(), tier: z.string() }),
    identity: (p) => ({ customer: id(p.customer), tier: id(p.tier) }),
    resource: (p) => `customer:${p.customer}`,
    applied: "returned",
    contract: {
      lookup: { correlates: "state", maxExecution: "60s", visibility: "10s", spacing: "10s" },
      ...(options.exclusive ? { exclusive: true } : {}),
    },
    execute: ({ params }) => customers.call(params.customer, params.tier),
    probe: ({ params }) => {
      if (!customers.reachable) throw new Error("the provider does not answer")
      const found_ = customers.tiers.get(params.customer)
      if (!found_) return absent({ complete: true })
      const { tier, version } = found_
      return found({
        id: params.customer,
        ...(options.versions === false ? {} : { version: String(version) }),
        state: { customer: params.customer, tier },
      })
    },
    expect: (p) => ({ match: { customer: id(p.customer) }, effect: { tier: id(p.tier) } }),
  })
}

async function setting(options: { exclusive?: boolean; versions?: boolean } = {}) {
  const { clock, open, journal } = world()
  const customers = new Customers()
  customers.tiers.set("c1", { tier: "bronze", version: 1 })
  const invoke = await open([tierTool(customers, options)], { poll_ms: 5 * SECOND })
  const set = (tier: string, wait: string | number = "10m") =>
    during(clock, invoke.call({ tool: "set_tier", params: { customer: "c1", tier }, wait: wait as number }))
  return { clock, open, journal, customers, invoke, set }
}

describe("a lost answer", () => {
  test("is told as the state that holds, not as our doing [R4] [item 3]", async () => {
    const { customers, set } = await setting()
    customers.script = ["lose_answer"]
    expect(await set("gold")).toMatchObject({ status: "reconciled", cause: "state_holds", ok: true })
    expect(customers.writes).toEqual(["gold"])
  })

  test("while the resource's version is the one from before is refuted, and sent again [R27] [item 3]", async () => {
    const { customers, set } = await setting()
    customers.script = ["lose_request"]
    expect(await set("gold")).toMatchObject({ status: "succeeded", attempt: 2 })
    expect(customers.writes).toEqual(["gold"])
  })

  test("after which somebody else wrote is diverged: nothing is overwritten [R15] [item 3]", async () => {
    const { clock, customers, invoke } = await setting()
    customers.script = ["lose_answer"]
    const call = invoke.call({ tool: "set_tier", params: { customer: "c1", tier: "gold" }, wait: 0 })
    const { operation_id } = await during(clock, call)
    await clock.until(() => customers.writes.length === 1, MINUTE)
    customers.set("c1", "silver")
    const review = await reaches(clock, invoke, operation_id, "needs_review")
    expect(review).toMatchObject({ verdict: "diverged" })
    expect(customers.writes).toEqual(["gold", "silver"])
  })

  test("of a tool without versions is never refuted by what it sees [item 3]", async () => {
    const { customers, set } = await setting({ versions: false })
    customers.script = ["lose_request"]
    expect(await set("gold")).toMatchObject({ status: "needs_review", final_outcome: "drifted" })
    expect(customers.writes).toEqual([])
  })

  test("of an exclusive writer is refuted without versions [R15]", async () => {
    const { customers, set } = await setting({ versions: false, exclusive: true })
    customers.script = ["lose_request"]
    expect(await set("gold")).toMatchObject({ status: "succeeded", attempt: 2 })
    expect(customers.writes).toEqual(["gold"])
  })

  test("of an exclusive writer whose later write was admitted is not sent again: that would undo it [R15]", async () => {
    const { clock, customers, invoke, set } = await setting({ exclusive: true })
    customers.script = ["lose_request"]
    const gold = await set("gold", 0)
    await clock.until(async () => (await row(invoke, gold.operation_id)).state === "unknown", MINUTE)
    expect(await set("silver")).toMatchObject({ status: "succeeded" })
    const done = await reaches(clock, invoke, gold.operation_id, "not_applied")
    expect(done).toMatchObject({ reason: { code: "overwritten" } })
    expect(customers.writes).toEqual(["silver"])
  })
})

describe("a write that waits for its first look", () => {
  test("is not sent after a later write that is in place by then [R15]", async () => {
    const { clock, customers, invoke, set } = await setting()
    customers.reachable = false
    const gold = await set("gold", 0)
    await clock.advance(5 * SECOND)
    expect(await row(invoke, gold.operation_id)).toMatchObject({ state: "ready" })
    // Another process, with a look of its own, was quicker.
    customers.reachable = true
    const silver = await set("silver")
    expect(silver.ok).toBe(true)
    await clock.advance(MINUTE)
    const after = await row(invoke, gold.operation_id)
    // Whichever went first, the last admitted write is what holds.
    expect(customers.tiers.get("c1")?.tier).toBe("silver")
    expect(["succeeded", "refused"]).toContain(after.state)
  })
})

describe("a replay", () => {
  test("is given only while the operation is the last admitted write of its resource [item 3]", async () => {
    const { customers, set } = await setting()
    const january = await set("gold")
    expect(await set("gold")).toMatchObject({ status: "replayed", operation_id: january.operation_id })
    await set("silver")
    const march = await set("gold")
    expect(march).toMatchObject({ status: "succeeded" })
    expect(march.operation_id).not.toBe(january.operation_id)
    expect(customers.writes).toEqual(["gold", "silver", "gold"])
    expect(customers.tiers.get("c1")?.tier).toBe("gold")
  })

  test("of the second honest set on one customer finds no row taken [item 3]", async () => {
    const { customers, set } = await setting()
    customers.script = ["lose_answer", "lose_answer", "lose_answer"]
    expect(await set("gold")).toMatchObject({ status: "reconciled" })
    expect(await set("silver")).toMatchObject({ status: "reconciled" })
    expect(await set("gold")).toMatchObject({ status: "reconciled" })
    expect(customers.writes).toEqual(["gold", "silver", "gold"])
  })
})

describe("a state that holds already", () => {
  test("before attempt 1 is held for a person: nothing is claimed for a call that did nothing [R4] [item 16]", async () => {
    const { customers, set } = await setting()
    customers.tiers.set("c1", { tier: "gold", version: 4 })
    expect(await set("gold")).toMatchObject({ status: "held", reason: { code: "exists_already" } })
    expect(customers.writes).toEqual([])
  })
})
