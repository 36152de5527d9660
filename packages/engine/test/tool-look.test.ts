// Hunts a look that says more than was seen: a silence that counts as absence, an object without cause, a time in the wrong unit,
// an expectation that anything fulfils.

import {
  id,
  InvokeError,
  judge,
  literal,
  minor,
  type Candidate,
  type Evidence,
  type Operation,
} from "@invokejs/protocol"
import { describe, expect, test } from "vitest"
import {
  absent,
  asGiven,
  collided,
  compileTool,
  defineTool,
  fenced,
  found,
  guardTool,
  notApplied,
  tombstoneGeneration,
  tombstoneMarker,
  unsure,
} from "./tool-exports.ts"
import type { CompiledTool, FenceAnswer, ProbeAnswer, ProbeContext } from "./tool-exports.ts"

const on: ProbeContext = {
  operationId: "op-1",
  providerKeys: ["key-1"],
  firstDispatchedAt: new Date(1_780_000_000_000),
  signal: new AbortController().signal,
  fetch: () => Promise.reject(new Error("no network")),
}

interface Params {
  readonly invoice_id: string
  readonly amount: number
}

const params: Params = { invoice_id: "84721", amount: 50_000 }

function guarded(probe: (p: Params) => unknown, options: object = {}): CompiledTool {
  const base = { name: "charge", identity: (p: Params) => ({ invoice: id(p.invoice_id) }), applied: "returned", probe }
  return compileTool(guardTool((p: Params) => p, { ...base, ...options } as never))
}

function defined(options: object = {}): CompiledTool {
  const base = {
    name: "charge",
    safety: "write-once-checkable",
    input: asGiven<Params>(),
    applied: "returned",
    contract: { lookup: { correlates: "operation" } },
    execute: () => null,
    probe: () => absent({ complete: true }),
    expect: () => ({ effect: { paid: true } }),
  }
  return compileTool(defineTool({ ...base, ...options } as never))
}

async function look(tool: CompiledTool): Promise<ProbeAnswer> {
  if (!tool.probe) throw new Error("the tool has no probe")
  return tool.probe(params, on)
}

async function fence(answer: unknown): Promise<FenceAnswer> {
  const contract = { lookup: { correlates: "operation" }, fence: { kind: "tombstone" } }
  const tool = defined({ fence: () => answer, contract })
  if (!tool.fence) throw new Error("the tool has no fence")
  return tool.fence(params, { ...on, marker: tombstoneMarker(on.operationId, 3) })
}

describe("what a probe says", () => {
  test("one object, several, none: with everything that can be its cause [AU-12]", async () => {
    const whole = {
      id: 7,
      operationId: "op-1",
      providerKey: "key-1",
      createdAt: "2026-05-31T10:00:00+02:00",
      account: "acct_1",
      kind: "charge",
      version: "v2",
      final: true,
      state: { at: new Date(0) },
    }
    expect(await look(guarded(() => found(whole)))).toEqual({
      kind: "found",
      candidates: [
        {
          object_id: "7",
          operation_id: "op-1",
          provider_key: "key-1",
          created_at: Date.UTC(2026, 4, 31, 8),
          account: "acct_1",
          kind: "charge",
          version: "v2",
          final: true,
          state: { at: "1970-01-01T00:00:00.000Z" },
        },
      ],
      complete: false,
      search: false,
    })
    const two = await look(guarded(() => found([whole, { ...whole, id: "8" }], { complete: true })))
    expect(two).toMatchObject({ complete: true, candidates: [{ object_id: "7" }, { object_id: "8" }] })
    expect(await look(guarded(() => found([])))).toEqual({ kind: "absent", complete: false, search: false })
    expect(await look(guarded(() => absent({ complete: true })))).toEqual({
      kind: "absent",
      complete: true,
      search: false,
    })
    expect(await look(guarded(() => unsure("three pages are missing")))).toEqual({
      kind: "unsure",
      reason: "three pages are missing",
    })
    expect(await look(guarded(() => notApplied("card declined", { permanent: true })))).toEqual({
      kind: "not_applied",
      reason: "card declined",
      permanent: true,
    })
    expect(await look(guarded(() => notApplied("busy")))).toMatchObject({ permanent: false })
  })

  test("a look is complete where the author says so, and by itself only at the resource of a state-setting tool", async () => {
    const state = { id: 1, createdAt: 1_780_000_000, state: {} }
    expect(await look(guarded(() => found(state)))).toMatchObject({ complete: false })
    expect(await look(guarded(() => found(state), { resource: () => "r" }))).toMatchObject({ complete: true })
    expect(await look(guarded(() => found(state, { complete: false }), { resource: () => "r" }))).toMatchObject({
      complete: false,
    })
    // Plain JavaScript may leave the word out or say it in another way.
    expect(await look(guarded(() => absent({} as never)))).toMatchObject({ complete: false })
    expect(await look(guarded(() => absent({ complete: "yes" } as never)))).toMatchObject({ complete: false })
  })

  test("a search is one by the look's word or by the contract's [item 17]", async () => {
    const contract = { lookup: { correlates: "operation", consistency: "search" } }
    const probe = () => absent({ complete: true })
    expect(await look(defined({ contract, probe }))).toEqual({ kind: "absent", complete: true, search: true })
    const object = { id: 1, operationId: "op-1", state: {} }
    expect(await look(defined({ contract, probe: () => found(object) }))).toMatchObject({ search: true })
    expect(await look(defined({ probe: () => found(object, { search: true }) }))).toMatchObject({ search: true })
    expect(await look(defined({ probe: () => found(object) }))).toMatchObject({ search: false })
  })

  test("an object that may be anybody's is unsure where creation must be its cause [R4]", async () => {
    const blind = { id: 1, state: {} }
    expect(await look(guarded(() => found(blind)))).toMatchObject({ kind: "unsure" })
    expect(await look(guarded(() => found([{ ...blind, createdAt: 1_780_000_000 }, blind])))).toMatchObject({
      kind: "unsure",
    })
    // An empty id in the provider's metadata is no id.
    expect(await look(guarded(() => found({ ...blind, operationId: "", providerKey: "" })))).toMatchObject({
      kind: "unsure",
    })
    const seenBefore = { contract: { lookup: { correlates: "created", creationTime: false } } }
    expect(await look(guarded(() => found(blind), seenBefore))).toMatchObject({ kind: "found" })
    expect(await look(defined({ probe: () => found(blind) }))).toMatchObject({ kind: "found" })
  })

  test("what is no word is unsure, and so is an object that cannot be read", async () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    const state = { createdAt: 1_780_000_000, state: {} }
    for (const answer of [
      undefined,
      null,
      false,
      { kind: "absent", complete: true },
      fenced(),
      found(undefined as never),
      found({ ...state, id: "" }),
      found({ ...state, id: undefined as never }),
      found({ ...state, id: 1, state: null as never }),
      found({ ...state, id: 1, state: [] }),
      found({ ...state, id: 1, state: circle }),
      found({ ...state, id: 1, state: new Map() }),
      found({ ...state, id: 1, createdAt: 12 }),
      found({ ...state, id: 1, createdAt: Number.NaN }),
      found({ ...state, id: 1, createdAt: "yesterday" }),
      found({ ...state, id: 1, createdAt: "2026-05-31T10:00:00" }),
    ]) {
      expect((await look(guarded(() => answer))).kind).toBe("unsure")
    }
  })

  test("an identity field is read under its parameter's name, only where it is equal and only one parameter has it", async () => {
    const stateOf = async (given: object, state: object) => {
      const { probe } = guarded(() => found({ id: 1, operationId: "op-1", state }))
      const answer = await probe?.({ ...params, ...given }, on)
      return answer?.kind === "found" ? answer.candidates[0]?.state : null
    }
    const equal = { invoice_id: 84_721 }
    expect(await stateOf({}, equal)).toEqual({ ...equal, invoice: 84_721 })
    expect(await stateOf({}, { invoice_id: "in_other_words" })).toEqual({ invoice_id: "in_other_words" })
    expect(await stateOf({}, { ...equal, invoice: null })).toEqual({ ...equal, invoice: null })
    expect(await stateOf({ order: "84721" }, equal)).toEqual(equal)
  })

  test("a name added for comparing is not what the caller gets; an output of its own is", async () => {
    const answerOf = async (object: { output?: unknown }) => {
      const state = { invoice_id: 84_721 }
      const answer = await guarded(() => found({ id: 1, operationId: "op-1", state, ...object })).probe?.(params, on)
      return answer?.kind === "found" ? answer.candidates[0] : null
    }
    expect(await answerOf({})).toMatchObject({ state: { invoice: 84_721 }, output: { invoice_id: 84_721 } })
    expect(await answerOf({ output: { charge: "ch_1" } })).toMatchObject({ output: { charge: "ch_1" } })
  })

  test("a probe that throws has not answered: the error comes through", async () => {
    await expect(look(guarded(() => Promise.reject(new Error("503"))))).rejects.toThrow("503")
  })

  test.each([
    ["seconds", 1_780_000_000, 1_780_000_000_000],
    ["fractions of seconds", 1_780_000_000.25, 1_780_000_000_250],
    ["milliseconds", 1_780_000_000_123, 1_780_000_000_123],
    ["a date", new Date(1_780_000_000_123), 1_780_000_000_123],
    ["a text with its zone", "2026-05-28T20:26:40.123Z", 1_780_000_000_123],
  ])("a creation time in %s is read in its unit", async (_unit, createdAt, ms) => {
    expect(await look(guarded(() => found({ id: 1, createdAt, state: {} })))).toMatchObject({
      candidates: [{ created_at: ms }],
    })
  })
})

describe("what a fence says", () => {
  const object = { id: "tomb", state: { name: "x" } }

  test("won, lost to this object, or nothing", async () => {
    expect(await fence(fenced())).toEqual({ kind: "fenced", marker: "fence:op-1:3" })
    expect(await fence(collided(object))).toEqual({
      kind: "collided",
      candidate: { object_id: "tomb", kind: "charge", state: { name: "x" } },
    })
    for (const answer of [unsure("x"), undefined, absent({ complete: true }), collided(null as never)]) {
      expect((await fence(answer)).kind).toBe("unsure")
    }
  })

  test("our tombstone is known by its marker, and only if it is this operation's [RP-6]", async () => {
    expect(await fence(collided({ ...object, marker: "fence:op-1:2" }))).toMatchObject({
      candidate: { tombstone: { generation: 2 } },
    })
    const stranger = await fence(collided({ ...object, marker: "fence:op-2:3" }))
    expect(stranger).toEqual({
      kind: "collided",
      candidate: { object_id: "tomb", kind: "charge", state: { name: "x" } },
    })
    expect(tombstoneGeneration(tombstoneMarker("0198-a", 12), "0198-a")).toBe(12)
    for (const marker of ["fence:op-1:", "fence:op-1:x", "xfence:op-1:1", "fence:op-1:1 ", ""]) {
      expect(tombstoneGeneration(marker, "op-1")).toBe(null)
    }
  })
})

describe("what a tool expects", () => {
  const nobody = { identity: null }
  const said = (expectation: unknown, options: object = {}) =>
    defined({ expect: () => expectation, ...options }).expect(params, nobody)

  test("literals, typed values and comparisons become typed comparisons", () => {
    expect(
      said({
        match: { "customer.id": id("c1"), n: 5 },
        effect: { paid: true, kind: "charge", amount: { gte: minor(5, "usd") }, left: { lte: 3 } },
        invariant: {
          state: { ne: "void" },
          plan: { in: ["a", id("b")] },
          receipt: { exists: true },
          name: { matches: /^a/ },
          mark: { matches: "^b" },
        },
      }),
    ).toEqual({
      match: { "customer.id": { op: "eq", value: id("c1") }, n: { op: "eq", value: literal(5) } },
      effect: {
        paid: { op: "eq", value: literal(true) },
        kind: { op: "eq", value: literal("charge") },
        amount: { op: "gte", value: minor(5, "usd") },
        left: { op: "lte", value: literal(3) },
      },
      invariant: {
        state: { op: "ne", value: literal("void") },
        plan: { op: "in", values: [literal("a"), id("b")] },
        receipt: { op: "exists" },
        name: { op: "matches", pattern: "^a" },
        mark: { op: "matches", pattern: "^b" },
      },
    })
  })

  test.each([
    ["nothing becomes true", { match: { a: 1 } }],
    ["nothing becomes true, said twice", { match: { a: 1 }, effect: {} }],
    ["an unknown list", { effect: { a: 1 }, must: {} }],
    ["a missing value", { effect: { a: undefined } }],
    ["null", { effect: { a: null } }],
    ["an unknown comparison", { effect: { a: { gt: 1 } } }],
    ["two comparisons in one", { effect: { a: { gte: 1, lte: 2 } } }],
    ["an empty comparison", { effect: { a: {} } }],
    ["an empty choice", { effect: { a: { in: [] } } }],
    ["absence", { effect: { a: { exists: false } } }],
    ["a pattern with flags", { effect: { a: { matches: /a/i } } }],
    ["a list", { effect: { a: [1] } }],
    ["a date without a type", { effect: { a: new Date(0) } }],
    ["not a number", { effect: { a: Number.NaN } }],
    ["lists that are lists", { effect: ["a"] }],
    ["no lists at all", "paid"],
  ])("%s is refused before anything runs", (_name, expectation) => {
    expect(() => said(expectation)).toThrow(InvokeError)
    try {
      said(expectation)
    } catch (error) {
      expect(InvokeError.is(error) && error.nothingRan).toBe(true)
    }
  })

  test("where objects do not carry our id, an expectation that matches any object is refused [R4]", () => {
    const effect = { paid: true }
    expect(said({ effect })).toMatchObject({ match: {} })
    expect(() => said({ effect }, { contract: { lookup: { correlates: "created" } } })).toThrow(
      "any object would be ours",
    )
    expect(() => said({ effect }, { contract: {}, resource: () => "r" })).toThrow("any object would be ours")
  })

  test("guard's default: match and effect from the identity, invariant from what parameters and state may share", () => {
    const tool = guarded(() => absent({ complete: true }))
    const given = { ...params, invoice: "x", note: " ", deep: { a: 1 }, off: false, none: null }
    expect(tool.expect(given, nobody)).toEqual({
      match: { invoice: { op: "eq", value: id("84721") } },
      effect: { invoice: { op: "eq", value: id("84721") } },
      invariant: {
        invoice_id: { op: "eq", value: literal("84721") },
        amount: { op: "eq", value: literal(50_000) },
        off: { op: "eq", value: literal(false) },
      },
    })
    expect(
      guarded(() => unsure("x"), { expect: () => ({ match: { a: 1 }, effect: { b: 2 } }) }).expect(params, nobody),
    ).toEqual({
      match: { a: { op: "eq", value: literal(1) } },
      effect: { b: { op: "eq", value: literal(2) } },
      invariant: {},
    })
  })
})

describe("guard's default expectation, judged", () => {
  const dispatched_at = 1_780_000_000_000
  const createdAt = new Date(dispatched_at + 2_000)

  /** What `judge()` says about what the probe found, for an operation whose one attempt is unknown. */
  async function verdict(object: Parameters<typeof found>[0], options: object = {}): Promise<string> {
    const tool = guarded(() => found(object as never), options)
    const answer = await look(tool)
    const candidates: readonly Candidate[] = answer.kind === "found" ? answer.candidates : []
    const finding = {
      kind: "look",
      candidates,
      complete: "complete" in answer && answer.complete,
      search: false,
      generations: [0],
    }
    const evidence = { evidence_id: "e", source: "probe", rank: "observed", attempt: null, generation: null, finding }
    const attempt = {
      attempt: 1,
      generation: 0,
      provider_key: "key-1",
      dispatched_at,
      status: "unknown",
      settled_at: dispatched_at,
    }
    const operation = {
      operation_id: "op-1",
      contract: tool.contract,
      expectation: tool.expect(params, { identity: null }),
      attempts: [
        {
          ...attempt,
          transport: "opaque",
          gone_at: null,
          send_before: dispatched_at,
          timeout_ms: 1,
          last_possible_send: dispatched_at,
        },
      ],
      evidence: [{ ...evidence, observed_from: dispatched_at + 60_000_000, recorded_at: 0 } as Evidence],
      seen: [],
      seen_version: null,
      looked_before: false,
      restored: null,
    } as unknown as Operation
    return judge(operation, { now: dispatched_at + 60_000_000, taken: [], rivals: 0, clock_stepped_at: null }).verdict
  }

  test("the charge of the parameters, made after our dispatch, confirms it [R4] [AU-12]", async () => {
    expect(await verdict({ id: "ch_1", createdAt, state: { invoice_id: "84721", amount: 50_000 } })).toBe("confirmed")
    expect(await verdict({ id: "ch_1", createdAt, state: { invoice: 84_721 } })).toBe("confirmed")
    expect(await verdict({ id: "ch_1", operationId: "op-1", state: { invoice: "84721" } })).toBe("confirmed")
  })

  test("a shared name can lower the verdict, never raise it", async () => {
    expect(await verdict({ id: "ch_1", createdAt, state: { invoice: "84721", amount: 49_999 } })).toBe("diverged")
    expect(await verdict({ id: "ch_1", createdAt, state: { amount: 50_000 } })).toBe("inconclusive")
  })

  test("another value under the parameter's name makes the object nobody's, and never proves absence", async () => {
    expect(await verdict({ id: "ch_1", createdAt, state: { invoice_id: "in_provider_words" } })).toBe("inconclusive")
    expect(await verdict({ id: "ch_1", createdAt, state: { invoice: "11111" } })).toBe("inconclusive")
  })

  test("an object older than our dispatch does not confirm, and one incomplete look refutes nothing [R4]", async () => {
    const older = new Date(dispatched_at - 3_600_000)
    expect(await verdict({ id: "ch_1", createdAt: older, state: { invoice: "84721", amount: 50_000 } })).toBe(
      "inconclusive",
    )
  })
})
