// Hunts a verdict that depends on how evidence arrived instead of on what it says, and silence counted before its time.

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { judge } from "@invokejs/protocol"
import type { Candidate, Evidence, Operation } from "@invokejs/protocol"
import {
  charge,
  context,
  contract,
  evidenceOf,
  HOUR,
  keyContract,
  lookOf,
  lookupContract,
  MINUTE,
  SECOND,
  Story,
  stranger,
  T0,
  UNKNOWN,
} from "./builders.ts"

const Q = 5 * MINUTE
const V = MINUTE
const SPACING = MINUTE

interface Look {
  readonly at: number
  readonly finds: number
  readonly complete: boolean
  readonly search: boolean
  readonly generations: readonly number[]
  readonly claimed: boolean
}

const looks = (kinds: number): fc.Arbitrary<readonly Look[]> =>
  fc.array(
    fc.record({
      at: fc
        .oneof(fc.integer({ min: 0, max: 30 * 60 }), fc.integer({ min: 5 * 60, max: 10 * 60 }))
        .map((s) => T0 + s * SECOND),
      finds: fc.nat(kinds - 1),
      complete: fc.boolean(),
      search: fc.oneof({ arbitrary: fc.constant(false), weight: 3 }, { arbitrary: fc.constant(true), weight: 1 }),
      generations: fc.constantFrom([0], [0, 1], [1]),
      claimed: fc.oneof({ arbitrary: fc.constant(false), weight: 3 }, { arbitrary: fc.constant(true), weight: 1 }),
    }),
    { maxLength: 12 },
  )

const FINDS: readonly (readonly Candidate[])[] = [
  [],
  [],
  [charge()],
  [charge({ state: { charged: false } })],
  [charge({ final: true, state: { charged: false } })],
  [charge({ state: { amount: 1 } })],
  [charge({ object_id: "ch_2" })],
  [stranger({ object_id: "ch_3", created_at: T0 })],
  [stranger({ object_id: "ch_4", created_at: T0 - HOUR })],
]

function recorded(list: readonly Look[]): readonly Evidence[] {
  return list.map((one, number) =>
    evidenceOf(
      lookOf(FINDS[one.finds] ?? [], { complete: one.complete, search: one.search, generations: one.generations }),
      one.at,
      { evidence_id: `look-${number}`, ...(one.claimed ? { rank: "claimed", source: "caller" } : {}) },
    ),
  )
}

const CORRELATES = fc.constantFrom("operation" as const, "created" as const, "state" as const)

function unknown(correlates: "operation" | "created" | "state", attempts = 1): Operation {
  const story = new Story({ contract: contract({ key: keyContract(), lookup: lookupContract({ correlates }) }) })
  story.dispatch().ends(1, UNKNOWN)
  for (let number = 2; number <= attempts; number += 1) {
    story
      .wait(3 * MINUTE)
      .hears({ kind: "unsure", reason: "later" })
      .dispatch()
      .ends(number, UNKNOWN)
  }
  return story.operation
}

const verdict = (operation: Operation, evidence: readonly Evidence[]) =>
  judge({ ...operation, evidence }, context(T0 + 24 * HOUR))

describe("a verdict", () => {
  test("does not depend on the order of evidence, or on its being told twice", () => {
    fc.assert(
      fc.property(
        CORRELATES,
        looks(FINDS.length),
        fc.array(fc.nat(99), { minLength: 12, maxLength: 12 }),
        (correlates, list, order) => {
          const evidence = recorded(list)
          const operation = unknown(correlates)
          const shuffled = evidence.toSorted(
            (a, b) => (order[evidence.indexOf(a)] ?? 0) - (order[evidence.indexOf(b)] ?? 0),
          )
          const expected = verdict(operation, evidence)
          expect(verdict(operation, shuffled)).toEqual(expected)
          expect(verdict(operation, [...shuffled, ...evidence])).toEqual(expected)
        },
      ),
      { numRuns: 400 },
    )
  })

  test("does not depend on claims [R9]", () => {
    fc.assert(
      fc.property(CORRELATES, looks(FINDS.length), (correlates, list) => {
        const evidence = recorded(list)
        const operation = unknown(correlates)
        const decided = evidence.filter((one) => one.rank !== "claimed")
        expect(verdict(operation, evidence)).toEqual(verdict(operation, decided))
      }),
      { numRuns: 400 },
    )
  })

  test("once positive is never taken back by more looks: it can only turn out to be too much", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("operation" as const, "created" as const),
        looks(FINDS.length),
        looks(FINDS.length),
        (correlates, first, more) => {
          const operation = unknown(correlates)
          const before = verdict(operation, recorded(first)).verdict
          fc.pre(before === "confirmed")
          const later = recorded(more).map((one, number) => ({ ...one, evidence_id: `more-${number}` }))
          expect(["confirmed", "diverged", "inconclusive"]).toContain(
            verdict(operation, [...recorded(first), ...later]).verdict,
          )
          const silent = later.filter((one) => one.finding.kind === "look" && one.finding.candidates.length === 0)
          expect(verdict(operation, [...recorded(first), ...silent]).verdict).toBe("confirmed")
        },
      ),
      { numRuns: 500 },
    )
  })

  test("is refuted exactly when every attempt has its two spaced, complete looks after its own window [R6] [R28] [item 1c]", () => {
    /** Written from the page: Q + V after the end of the attempt, spaced, complete, no search, no claim. */
    const covered = (list: readonly Look[], end: number): boolean => {
      const times = list
        .filter(
          (one) => one.complete && !one.search && !one.claimed && one.generations.includes(0) && one.at >= end + Q + V,
        )
        .map((one) => one.at)
      return times.some((first) => times.some((second) => second - first >= SPACING))
    }
    let refutations = 0
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), looks(1), (attempts, list) => {
        const operation = unknown("operation", attempts)
        const expected = operation.attempts.every((one) => covered(list, one.settled_at ?? Number.POSITIVE_INFINITY))
        if (expected) refutations += 1
        expect(verdict(operation, recorded(list)).verdict).toBe(expected ? "refuted" : "inconclusive")
      }),
      { numRuns: 1_200 },
    )
    expect(refutations, "the property is not about nothing").toBeGreaterThan(20)
  })
})
