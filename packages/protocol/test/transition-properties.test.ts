// Hunts the sequence nobody thought of: random events, legal and illegal, from every state, each step held against the page.

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isTerminal, nextStep, STATE_NAMES, transition } from "@invokejs/protocol"
import type { Contract, Operation, OperationEvent } from "@invokejs/protocol"
import { lookOf, MINUTE, resolution, Story } from "./builders.ts"
import { begin, beginning, isTimer, loaded, make, moves } from "./transition-walk.ts"

const RUNS = 600

/** Does what `nextStep` says, at one moment, until the next moment lies ahead: a loop that does not end here would spin. */
function settleNow(
  story: Story,
  can: { readonly quarantine: boolean; readonly can_fence: boolean; readonly contract?: Contract },
): void {
  let { operation } = story
  const { now } = story
  for (let round = 0; round < 6; round += 1) {
    const step = nextStep(operation, { now, approval_until: now + MINUTE, ...can })
    if (step.do === "nothing") {
      expect(isTerminal(operation.state), `${operation.state} is not left alone`).toBe(true)
      return
    }
    if (step.do === "wait") {
      expect(step.until).toBeGreaterThan(now)
      return
    }
    const event = eventFor(operation, step.do, now, can.contract)
    const result = transition(operation, event, { now, unit: 0.5, actor: "engine" })
    if (!result.ok) throw new Error(`${step.do} is chosen in ${operation.state} and refused: ${result.text}`)
    const moved = result.next.state !== operation.state || result.next.due_at !== operation.due_at
    expect(moved || step.do === "look_before", `${step.do} in ${operation.state} moves something`).toBe(true)
    operation = result.next
  }
  throw new Error(`${operation.state} does not come to rest`)
}

function eventFor(operation: Operation, chosen: string, now: number, contract?: Contract): OperationEvent {
  switch (chosen) {
    case "dispatch":
      return {
        ...new Story().dispatchEvent(),
        contract: contract ?? operation.contract,
        lease_until: now + 30_000,
        judged_version: operation.version,
        provider_key: `key-${operation.generation}`,
        ...(operation.approval_id === null ? {} : { approval_until: now + MINUTE }),
      }
    case "look_before":
      return { type: "looked_before", seen: [], version: null, full_match: null }
    case "timer":
      return { type: "due", ...(contract ? { contract } : {}) }
    default:
      return { type: "probe_started", worker_id: "engine", until: now + MINUTE }
  }
}

/** What a person can do about an open operation that leads somewhere (L1). */
function verbs(operation: Operation): readonly OperationEvent[] {
  const worker = operation.attempts.at(-1)?.worker_id ?? ""
  return [
    { type: "cancel", reason: "no" },
    { type: "resolve", resolve: resolution("closed_unknown"), evidence_id: "word" },
    { type: "worker_gone", worker_id: worker, proof: "attested" },
  ]
}

describe("every sequence of events", () => {
  test("keeps the protocol's invariants at every step [R2] [R5] [R10] [R12] [R20] [R32] [item 14]", () => {
    const reached = new Set<string>()
    fc.assert(
      fc.property(beginning, moves(60), (start, walk) => {
        const story = begin(start)
        reached.add(story.state)
        for (const move of walk) {
          make(story, move)
          reached.add(story.state)
        }
      }),
      { numRuns: RUNS },
    )
    expect(STATE_NAMES.filter((state) => !reached.has(state))).toEqual([])
  })

  test("leaves every open operation a way out by person, and one by itself that does not spin [R29] [item 14]", () => {
    fc.assert(
      fc.property(
        beginning,
        moves(40),
        fc.boolean(),
        fc.boolean(),
        loaded,
        (start, walk, quarantine, can_fence, contract) => {
          const story = begin(start)
          for (const move of walk) {
            make(story, move)
            settleNow(story, { quarantine, can_fence, ...(contract ? { contract } : {}) })
            if (isTerminal(story.state)) continue
            const context = { now: story.now, unit: 0, actor: "operator" }
            const legal = verbs(story.operation).filter((verb) => transition(story.operation, verb, context).ok)
            expect(legal.length, story.state).toBeGreaterThan(0)
          }
        },
      ),
      { numRuns: RUNS },
    )
  })

  test("that is refused says why, and changes nothing", () => {
    fc.assert(
      fc.property(beginning, moves(40), (start, walk) => {
        const story = begin(start)
        for (const move of walk) {
          const before = JSON.stringify(story.operation)
          const { version } = story.operation
          make(story, move)
          if (story.operation.version === version) expect(JSON.stringify(story.operation)).toBe(before)
        }
      }),
      { numRuns: 150 },
    )
  })

  test("gives the same step for the same event: no clock, no chance [item 14]", () => {
    fc.assert(
      fc.property(beginning, moves(40), (start, walk) => {
        const story = begin(start)
        for (const move of walk) make(story, move)
        const events: OperationEvent[] = [{ type: "due" }, story.dispatchEvent(), story.evidence(lookOf([]))]
        for (const event of events) {
          const asked = { now: story.now, unit: 0.25, actor: "test" }
          expect(transition(story.operation, event, asked)).toEqual(transition(story.operation, event, asked))
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe("claims", () => {
  test("in whatever number, anywhere in a sequence, change no outcome [R9]", () => {
    const facts = ({ state, verdict, cause, barred, contradicted, generation, attempts }: Operation) => [
      state,
      verdict,
      cause,
      barred,
      contradicted,
      generation,
      attempts.map((one) => one.status),
    ]
    fc.assert(
      fc.property(beginning, moves(40), fc.array(fc.nat(39), { maxLength: 20 }), (start, walk, places) => {
        const plain = begin(start)
        const claimed = begin(start)
        for (const [at, move] of walk.entries()) {
          if (isTimer(move)) continue
          make(plain, move)
          make(claimed, move)
          claimed.now = plain.now
          if (places.includes(at))
            claimed.hears(lookOf([]), { source: "caller", rank: "claimed", attempt: 1, generation: 0 })
          expect(facts(claimed.operation)).toEqual(facts(plain.operation))
        }
      }),
      { numRuns: 100 },
    )
  })
})
