// Hunts verdicts that say more than was seen: a stranger's object taken for ours, silence counted too early, a claim believed.

import { describe, expect, test } from "vitest"
import { judge, objectKey } from "@invokejs/protocol"
import type { Candidate, Contract, Finding, JudgeContext } from "@invokejs/protocol"
import {
  charge,
  context,
  contract,
  evidenceOf,
  HOUR,
  lookOf,
  lookupContract,
  MINUTE,
  SECOND,
  Story,
  stranger,
  T0,
  UNKNOWN,
} from "./builders.ts"

const WINDOW = 6 * MINUTE

/** An attempt that ended at T0 without knowledge, so that its window is Q and V long from there. */
function ended(terms: Contract = contract(), operation: ConstructorParameters<typeof Story>[0] = {}): Story {
  return new Story({ ...operation, contract: terms }).dispatch().ends(1, UNKNOWN)
}

interface Look {
  readonly at: number
  readonly finds?: readonly Candidate[]
  readonly like?: Partial<Extract<Finding, { kind: "look" }>>
  readonly rank?: "observed" | "claimed"
}

function verdictOf(story: Story, looks: readonly Look[], judging: Partial<JudgeContext> = {}) {
  const evidence = looks.map(({ at, finds = [], like = {}, rank = "observed" }) =>
    evidenceOf(lookOf(finds, { generations: story.generations(), ...like }), at, { rank }),
  )
  const operation = { ...story.operation, evidence: [...story.operation.evidence, ...evidence] }
  return judge(operation, context(T0 + 30 * HOUR, judging))
}

const SILENCE: readonly Look[] = [{ at: T0 + WINDOW }, { at: T0 + WINDOW + MINUTE }]

describe("a positive", () => {
  test("with our id and all of its lists is confirmed, with cause [R4]", () => {
    expect(verdictOf(ended(), [{ at: T0, finds: [charge()] }])).toMatchObject({
      verdict: "confirmed",
      cause: "operation",
    })
  })

  test("that carries a provider key of ours is ours as well", () => {
    const found = stranger({ provider_key: "key-0" })
    expect(verdictOf(ended(), [{ at: T0, finds: [found] }])).toMatchObject({ verdict: "confirmed", cause: "operation" })
  })

  test("that carries our id and is still processing is inconclusive, however often it is seen [item 1] [item 1a]", () => {
    const processing = charge({ state: { charged: false } })
    const looks = [1, 2, 3, 4].map((hour) => ({ at: T0 + hour * HOUR, finds: [processing] }))
    expect(verdictOf(ended(), looks)).toMatchObject({ verdict: "inconclusive", reason: { code: "effect_not_met" } })
  })

  test("that carries our id and is declared final without the effect is diverged [item 1]", () => {
    const found = charge({ final: true, state: { charged: false } })
    expect(verdictOf(ended(), [{ at: T0, finds: [found] }])).toMatchObject({ verdict: "diverged" })
  })

  test("that carries our id and another customer is diverged, not somebody else's", () => {
    const found = charge({ state: { customer_id: "cust_999" } })
    expect(verdictOf(ended(), [{ at: T0, finds: [found] }])).toMatchObject({ verdict: "diverged" })
  })

  test("whose invariant is broken is diverged [R11] [R27]", () => {
    const found = charge({ state: { amount: 2424 } })
    expect(verdictOf(ended(), [{ at: T0, finds: [found] }])).toMatchObject({
      verdict: "diverged",
      reason: { code: "invariant_broken" },
    })
  })

  test("stays confirmed although a later look sees it gone or changed", () => {
    const refunded = charge({ final: true, state: { charged: false } })
    const looks = [{ at: T0, finds: [charge()] }, { at: T0 + HOUR, finds: [refunded] }, ...SILENCE]
    expect(verdictOf(ended(), looks).verdict).toBe("confirmed")
  })

  test("twice with our id is a double effect, and diverged", () => {
    const looks = [
      { at: T0, finds: [charge()] },
      { at: T0 + HOUR, finds: [charge({ object_id: "ch_2" })] },
    ]
    expect(verdictOf(ended(), looks)).toMatchObject({ verdict: "diverged", reason: { code: "several_objects" } })
  })

  test("that confirms another operation already is diverged under our id, unless one object may stand for many [R4] [item 3]", () => {
    const judging = { taken: [objectKey(charge())] }
    const looks = [{ at: T0, finds: [charge()] }]
    expect(verdictOf(ended(), looks, judging)).toMatchObject({ verdict: "diverged", reason: { code: "object_taken" } })
    expect(verdictOf(ended(contract({ shared: true })), looks, judging).verdict).toBe("confirmed")
  })

  test("found by a search is not believed before it is read by its id", () => {
    const found = { at: T0, finds: [charge()], like: { search: true } }
    expect(verdictOf(ended(), [found])).toMatchObject({ verdict: "inconclusive", reason: { code: "found_by_search" } })
    expect(verdictOf(ended(), [found, { at: T0 + SECOND, finds: [charge()] }]).verdict).toBe("confirmed")
    const read = { at: T0, finds: [charge({ state: { amount: 2424 } })] }
    const stale = { ...found, at: T0 + HOUR }
    expect(verdictOf(ended(), [read, stale]).verdict, "an index says nothing against the object itself").toBe(
      "diverged",
    )
  })

  test("under an expectation that says nothing is inconclusive [R4]", () => {
    for (const expectation of [null, { match: {}, effect: {}, invariant: {} }]) {
      const story = ended(contract(), { expectation })
      expect(verdictOf(story, [{ at: T0, finds: [charge()] }])).toMatchObject({
        verdict: "inconclusive",
        reason: { code: "empty_lists" },
      })
    }
  })

  test("of an invariant that the object does not show says nothing: the list can only lower a verdict", () => {
    const { amount: _amount, ...state } = charge().state
    expect(verdictOf(ended(), [{ at: T0, finds: [{ ...charge(), state }] }]).verdict).toBe("confirmed")
  })
})

describe("names and units", () => {
  const finds = (state: Candidate["state"]) => [
    { at: T0 + WINDOW, finds: [charge({ state })] },
    { at: T0 + WINDOW + MINUTE, finds: [charge({ state })] },
  ]

  test("a field that only shares its name with a parameter decides nothing [R27]", () => {
    const story = ended(contract(), {
      params: { customer_id: "cust_123", amount: 2400, status: "close", delta: 5 },
    })
    expect(verdictOf(story, finds({ status: "closed", delta: 105 })).verdict).toBe("confirmed")
  })

  test("an amount in another unit is read in the unit the expectation speaks, or not at all [R27]", () => {
    const decimal = { type: "decimal", value: "2400 usd" } as const
    const expectation = {
      match: { customer_id: { op: "eq", value: { type: "id", value: "cust_123" } } },
      effect: { charged: { op: "eq", value: { type: "boolean", value: "true" } } },
      invariant: { amount: { op: "eq", value: decimal } },
    } as const
    expect(verdictOf(ended(contract(), { expectation }), finds({ amount: "24.00" })).verdict).toBe("confirmed")
    // "24.00" is no count of cents: the field is as good as absent, and never a contradiction.
    expect(verdictOf(ended(), finds({ amount: "24.00" })).verdict).toBe("confirmed")
  })

  test("a text that the provider normalised is the same text [R27]", () => {
    const expectation = {
      match: { title: { op: "eq", value: { type: "text", value: "An issue" } } },
      effect: { title: { op: "exists" } },
      invariant: {},
    } as const
    const found = charge({ state: { title: "  An   issue " } })
    expect(verdictOf(ended(contract(), { expectation }), [{ at: T0, finds: [found] }]).verdict).toBe("confirmed")
  })

  test("an object of another customer says nothing about ours: neither confirmed nor diverged [R27]", () => {
    const terms = contract({ lookup: lookupContract({ correlates: "created" }) })
    const other = stranger({ created_at: T0 + SECOND, state: { customer_id: "cust_999", amount: 9 } })
    const looks = SILENCE.map((look) => ({ ...look, finds: [other] }))
    expect(verdictOf(ended(terms), looks).verdict).toBe("refuted")
  })

  test("a look that lacks the field by which ours is told apart decides nothing [R27]", () => {
    const terms = contract({ lookup: lookupContract({ correlates: "created" }) })
    const { customer_id: _id, ...state } = charge().state
    const looks = SILENCE.map((look) => ({ ...look, finds: [{ ...stranger({ created_at: T0 }), state }] }))
    expect(verdictOf(ended(terms), looks)).toMatchObject({ verdict: "inconclusive", reason: { code: "match_missing" } })
  })
})

describe("created", () => {
  const terms = contract({ lookup: lookupContract({ correlates: "created" }) })
  const timeless = contract({ lookup: lookupContract({ correlates: "created", creation_time: false }) })
  const made = (created_at: number, id = "ch_9") => stranger({ object_id: id, created_at })
  const twice = (finds: readonly Candidate[]) => SILENCE.map((look) => ({ ...look, finds }))

  test("last month's equal charge is not ours [R4] [R4a]", () => {
    expect(verdictOf(ended(terms), twice([made(T0 - 30 * 24 * HOUR)])).verdict).toBe("refuted")
  })

  test("one made after our dispatch is ours, also where the provider gives whole seconds [item 1b]", () => {
    const story = new Story({ contract: terms }, { kind: "ready" }, T0 + 450).dispatch().ends(1, UNKNOWN)
    const look = { at: T0 + SECOND, finds: [made(T0)] }
    expect(verdictOf(story, [look])).toMatchObject({ verdict: "confirmed", cause: "created" })
    const exact = contract({ lookup: lookupContract({ correlates: "created", skew_ms: 0 }) })
    const sure = new Story({ contract: exact }, { kind: "ready" }, T0 + 450).dispatch().ends(1, UNKNOWN)
    expect(verdictOf(sure, [look]).verdict).toBe("confirmed")
    expect(verdictOf(sure, [{ at: T0 + SECOND, finds: [made(T0 - 1)] }]).verdict).toBe("inconclusive")
  })

  test("within skew it is ours, beyond it and within clock error it has no settled cause, before that it is a stranger's [item 1] [item 1b]", () => {
    expect(verdictOf(ended(terms), twice([made(T0 - 2 * SECOND)])).verdict).toBe("confirmed")
    for (const age of [3, 7]) {
      expect(verdictOf(ended(terms), twice([made(T0 - age * SECOND)]))).toMatchObject({
        verdict: "inconclusive",
        reason: { code: "created_near_dispatch" },
      })
    }
    expect(verdictOf(ended(terms), twice([made(T0 - 8 * SECOND)])).verdict).toBe("refuted")
  })

  test("what was there before attempt 1 is not ours [R4] [item 16]", () => {
    const looked = { type: "looked_before", seen: ["ch_9"], version: null, full_match: null } as const
    const story = new Story({ contract: timeless }).do(looked).dispatch().ends(1, UNKNOWN)
    expect(verdictOf(story, twice([stranger({ object_id: "ch_9" })])).verdict).toBe("refuted")
    expect(verdictOf(story, [{ at: T0 + SECOND, finds: [stranger({ object_id: "ch_10" })] }]).verdict).toBe("confirmed")
  })

  test("without creation time and without a look before, no object has settled cause [item 16]", () => {
    expect(verdictOf(ended(timeless), twice([stranger()]))).toMatchObject({
      verdict: "inconclusive",
      reason: { code: "no_creation_time" },
    })
  })

  test("one object is not enough for two operations that could own it [R4] [R4b] [item 7]", () => {
    const look = { at: T0 + SECOND, finds: [made(T0)] }
    expect(verdictOf(ended(terms), [look], { rivals: 1 })).toMatchObject({
      verdict: "inconclusive",
      reason: { code: "rivals" },
    })
    const both = { at: T0 + SECOND, finds: [made(T0), made(T0 + SECOND, "ch_10")] }
    expect(verdictOf(ended(terms), [both], { rivals: 1 }).verdict).toBe("confirmed")
    expect(verdictOf(ended(terms), [both]).verdict).toBe("diverged")
  })

  test("of as many objects as claimants each takes the oldest it can own, so that nobody is left without its own [R4b] [item 7]", () => {
    const rivals = { rivals: 1 }
    const newer = made(T0 + 60 * SECOND, "ch_10")
    for (const finds of [
      [made(T0), newer],
      [newer, made(T0)],
    ]) {
      expect(verdictOf(ended(terms), [{ at: T0 + 61 * SECOND, finds }], rivals)).toMatchObject({
        verdict: "confirmed",
        candidate: { object_id: "ch_9" },
      })
    }
    const first = made(T0)
    const processing = { ...first, state: { ...first.state, charged: false } }
    expect(verdictOf(ended(terms), [{ at: T0 + 61 * SECOND, finds: [newer, processing] }], rivals)).toMatchObject({
      verdict: "inconclusive",
      reason: { code: "effect_not_met" },
    })
  })

  test("without creation times several objects are not shared out between rivals [R4b] [item 7]", () => {
    const looked = { type: "looked_before", seen: [], version: null, full_match: null } as const
    const story = new Story({ contract: timeless }).do(looked).dispatch().ends(1, UNKNOWN)
    const both = { at: T0 + SECOND, finds: [stranger({ object_id: "ch_9" }), stranger({ object_id: "ch_10" })] }
    expect(verdictOf(story, [both], { rivals: 1 })).toMatchObject({
      verdict: "inconclusive",
      reason: { code: "rivals" },
    })
  })

  test("an object that confirms another operation is no candidate [R4] [item 7]", () => {
    const judging = { taken: [objectKey(made(T0))] }
    expect(verdictOf(ended(terms), twice([made(T0)]), judging).verdict).toBe("refuted")
    const both = { at: T0 + SECOND, finds: [made(T0), made(T0 + SECOND, "ch_10")] }
    expect(verdictOf(ended(terms), [both], judging)).toMatchObject({
      verdict: "confirmed",
      candidate: { object_id: "ch_10" },
    })
  })

  test("an object with another operation's id is not ours", () => {
    expect(verdictOf(ended(terms), twice([{ ...made(T0), operation_id: "op-2" }])).verdict).toBe("refuted")
  })
})

describe("state", () => {
  const byState = (change: Partial<Contract> = {}) =>
    contract({ lookup: lookupContract({ correlates: "state" }), has_resource: true, ...change })
  const tier = (value: string, version = "v1") => [
    stranger({ object_id: "cust_123", version, state: { charged: value === "gold" } }),
  ]
  const looked = (terms: Contract) =>
    new Story({ contract: terms })
      .do({ type: "looked_before", seen: ["cust_123"], version: "v1", full_match: null })
      .dispatch()
      .ends(1, UNKNOWN)
  const twice = (finds: readonly Candidate[]) => SILENCE.map((look) => ({ ...look, finds }))

  test("that holds is confirmed as state, not as our doing [R4] [R4c]", () => {
    expect(verdictOf(looked(byState()), [{ at: T0 + SECOND, finds: tier("gold", "v2") }])).toMatchObject({
      verdict: "confirmed",
      cause: "state_holds",
    })
  })

  test("that held before anything was sent confirms nothing [R4] [R4c]", () => {
    expect(verdictOf(looked(byState()), [{ at: T0 - SECOND, finds: tier("gold") }]).verdict).toBe("inconclusive")
  })

  test("that is not as the call sets it is refuted only while nobody wrote since [R15] [item 3] [R27]", () => {
    expect(verdictOf(looked(byState()), twice(tier("silver", "v1"))).verdict).toBe("refuted")
    expect(verdictOf(looked(byState()), twice(tier("silver", "v2")))).toMatchObject({
      verdict: "diverged",
      reason: { code: "state_moved" },
    })
    expect(verdictOf(looked(byState({ exclusive: true })), twice(tier("silver", "v2"))).verdict).toBe("refuted")
  })

  test("that is not as the call sets it is inconclusive before the window is over [R15]", () => {
    expect(verdictOf(looked(byState()), [{ at: T0 + SECOND, finds: tier("silver", "v2") }]).verdict).toBe(
      "inconclusive",
    )
  })

  test("with the effect and a broken invariant is diverged, also where the tool is the only writer", () => {
    const broken = [stranger({ object_id: "cust_123", version: "v1", state: { amount: 1 } })]
    expect(verdictOf(looked(byState({ exclusive: true })), twice(broken)).verdict).toBe("diverged")
  })

  test("on two resources at once is diverged, and another operation's id on the resource excludes nothing", () => {
    const two = [...tier("silver"), stranger({ object_id: "cust_124", state: { charged: false } })]
    expect(verdictOf(looked(byState()), [{ at: T0 + SECOND, finds: two }]).verdict).toBe("diverged")
    const signed = tier("gold", "v2").map((one) => ({ ...one, operation_id: "op-0" }))
    expect(verdictOf(looked(byState()), [{ at: T0 + SECOND, finds: signed }]).verdict).toBe("confirmed")
  })
})
