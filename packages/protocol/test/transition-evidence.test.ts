// Hunts evidence that decides more than its rank and its date allow, or that is lost on the way to the decision.

import { describe, expect, test } from "vitest"
import { DEFAULTS, mayUseSameKey, nextStep, objectKey } from "@invokejs/protocol"
import type { Evidence, Finding } from "@invokejs/protocol"
import {
  APPLIED,
  blind,
  charge,
  contract,
  DAY,
  evidenceOf,
  HOUR,
  keyContract,
  lookOf,
  lookupContract,
  MINUTE,
  SECOND,
  Story,
  T0,
  TOMBSTONE,
  UNKNOWN,
  UNSENT,
} from "./builders.ts"

const CLAIM: Partial<Evidence> = { source: "caller", rank: "claimed" }
const SIGNED: Partial<Evidence> = { source: "webhook", rank: "signed" }
const applied: Finding = { kind: "applied", candidate: charge() }

describe("a claim", () => {
  test("of an agent, in any words and any number, settles nothing and only makes the next probe due [R9]", () => {
    const story = new Story().isLost().sees([])
    const words: Finding[] = [
      lookOf([]),
      lookOf([charge()]),
      applied,
      { kind: "not_applied", reason: "surely not", permanent: true },
      { kind: "accepted" },
      { kind: "reversed", reason: "refunded" },
      { kind: "fenced", marker: "mine" },
    ]
    for (const word of words) {
      story.hears(word, { ...CLAIM, attempt: 1, generation: 0 })
      expect([story.state, story.operation.verdict, story.attempt(1).status]).toEqual([
        "unknown",
        "inconclusive",
        "unknown",
      ])
      expect(story.operation.due_at).toBe(story.now)
      expect(nextStep(story.operation, { now: story.now, quarantine: false, can_fence: false })).toEqual({
        do: "probe",
      })
    }
  })

  test("with trivially true conditions confirms nothing, in review or accepted either [R9]", () => {
    const review = new Story({ contract: blind() }).isLost()
    review.until(review.operation.due_at).do({ type: "due" }).hears(applied, CLAIM)
    expect(review.state).toBe("needs_review")
    const accepted = new Story()
      .dispatch()
      .ends(1, { class: "accepted", output: null })
      .hears({ kind: "reversed", reason: "no" }, CLAIM)
    expect(accepted.state).toBe("accepted")
  })

  test("pushes no evidence out of the record [R9]", () => {
    const story = new Story()
      .isLost()
      .until(T0 + 7 * MINUTE)
      .sees([])
    for (let number = 0; number < 3 * DEFAULTS.evidence_kept; number += 1) story.hears(lookOf([]), CLAIM)
    expect(story.operation.evidence).toHaveLength(DEFAULTS.evidence_kept)
    expect(story.wait(MINUTE).sees([]).state, "the silence before the flood still counts").toBe("ready")
  })

  test("a report without a grant of its own is a claim [R30] [item 19]", () => {
    const story = new Story().isLost().hears(applied, { source: "caller", rank: "reported", attempt: 1 })
    expect([story.state, story.attempt(1).status]).toEqual(["unknown", "unknown"])
    const granted = new Story()
      .dispatch({ transport: "opaque", caller_executed: true })
      .hears(applied, { source: "caller", rank: "reported", attempt: 1 })
    expect([granted.state, granted.operation.cause]).toEqual(["succeeded", "reported"])
    const denial: Finding = { kind: "not_applied", reason: "no", permanent: false }
    const denied = new Story()
      .dispatch({ transport: "opaque", caller_executed: true })
      .hears(denial, { source: "caller", rank: "reported", attempt: 1 })
    expect(denied.attempt(1).status).toBe("open")
  })
})

describe("every piece of evidence", () => {
  test("moves the version, so that no decision survives what it has not read [R5] [R5a]", () => {
    const story = new Story().isLost()
    const before = story.operation.version
    story.hears({ kind: "unsure", reason: "cut off" })
    expect(story.operation.version).toBe(before + 1)
  })

  test("is recorded once [R5]", () => {
    const story = new Story().isLost()
    const twice = story.evidence(lookOf([]))
    story.do(twice)
    expect(story.refuses(twice).code).toBe("version_conflict")
  })

  test("that is positive stays on record, however much is written after it", () => {
    const story = new Story({ contract: contract({ key: keyContract({ replays_errors: true }) }) }).isLost().isRefuted()
    story
      .until(story.operation.due_at)
      .dispatch()
      .hears(applied, { ...SIGNED, attempt: 1 })
    expect([story.state, story.operation.barred]).toEqual(["dispatched", true])
    for (let number = 0; number < 2 * DEFAULTS.evidence_kept; number += 1) story.hears(lookOf([]))
    expect(story.operation.evidence.some((one) => one.finding.kind === "applied")).toBe(true)
  })

  test("of an object keeps the first and the last sighting of a flood of looks", () => {
    const story = new Story().isLost()
    const processing = charge({ state: { charged: false } })
    for (let number = 0; number < 2 * DEFAULTS.evidence_kept; number += 1) story.wait(SECOND).sees([processing])
    const looks = story.operation.evidence.filter((one) => one.finding.kind === "look")
    expect(story.operation.evidence).toHaveLength(DEFAULTS.evidence_kept)
    expect([looks[0]?.observed_from, looks.at(-1)?.observed_from]).toEqual([story.now - 127 * SECOND, story.now])
  })

  test("by a probe tells what it saw; a positive without cause is refused", () => {
    const story = new Story().isLost()
    story.refuses(story.evidence(applied))
    story.refuses(story.evidence({ kind: "accepted" }))
  })
})

describe("a positive", () => {
  test("by webhook settles an attempt that still runs, before its own answer [item 14] [R5]", () => {
    const story = new Story().dispatch().hears(applied, { ...SIGNED, attempt: 1 })
    expect([story.state, story.operation.cause, story.attempt(1).status]).toEqual([
      "succeeded",
      "signed",
      "acknowledged",
    ])
  })

  test("by a look settles an attempt that still runs [item 14] [R5]", () => {
    const story = new Story().dispatch().sees([charge()])
    expect([story.state, story.operation.cause, story.operation.object?.object_id]).toEqual([
      "succeeded",
      "operation",
      "ch_1",
    ])
  })

  test("about another generation than the running one is kept, also when only its key tells [item 14]", () => {
    const begun = () => {
      const story = new Story({ contract: contract({ key: keyContract({ replays_errors: true }) }) })
        .isLost()
        .isRefuted()
      return story.until(story.operation.due_at).dispatch()
    }
    for (const named of [{ attempt: 1 }, { generation: 0 }]) {
      const story = begun().hears({ kind: "applied" }, { ...SIGNED, ...named })
      expect([story.state, story.operation.barred, story.incidents]).toEqual(["dispatched", true, ["late_positive"]])
    }
    const seen = begun().sees([charge({ provider_key: "key-0" })])
    expect([seen.state, seen.operation.barred]).toEqual(["dispatched", true])
    expect(seen.ends(2, UNSENT).state, "what was seen is looked at again").toBe("unknown")
    expect(seen.sees([]).state).toBe("succeeded")
  })

  test("in ready, awaiting approval or held is heard, and is an incident [R5]", () => {
    const ready = new Story()
      .isLost()
      .isRefuted()
      .hears(applied, { ...SIGNED, attempt: 1 })
    expect([ready.state, ready.incidents]).toEqual(["succeeded", ["late_positive"]])
    const asked = new Story().isLost().isRefuted()
    asked.do({ type: "ask", approval_id: "ap-1", expires_at: asked.now + HOUR, reason: { code: "ask", text: "again" } })
    expect(asked.hears(applied, { ...SIGNED, attempt: 1 }).incidents).toEqual(["late_positive"])
    expect(asked.state).toBe("succeeded")
  })

  test("that names an object of another operation settles without it [item 3]", () => {
    const story = new Story().isLost().hears(applied, SIGNED, { taken: [objectKey(charge())] })
    expect([story.state, story.operation.object, story.incidents]).toEqual(["succeeded", null, ["object_shared"]])
  })

  test("on a denial contradicts it until it is amended [R5] [R5c]", () => {
    const story = new Story({ contract: contract({ attempts: 1 }) }).isLost().isRefuted()
    expect(story.sees([charge()]).operation.contradicted).toBe(true)
    const reversed = new Story({ contract: contract({ attempts: 1 }) }).isLost().isRefuted()
    reversed.hears({ kind: "reversed", reason: "refunded" }, SIGNED)
    expect([reversed.state, reversed.operation.contradicted]).toEqual(["not_applied", true])
  })

  test("that is something else than the call makes denies a denial as well [R11]", () => {
    const story = new Story({ contract: contract({ attempts: 1 }) }).isLost().isRefuted()
    story.sees([charge({ state: { amount: 2424 } })])
    expect([story.operation.contradicted, story.incidents]).toEqual([true, ["contradicted"]])
    const twice = new Story()
      .dispatch()
      .sees([charge()])
      .sees([charge({ object_id: "ch_2" })])
    expect([twice.state, twice.incidents]).toEqual(["succeeded", ["diverged"]])
  })
})

describe("an acceptance that is pushed", () => {
  test("makes the attempt accepted, and no silence refutes it afterwards [item 5]", () => {
    const story = new Story().isLost().hears({ kind: "accepted" }, { ...SIGNED, generation: 0 })
    expect([story.state, story.attempt(1).status]).toEqual(["accepted", "accepted"])
    expect(story.isRefuted().state).toBe("accepted")
  })

  test("in ready stops the next attempt [item 5] [R5]", () => {
    const story = new Story()
      .isLost()
      .isRefuted()
      .hears({ kind: "accepted" }, { ...SIGNED, attempt: 1 })
    expect([story.state, story.incidents]).toEqual(["accepted", ["late_positive"]])
    story.refuses(story.dispatchEvent())
  })

  test("does not hide what diverged from a person [R11]", () => {
    const story = new Story()
      .isLost()
      .sees([charge({ state: { amount: 1 } })])
      .hears({ kind: "accepted" }, { ...SIGNED, attempt: 1 })
    expect([story.state, story.operation.verdict]).toEqual(["needs_review", "diverged"])
  })
})

describe("a reversal", () => {
  const reversed: Finding = { kind: "reversed", reason: "bounced" }

  test("ends an acceptance and an unknown as undone; after success it is an incident [R10]", () => {
    expect(new Story().isLost().hears(reversed, SIGNED).state).toBe("undone")
    const settled = new Story().dispatch().ends(1, APPLIED).hears(reversed, SIGNED)
    expect([settled.state, settled.incidents]).toEqual(["succeeded", ["contradicted"]])
  })

  test("about nobody knows which attempt waits for the running one [item 14]", () => {
    const story = new Story().dispatch().hears(reversed, SIGNED)
    expect([story.state, story.operation.barred]).toEqual(["dispatched", true])
    story.ends(1, UNSENT)
    expect(story.state, "nothing goes out over it").toBe("unknown")
    const keyed = new Story({ contract: contract({ key: keyContract() }) }).dispatch().hears(reversed, SIGNED)
    keyed.ends(1, UNKNOWN).hears({ kind: "unsure", reason: "cut off" })
    expect(mayUseSameKey(keyed.operation, keyed.now)).toMatchObject({ code: "barred" })
    const named = new Story().dispatch().hears(reversed, { ...SIGNED, attempt: 1 })
    expect(named.state).toBe("undone")
  })
})

describe("a negative that is pushed", () => {
  const failed: Finding = { kind: "not_applied", reason: "declined", permanent: false }

  test("and names no attempt disproves none [item 27]", () => {
    const story = new Story().isLost().until(T0 + HOUR)
    expect(story.hears(failed, { ...SIGNED, generation: 0 }).attempt(1).status).toBe("unknown")
    expect(story.hears(failed, SIGNED).attempt(1).status).toBe("unknown")
    expect(story.hears(failed, { ...SIGNED, attempt: 1 }).attempt(1).status).toBe("disproved")
    expect(story.state).toBe("ready")
  })

  test("about an opaque attempt counts only if it was made after that attempt's end [R6] [item 10]", () => {
    const story = new Story().isLost({ transport: "opaque" }).hears(failed, { ...SIGNED, attempt: 1 })
    expect(story.attempt(1).status).toBe("unknown")
    story.wait(MINUTE).ends(1, UNKNOWN)
    story.hears(failed, { ...SIGNED, attempt: 1, observed_from: story.now - SECOND })
    expect(story.attempt(1).status).toBe("unknown")
    expect(story.hears(failed, { ...SIGNED, attempt: 1 }).attempt(1).status).toBe("disproved")
  })

  test("by the engine's own probe is a look: it counts from the window's end, for the generation it asked about [item 27] [R28]", () => {
    const story = new Story().isLost()
    const window = story.attempt(1).last_possible_send + 6 * MINUTE
    expect(story.hears(failed, { generation: 0 }).attempt(1).status).toBe("unknown")
    story.until(window)
    expect(story.hears(failed, { generation: 1 }).attempt(1).status).toBe("unknown")
    expect(story.hears(failed, { generation: 0 }).state).toBe("ready")
    const permanent = new Story()
      .isLost()
      .until(window)
      .hears({ ...failed, permanent: true }, { generation: 0 })
    expect(permanent.state).toBe("failed")
  })

  test("never moves what waits to be dispatched, approved or let go [item 14] [R22]", () => {
    const asked = new Story().isLost().isRefuted()
    asked.do({ type: "ask", approval_id: "ap-1", expires_at: asked.now + HOUR, reason: { code: "ask", text: "again" } })
    asked.hears(failed, { ...SIGNED, attempt: 1 }).sees([])
    expect(asked.state, "an approval is not gone round by a look").toBe("awaiting_approval")
    const accepted = new Story()
      .dispatch()
      .ends(1, { class: "accepted", output: null })
      .hears(failed, { ...SIGNED, attempt: 1 })
    expect([accepted.state, accepted.attempt(1).status]).toEqual(["accepted", "accepted"])
    const settled = new Story()
      .dispatch()
      .ends(1, APPLIED)
      .hears(failed, { ...SIGNED, attempt: 1 })
    expect([settled.state, settled.attempt(1).status]).toEqual(["succeeded", "acknowledged"])
  })
})

describe("a verdict", () => {
  test("of diverged after a dispatch goes to a person and blocks what could go out [R11]", () => {
    const story = new Story({ contract: contract({ key: keyContract() }) })
      .isLost()
      .sees([charge({ state: { amount: 2424 } })])
    expect([story.state, story.operation.verdict, story.incidents]).toEqual(["needs_review", "diverged", ["diverged"]])
    story.refuses(story.dispatchEvent())
    story.refuses({ type: "superseded", by: "op-2" })
    story.refuses({ type: "retry", after_attempt: 1, deadline_at: story.now + DAY, automatic: false })
    expect(story.sees([charge({ state: { amount: 2424 } })]).incidents, "the person is asked once").toEqual([])
  })

  test("of refuted in review ends not applied: nothing goes out by itself [item 14] [item 5]", () => {
    const story = new Story({ contract: contract({ key: keyContract() }) }).isLost()
    for (let look = 0; look < DEFAULTS.probes_answered; look += 1) story.hears({ kind: "unsure", reason: "cut off" })
    story.until(story.operation.due_at).do({ type: "due" })
    expect(story.state).toBe("needs_review")
    expect(story.isRefuted().state).toBe("not_applied")
  })

  test("of refuted while an attempt runs permits nothing [R32] [R32a]", () => {
    const story = new Story({
      contract: contract({ lookup: lookupContract({ max_execution_ms: 0, visibility_ms: 0, spacing_ms: 0 }) }),
    })
    story.dispatch().until(story.attempt(1).last_possible_send).sees([]).wait(SECOND).sees([])
    expect([story.state, story.attempt(1).status]).toEqual(["dispatched", "open"])
  })

  test("of refuted under state is given only while the resource has not moved, or nobody else writes [R15] [item 3]", () => {
    const terms = contract({ lookup: lookupContract({ correlates: "state" }), has_resource: true })
    const silver = (version: string) => [charge({ object_id: "cust_123", version, state: { charged: false } })]
    const story = () =>
      new Story({ contract: terms })
        .do({ type: "looked_before", seen: ["cust_123"], version: "v1", full_match: null })
        .isLost()
    const moved = story()
      .until(T0 + 8 * MINUTE)
      .sees(silver("v2"))
      .wait(MINUTE)
      .sees(silver("v2"))
    expect([moved.state, moved.operation.verdict]).toEqual(["needs_review", "diverged"])
    const still = story()
      .until(T0 + 8 * MINUTE)
      .sees(silver("v1"))
      .wait(MINUTE)
      .sees(silver("v1"))
    expect(still.state).toBe("ready")
  })
})

describe("a fence", () => {
  const fenced: Finding = { kind: "fenced", marker: "fence:op-1:0" }
  const keyed = (fence: Partial<typeof TOMBSTONE> = {}) =>
    new Story({ contract: contract({ key: keyContract(), fence: { ...TOMBSTONE, ...fence } }) })

  test("that won disproves its generation for good, and the next attempt uses the next one [R13] [item 28]", () => {
    const story = keyed().isLost().wait(MINUTE).hears(fenced, { source: "fence", generation: 0 })
    expect([story.state, story.attempt(1).status, story.operation.generation]).toEqual(["ready", "disproved", 1])
    expect(story.until(story.operation.due_at).dispatch().attempt(2).generation).toBe(1)
  })

  test("whose name can be freed again, or that nobody proved, proves nothing by winning [R13]", () => {
    const { proved: _proved, ...unproved } = TOMBSTONE
    for (const fence of [{ permanent: false }, { kind: "effect" as const }]) {
      expect(keyed(fence).isLost().wait(MINUTE).hears(fenced, { source: "fence", generation: 0 }).state).toBe("unknown")
    }
    const story = new Story({ contract: contract({ fence: unproved }) }).isLost()
    expect(story.hears(fenced, { source: "fence", generation: 0 }).state).toBe("unknown")
    expect(keyed().isLost().hears(fenced, { source: "fence", generation: null }).state).toBe("unknown")
  })

  test("of a generation that no attempt has used yet changes nothing [R13]", () => {
    const story = keyed().isLost().wait(MINUTE).hears(fenced, { source: "fence", generation: 1 })
    expect([story.state, story.attempt(1).status, story.operation.generation]).toEqual(["unknown", "unknown", 0])
  })

  test("that collides with a stranger under our key is diverged [R13]", () => {
    const story = keyed()
      .isLost()
      .sees([charge({ provider_key: "key-0", state: { customer_id: "cust_999" } })])
    expect(story.operation.verdict).toBe("diverged")
  })

  test("leaves an acceptance, a success and a running attempt where they are [item 5]", () => {
    const accepted = keyed()
      .dispatch()
      .ends(1, { class: "accepted", output: null })
      .hears(fenced, { source: "fence", generation: 0 })
    expect([accepted.state, accepted.attempt(1).status]).toEqual(["accepted", "accepted"])
    const settled = keyed().dispatch().ends(1, APPLIED).hears(fenced, { source: "fence", generation: 0 })
    expect(settled.state).toBe("succeeded")
    const running = keyed().dispatch().hears(fenced, { source: "fence", generation: 0 })
    expect([running.state, running.attempt(1).status]).toEqual(["dispatched", "disproved"])
    expect(running.ends(1, UNKNOWN).state).toBe("ready")
  })

  test("is chosen before lookups, once nothing can still leave, and within the budget of probes [R13]", () => {
    const story = keyed().isLost()
    const can = () => ({ now: story.now, quarantine: false, can_fence: true })
    story.until(story.operation.due_at)
    expect(nextStep(story.operation, can())).toEqual({ do: "probe" })
    story.until(story.attempt(1).last_possible_send + 1)
    expect(nextStep(story.operation, can())).toEqual({ do: "fence" })
    expect(nextStep(story.operation, { ...can(), quarantine: true })).toEqual({ do: "probe" })
    expect(nextStep(story.operation, { ...can(), can_fence: false })).toEqual({ do: "probe" })
  })
})

describe("a probe", () => {
  test("is a lease beside the state, and losing it changes nothing [item 5]", () => {
    const story = new Story().isLost()
    const lease = { type: "probe_started", worker_id: "worker-2", until: story.now + MINUTE } as const
    story.do(lease)
    expect([story.state, story.operation.due_at]).toEqual(["unknown", story.now + MINUTE])
    story.refuses({ ...lease, worker_id: "worker-3" })
    story.wait(SECOND).hears(lookOf([]), CLAIM).do({ type: "reconcile" })
    expect(story.operation.due_at, "somebody is looking already").toBe(lease.until)
    story.until(lease.until)
    expect(nextStep(story.operation, { now: story.now, quarantine: false, can_fence: false })).toEqual({ do: "probe" })
    story.do({ ...lease, worker_id: "worker-3", until: story.now + MINUTE })
  })

  test("is started only where knowledge is waited for: no timer is moved by it elsewhere", () => {
    const lease = (story: Story) => ({ type: "probe_started", worker_id: "w", until: story.now + MINUTE }) as const
    for (const story of [new Story(), new Story().dispatch(), new Story().dispatch().ends(1, APPLIED)])
      story.refuses(lease(story))
  })

  test("that was not answered is no negative and costs no budget [item 5]", () => {
    const story = new Story().isLost()
    for (let look = 0; look < 2 * DEFAULTS.probes_answered; look += 1) {
      story.until(story.operation.due_at).do({ type: "probe_started", worker_id: "w", until: story.now + MINUTE })
      story.do({ type: "probe_unanswered", reason: { code: "down", text: "503" } })
      expect([story.state, story.operation.probes.answered]).toEqual(["unknown", 0])
    }
    story.refuses({ type: "probe_unanswered", reason: { code: "down", text: "503" } })
  })

  test("that was answered often enough without an end goes to a person", () => {
    const story = new Story().isLost()
    for (let look = 0; look < DEFAULTS.probes_answered; look += 1)
      story.until(story.operation.due_at).hears({ kind: "unsure", reason: "cut off" })
    expect(nextStep(story.operation, { now: story.now, quarantine: false, can_fence: false })).toEqual({ do: "timer" })
    expect(story.do({ type: "due" }).operation.reason?.code).toBe("probes_spent")
  })

  test("somebody asked for is due at once, and creates nothing [R29]", () => {
    const story = new Story().isLost().sees([]).do({ type: "reconcile" })
    expect([story.state, story.operation.due_at, story.operation.attempts.length]).toEqual(["unknown", story.now, 1])
    new Story().refuses({ type: "reconcile" })
    new Story({ contract: blind() }).isLost().refuses({ type: "reconcile" })
  })

  test("is made again as soon as another negative could count, not at the next slot of the schedule", () => {
    const story = new Story().isLost().until(T0 + 8 * MINUTE)
    for (let look = 0; look < 7; look += 1) story.hears({ kind: "unsure", reason: "cut off" })
    story.sees([])
    expect(story.operation.due_at).toBe(story.now + MINUTE)
    story.sees([charge({ state: { charged: false } })])
    expect(
      story.operation.due_at,
      "an object that is still processing is not asked about every minute",
    ).toBeGreaterThanOrEqual(story.now + HOUR)
  })

  test("evidence dated after its own record decides nothing early [R28] [R28b]", () => {
    const story = new Story().isLost()
    const ahead = [DAY, DAY + MINUTE].map((ms) => evidenceOf(lookOf([]), T0 + ms))
    for (const one of ahead)
      story.do({
        type: "evidence",
        evidence: one,
        context: { now: story.now, taken: [], rivals: 0, clock_stepped_at: null },
      })
    expect(story.state).toBe("unknown")
  })
})

test("looks whose silence does not count come by the schedule, and do not spend their budget in minutes [RC-8] [item 3]", () => {
  const story = new Story().isLost()
  const gaps: number[] = []
  for (let look = 0; look < 10; look += 1) {
    const due = story.operation.due_at ?? 0
    story.until(due).hears(lookOf([], { complete: false }), { observed_from: due })
    gaps.push((story.operation.due_at ?? 0) - due)
  }
  expect(story.state).toBe("unknown")
  expect(gaps.reduce((sum, gap) => sum + gap, 0)).toBeGreaterThan(2 * 3_600_000)
})
