// Hunts: a tombstone read as the original, a fence that blocks its own retry, a name that can be freed again taken for proof (R13).
import { absent, collided, fenced, found, unsure } from "@invokejs/engine"
import type { ManualClock } from "@invokejs/testkit"
import { describe, expect, test } from "vitest"
import { BILL, LOOKUP, Outside, payTool, type About, type Bill, type Over } from "./outside.ts"
import { during, MINUTE, reaches, row, SECOND, world, type World } from "./world.ts"

interface Named {
  readonly kind: "payment" | "tombstone" | "stranger"
  readonly marker?: string
  readonly operation_id?: string
}

/** A store of names made from provider keys: whoever comes second is told who holds the name. */
class Names {
  readonly held = new Map<string, Named>()
  readonly fences: string[] = []

  /** null: it was free, and is taken now. */
  claim(name: string, holder: Named): Named | null {
    const known = this.held.get(name)
    if (known) return known
    this.held.set(name, holder)
    return null
  }
}

const PROVED = { date: "2026-01-01", against: "the store of this file" }

interface Place {
  readonly clock: ManualClock
  readonly open: World["open"]
  readonly outside: Outside
  readonly names: Names
}

function place(): Place {
  const { clock, open } = world()
  return { clock, open, outside: new Outside(clock), names: new Names() }
}

function setting(
  fenceContract: object = { kind: "tombstone", permanent: true, proved: PROVED },
  over: Over = {},
  { clock, open, outside, names }: Place = place(),
  onTheWay: (answer: unknown) => unknown = (answer) => answer,
) {
  const paid = (bill: Bill, about: About, fault: "lose_answer" | "lose_request" | "answer") => {
    if (fault === "lose_request") throw new Error("ECONNRESET")
    const holder = names.claim(about.key, { kind: "payment", operation_id: about.operation_id })
    if (holder && holder.kind !== "payment") throw new Error("the name is taken")
    if (!holder) outside.apply(bill, about)
    if (fault === "lose_answer") throw new Error("ECONNRESET")
    return { ok: true }
  }
  const objectOf = (name: string, one: Named) => ({
    id: name,
    state: {
      invoice: one.kind === "stranger" ? "other" : BILL.invoice,
      amount: BILL.amount,
      paid: one.kind === "payment",
    },
    ...(one.operation_id === undefined ? {} : { operationId: one.operation_id }),
    ...(one.marker === undefined ? {} : { marker: one.marker }),
  })
  const tool = payTool(outside, {
    contract: {
      lookup: { ...LOOKUP, maxExecution: "10m" },
      key: { sentAs: "body:id", replaysErrors: false },
      fence: fenceContract,
    },
    probe: ({ providerKeys }: { providerKeys: readonly string[] }) => {
      outside.lookups += 1
      const objects = providerKeys.flatMap((key) => {
        const one = names.held.get(key)
        return one ? [objectOf(key, one)] : []
      })
      return objects.length === 0 ? absent({ complete: true }) : found(objects, { complete: true })
    },
    fence: ({ marker, providerKeys }: { marker: string; providerKeys: readonly string[] }) => {
      const name = providerKeys.at(-1) ?? ""
      names.fences.push(marker)
      const holder = names.claim(name, { kind: "tombstone", marker })
      return onTheWay(holder ? collided(objectOf(name, holder)) : fenced())
    },
    ...over,
  })
  return { clock, open, outside, names, paid, tool }
}

describe("a tombstone fence", () => {
  test("that wins settles at once that nothing was applied; the next attempt uses the next generation [RC-6] [R13]", async () => {
    const { clock, open, outside, names, paid, tool } = setting()
    const invoke = await open([tool])
    outside.script = [(bill, about) => paid(bill, about, "lose_request"), (bill, about) => paid(bill, about, "answer")]
    const result = await during(clock, invoke.call({ tool: "pay", params: BILL, wait: "5m" }))
    // Q is ten minutes here: without the fence this would have taken longer than that.
    expect(result).toMatchObject({ status: "succeeded", attempt: 2 })
    const operation = await row(invoke, result.operation_id)
    expect(operation.attempts).toMatchObject([
      { status: "disproved", generation: 0, reason: { code: "fenced" } },
      { status: "acknowledged", generation: 1 },
    ])
    expect(operation.attempts[0]?.provider_key).not.toBe(operation.attempts[1]?.provider_key)
    expect(names.fences).toHaveLength(1)
    expect(outside.payments).toHaveLength(1)
  })

  test("that collides with the original confirms it [RC-6] [R13]", async () => {
    const { clock, open, outside, paid, tool } = setting()
    const invoke = await open([tool])
    outside.script = [(bill, about) => paid(bill, about, "lose_answer")]
    const result = await during(clock, invoke.call({ tool: "pay", params: BILL, wait: "5m" }))
    expect(result).toMatchObject({ status: "reconciled", cause: "operation", attempt: 1 })
    expect(outside.payments).toHaveLength(1)
  })

  test("that collides with our own tombstone is not applied, and no success [R13]", async () => {
    const made = setting()
    const { clock, open, outside, names, paid } = made
    // The first fence wins at the provider, and the engine never hears of it.
    let lost = true
    const { tool } = setting(undefined, {}, made, (answer) => {
      if (!lost) return answer
      lost = false
      throw new Error("ECONNRESET")
    })
    const invoke = await open([tool])
    outside.script = [(bill, about) => paid(bill, about, "lose_request"), (bill, about) => paid(bill, about, "answer")]
    const result = await during(clock, invoke.call({ tool: "pay", params: BILL, wait: "20m" }))
    expect(result).toMatchObject({ status: "succeeded", attempt: 2 })
    expect(names.fences.length).toBeGreaterThan(1)
    expect(outside.payments).toHaveLength(1)
  })

  test("that collides with a stranger's object is diverged: a person decides, nothing is sent [R13]", async () => {
    const { clock, open, outside, names, tool } = setting()
    const invoke = await open([tool], { poll_ms: 10 * SECOND })
    outside.script = [
      (_bill, about) => {
        names.held.set(about.key, { kind: "stranger" })
        throw new Error("ECONNRESET")
      },
    ]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    expect(await reaches(clock, invoke, operation_id, "needs_review")).toMatchObject({ verdict: "diverged" })
    expect(outside.requests).toHaveLength(1)
    expect(outside.payments).toHaveLength(0)
  })

  test("is not written while the attempt may still send [R6] [R13]", async () => {
    const { clock, open, outside, names, tool } = setting()
    const invoke = await open([tool])
    outside.script = ["hang_first"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(50 * SECOND)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "unknown" })
    expect(names.fences).toHaveLength(0)
    outside.release()
    await reaches(clock, invoke, operation_id, "succeeded")
  })

  test("where the original comes after it loses, whenever that is [R13] [RC-6]", async () => {
    const { clock, open, outside, names, paid, tool } = setting()
    const invoke = await open([tool])
    let late: () => void = () => undefined
    outside.script = [
      (bill, about) => {
        late = () => void names.claim(about.key, { kind: "payment", operation_id: about.operation_id })
        void bill
        throw new Error("ECONNRESET")
      },
      (bill, about) => paid(bill, about, "answer"),
    ]
    await during(clock, invoke.call({ tool: "pay", params: BILL, wait: "5m" }))
    late()
    expect([...names.held.values()].map((one) => one.kind).toSorted()).toEqual(["payment", "tombstone"])
    expect(outside.payments).toHaveLength(1)
  })

  for (const [what, contract] of [
    ["that is not proved", { kind: "tombstone", permanent: true }],
    ["whose name can be freed again", { kind: "tombstone", proved: PROVED }],
  ] as const) {
    test(`${what} is not used at all: only looks decide [R13] [protocol 3]`, async () => {
      const { clock, open, outside, names, paid, tool } = setting(contract)
      const invoke = await open([tool], { poll_ms: 10 * SECOND })
      outside.script = [(bill, about) => paid(bill, about, "lose_request")]
      const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
      await clock.advance(5 * MINUTE)
      expect(await row(invoke, operation_id)).toMatchObject({ state: "unknown" })
      expect(names.fences).toEqual([])
      expect(outside.requests).toHaveLength(1)
    })
  }

  test("that never answers is no proof, and keeps no look from being made [RC-8] [L1]", async () => {
    for (const fence of [() => unsure("the provider is busy"), () => Promise.reject(new Error("ECONNRESET"))]) {
      const { clock, open, outside, names, paid, tool } = setting(undefined, { fence })
      const invoke = await open([tool], { poll_ms: 10 * SECOND })
      outside.script = [(bill, about) => paid(bill, about, "lose_request")]
      const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
      await clock.advance(2 * MINUTE)
      const waiting = await row(invoke, operation_id)
      expect(waiting.state).toBe("unknown")
      // The original lands late, and is found.
      names.held.set(waiting.attempts[0]?.provider_key ?? "", { kind: "payment", operation_id })
      await reaches(clock, invoke, operation_id, "succeeded")
      expect(outside.requests).toHaveLength(1)
    }
  })
})
