// Hunts a person's or a caller's verb that reaches further than it may: a cancel past a dispatch, a second retry, a fact talked away.

import { describe, expect, test } from "vitest"
import { DEFAULTS, fillsSlot, isTerminal, nextStep, STATE_NAMES, verbsFrom } from "@invokejs/protocol"
import type { OperationEvent, Proposal, ResolveTo, State } from "@invokejs/protocol"
import {
  APPLIED,
  blind,
  charge,
  contract,
  DAY,
  DECLINED,
  HOUR,
  keyContract,
  MINUTE,
  REJECTED,
  resolution,
  SECOND,
  Story,
  T0,
  UNKNOWN,
} from "./builders.ts"
import { ASKED, IN_STATE, inReview, notApplied } from "./in-every-state.ts"

const once = (change: Partial<Proposal> = {}) => new Story({ contract: contract({ attempts: 1 }), ...change })
const review = inReview
const retry = (story: Story, after: number): OperationEvent => ({
  type: "retry",
  after_attempt: after,
  deadline_at: story.now + DAY,
  automatic: false,
})

const at = (state: State) => {
  const story = IN_STATE[state]()
  expect(story.state).toBe(state)
  return story
}

describe("legality", () => {
  const VERB_EVENTS: { readonly [verb: string]: (story: Story) => OperationEvent } = {
    allow: () => ({ type: "allow", reason: "a deliberate repeat" }),
    approve: () => ({ type: "approve", reason: "fine" }),
    deny: () => ({ type: "deny", reason: "no" }),
    cancel: () => ({ type: "cancel", reason: "no longer wanted" }),
    resolve: () => ({ type: "resolve", resolve: resolution("closed_unknown"), evidence_id: "word" }),
    retry: (story) => retry(story, story.operation.attempts.length),
    supersede: () => ({ type: "superseded", by: "op-2" }),
    reconcile: () => ({ type: "reconcile" }),
    compensate: () => ({ type: "compensated", by: "op-3", settled: false }),
  }

  test("of each verb is what the table of verbs says, in every state [item 14]", () => {
    for (const state of STATE_NAMES) {
      for (const [verb, event] of Object.entries(VERB_EVENTS)) {
        // Of these the table says where they may apply; whether they do depends on more than the state.
        const depends =
          (verb === "compensate" && state === "needs_review") || (verb === "supersede" && state === "succeeded")
        if (depends || (verb === "reconcile" && state === "needs_review")) continue
        const story = at(state)
        expect([state, verb, story.try(event(story)).ok]).toEqual([
          state,
          verb,
          verbsFrom(state).includes(verb as never),
        ])
      }
    }
  })

  test("gives every open state a verb that leads out, or ends what it waits for [R29]", () => {
    for (const state of STATE_NAMES) {
      if (isTerminal(state) || state === "dispatched") continue
      expect(verbsFrom(state).length, state).toBeGreaterThan(0)
    }
    const dispatched = at("dispatched").do({ type: "worker_gone", worker_id: "worker-1", proof: "attested by ann" })
    expect(dispatched.state, "of an attempt, that its worker is gone").toBe("unknown")
  })
})

describe("cancel", () => {
  test("reaches nothing that was dispatched [R10] [R10a]", () => {
    for (const state of ["dispatched", "accepted", "unknown", "needs_review"] as const) {
      at(state).refuses({ type: "cancel", reason: "tidy the queue" })
    }
  })

  test("after a disproved dispatch is not applied, not cancelled [R10]", () => {
    expect(new Story().isLost().isRefuted().do({ type: "cancel", reason: "stop" }).state).toBe("not_applied")
  })
})

describe("resolve", () => {
  const word = (_story: Story, to: ResolveTo["to"], change: Partial<ResolveTo> = {}): OperationEvent => ({
    type: "resolve",
    resolve: resolution(to, change),
    evidence_id: "word",
  })

  test("leads from review and from unknown to every end a person can know of", () => {
    for (const to of ["succeeded", "not_applied", "undone", "ready", "closed_unknown"] as const) {
      expect(
        review()
          .until(T0 + HOUR)
          .resolve(to).state,
      ).toBe(to)
      expect(
        new Story()
          .isLost()
          .until(T0 + HOUR)
          .resolve(to).state,
      ).toBe(to)
    }
  })

  test("needs a reason, and evidence for everything but giving up", () => {
    const story = review().until(T0 + HOUR)
    story.refuses(word(story, "succeeded", { reason: "  " }))
    story.refuses(word(story, "succeeded", { evidence: {} }))
    story.refuses(word(story, "not_applied", { evidence: {} }))
    story.do(word(story, "closed_unknown", { evidence: {} }))
  })

  test("closes the queue without a retry, a supersede or a free slot [R10] [R10a]", () => {
    const story = at("closed_unknown")
    story.refuses(retry(story, 1))
    story.refuses({ type: "superseded", by: "op-2" })
    expect(fillsSlot(story.operation, story.now + 365 * DAY)).toBe(true)
  })

  test("to ready or not applied demands the word that the process is gone while an attempt may still send [item 10]", () => {
    for (const to of ["ready", "not_applied"] as const) {
      const opaque = new Story({ contract: blind() })
        .isLost({ transport: "opaque" })
        .until(T0 + 3 * HOUR)
        .do({ type: "due" })
      opaque.refuses(word(opaque, to))
      expect(opaque.do(word(opaque, to, { process_gone: true })).state).toBe(to)
      const frozen = new Story().isLost()
      frozen.refuses(word(frozen, to))
      expect(frozen.until(frozen.attempt(1).last_possible_send).do(word(frozen, to)).state).toBe(to)
    }
  })

  test("to ready asks for the approval again, and gives one more attempt [R22] [item 22]", () => {
    const story = once({}).isLost()
    story.until(T0 + HOUR).resolve("ready")
    expect([story.operation.approval_id, story.operation.attempts_max]).toEqual([null, 2])
    expect(nextStep(story.operation, { now: story.now, quarantine: false, can_fence: false })).toEqual({
      do: "dispatch",
    })
    expect(story.dispatch().attempt(2).attempt).toBe(2)
    const approved = new Story({ contract: blind() }, ASKED).do({ type: "approve", reason: "fine" })
    approved
      .dispatch({ approval_until: T0 + HOUR })
      .wait(DEFAULTS.lease_ms)
      .do({ type: "lapsed", why: "lease" })
    approved
      .until(T0 + 2 * HOUR)
      .do({ type: "due" })
      .resolve("ready")
    expect([approved.state, approved.operation.approval_id]).toEqual(["ready", null])
  })

  test("does not talk a positive away [item 5] [R10]", () => {
    const accepted = at("accepted")
    for (const to of ["ready", "not_applied"] as const)
      accepted.until(T0 + HOUR).refuses(word(accepted, to, { process_gone: true }))
    const story = new Story({ contract: contract({ key: keyContract({ replays_errors: true }) }) }).isLost().isRefuted()
    story.until(story.operation.due_at).dispatch().ends(1, APPLIED).ends(2, APPLIED)
    expect(story.state).toBe("needs_review")
    for (const to of ["ready", "not_applied"] as const) story.refuses(word(story, to, { process_gone: true }))
    expect(story.resolve("succeeded").state).toBe("succeeded")
  })

  test("sets aside what the person had seen: the next attempt is judged by what it makes [R11]", () => {
    const wrong = charge({ state: { amount: 2424 } })
    const story = new Story()
      .isLost()
      .sees([wrong])
      .until(T0 + HOUR)
      .resolve("ready")
    story.dispatch().ends(2, UNKNOWN).sees([wrong])
    expect([story.state, story.operation.verdict]).toEqual(["unknown", "inconclusive"])
    expect(story.sees([wrong, charge({ object_id: "ch_2" })]).state).toBe("succeeded")
    expect(story.operation.object?.object_id).toBe("ch_2")
  })

  test("that names an object of another operation settles without it [item 3]", () => {
    const story = review()
      .until(T0 + HOUR)
      .resolve("succeeded", { object: charge(), object_taken_by: "op-2" })
    expect([story.operation.object, story.incidents]).toEqual([null, ["object_shared"]])
  })

  test("is no word about what is running, settled, or not sent", () => {
    for (const state of ["ready", "dispatched", "held", "awaiting_approval", "succeeded", "not_applied"] as const) {
      const story = at(state)
      story.refuses(word(story, "succeeded"))
    }
  })
})

describe("retry", () => {
  test("names the last attempt: of five that ask, one wins [R18]", () => {
    const story = notApplied()
    story.refuses(retry(story, 0))
    story.do(retry(story, 1)).refuses(retry(story, 1))
    story.dispatch().ends(2, REJECTED)
    story.refuses(retry(story, 1))
  })

  test("adds one attempt to the budget, at most so often in a life [R18] [item 15]", () => {
    const story = notApplied()
    for (let number = 1; number <= DEFAULTS.retries; number += 1) {
      story.do(retry(story, number))
      expect(story.operation.attempts_max).toBe(number + 1)
      story.dispatch().ends(number + 1, DECLINED)
      expect(story.state).toBe("not_applied")
    }
    expect(story.refuses(retry(story, DEFAULTS.retries + 1)).text).toContain("retries")
  })

  test("is refused of everything but not applied, and of what is contradicted or superseded [R10] [R18]", () => {
    for (const state of STATE_NAMES) {
      if (state === "not_applied") continue
      const story = at(state)
      expect(story.refuses(retry(story, story.operation.attempts.length)).code).toBe("retry_refused")
    }
    const contradicted = notApplied().ends(1, APPLIED)
    contradicted.refuses(retry(contradicted, 1))
    const superseded = notApplied().do({ type: "superseded", by: "op-2" })
    superseded.refuses(retry(superseded, 1))
  })

  test("brings a deadline that lies ahead, or is refused", () => {
    const story = notApplied().until(T0 + 2 * DAY)
    story.refuses({ type: "retry", after_attempt: 1, deadline_at: story.now, automatic: true })
    expect(story.do(retry(story, 1)).operation.deadline_at).toBe(story.now + DAY)
  })

  test("is told anew", () => {
    const story = notApplied().do({ type: "told" })
    story.refuses({ type: "told" })
    expect(story.do(retry(story, 1)).operation.told).toBe(false)
  })
})

describe("supersede", () => {
  test("has one winner, and closes the retry [R18]", () => {
    const story = notApplied().do({ type: "superseded", by: "op-2" })
    expect(story.refuses({ type: "superseded", by: "op-3" }).code).toBe("supersedes_refused")
    expect(story.operation.superseded_by).toBe("op-2")
  })

  test("is open for what had no effect, or whose effect is undone, and for nothing else [R11] [item 29]", () => {
    const open = ["refused", "denied", "expired", "cancelled", "replan", "not_applied", "failed", "undone"]
    for (const state of STATE_NAMES) {
      expect([state, at(state).try({ type: "superseded", by: "op-2" }).ok]).toEqual([state, open.includes(state)])
    }
    const undone = at("succeeded").do({ type: "compensated", by: "op-3", settled: true })
    undone.do({ type: "superseded", by: "op-2" })
  })
})

describe("compensate", () => {
  test("is recorded once, and frees the slot only when it has succeeded [R34] [item 24]", () => {
    const story = at("succeeded").do({ type: "compensated", by: "op-3", settled: false })
    story.refuses({ type: "compensated", by: "op-3", settled: false })
    expect(fillsSlot(story.operation, story.now)).toBe(true)
    story.do({ type: "compensated", by: "op-3", settled: true })
    story.refuses({ type: "compensated", by: "op-3", settled: true })
    expect(fillsSlot(story.operation, story.now)).toBe(false)
  })

  test("needs an effect that is there: also one that diverged, never one that is denied or contradicted [R34]", () => {
    const diverged = new Story().isLost().sees([charge({ state: { amount: 2424 } })])
    diverged.do({ type: "compensated", by: "op-3", settled: false })
    for (const state of ["ready", "dispatched", "unknown", "not_applied", "closed_unknown"] as const) {
      at(state).refuses({ type: "compensated", by: "op-3", settled: false })
    }
    review().refuses({ type: "compensated", by: "op-3", settled: false })
    notApplied().ends(1, APPLIED).refuses({ type: "compensated", by: "op-3", settled: false })
  })
})

describe("amend", () => {
  const amend = (to: "succeeded" | "undone" | "not_applied" | "closed_unknown", change = {}): OperationEvent => ({
    type: "amend",
    to,
    reason: "asked the provider",
    ...change,
  })

  test("ends a contradiction by a new fact, and opens what it closed [R5] [R5c]", () => {
    const story = notApplied().ends(1, APPLIED)
    story.refuses(retry(story, 1))
    story.refuses({ type: "superseded", by: "op-2" })
    story.do(amend("not_applied"))
    expect([story.operation.contradicted, story.attempt(1).status]).toEqual([false, "disproved"])
    story.do(retry(story, 1)).dispatch().ends(2, REJECTED)
    expect(story.state, "the denied positive is no positive any more").toBe("failed")
    expect(
      notApplied()
        .ends(1, APPLIED)
        .do(amend("succeeded", { object: charge() })).operation,
    ).toMatchObject({
      state: "succeeded",
      cause: "attested",
      object: { object_id: "ch_1" },
    })
  })

  test("to not applied denies what a webhook said before, and nothing that is heard after it [R5]", () => {
    const signed = { source: "webhook", rank: "signed" } as const
    const denied = () => {
      const story = notApplied().hears({ kind: "applied" }, signed).do(amend("not_applied"))
      return story.do(retry(story, 1)).dispatch()
    }
    expect(denied().ends(2, REJECTED).state).toBe("failed")
    expect(denied().hears({ kind: "applied" }, signed).state).toBe("succeeded")
  })

  test("says a reason, and something new", () => {
    const story = notApplied().ends(1, APPLIED)
    story.refuses(amend("succeeded", { reason: " " }))
    notApplied().refuses(amend("succeeded"))
    at("succeeded").refuses(amend("succeeded"))
    at("closed_unknown").refuses(amend("closed_unknown"))
    at("unknown").refuses(amend("succeeded"))
  })

  test("to not applied demands the word that the process is gone while an attempt may still send [item 10]", () => {
    const story = new Story({ contract: blind() })
      .isLost({ transport: "opaque" })
      .until(T0 + 3 * HOUR)
      .do({ type: "due" })
      .resolve("closed_unknown")
    story.refuses(amend("not_applied"))
    expect(story.do(amend("not_applied", { process_gone: true })).operation).toMatchObject({
      state: "not_applied",
      cause: null,
      object: null,
    })
    story.do(retry(story, 1)).dispatch()
  })

  test("is recorded as a person's evidence", () => {
    const story = at("succeeded").do(amend("undone"))
    expect(story.operation.evidence.at(-1)).toMatchObject({
      source: "operator",
      rank: "attested",
      finding: { kind: "reversed" },
    })
  })
})

describe("a held operation", () => {
  test("is judged afresh when its holder ends in a state that fills no slot, else refused [item 8] [item 8b]", () => {
    expect(at("held").do({ type: "slot", free: true, held_by: null }).state).toBe("ready")
    const refused = at("held").do({ type: "slot", free: false, held_by: "op-9" })
    expect([refused.state, refused.operation.reason?.code, refused.operation.held_by]).toEqual([
      "refused",
      "possible_duplicate",
      "op-9",
    ])
  })

  test("goes on waiting where another one took the slot first [item 8]", () => {
    const story = at("held")
    const over = story.operation.due_at
    story.do({ type: "slot", free: false, held_by: "op-8", unresolved: true })
    expect([story.state, story.operation.held_by, story.operation.due_at]).toEqual(["held", "op-8", over])
    story.refuses({ type: "slot", free: false, held_by: "op-8", unresolved: true })
  })

  test("is let go by policy's own answer: asked, refused, or allowed [item 8] [item 8a]", () => {
    const asked = at("held").do({
      type: "ask",
      approval_id: "ap-2",
      expires_at: T0 + DAY,
      reason: { code: "ask", text: "ask" },
    })
    expect([asked.state, asked.operation.approval_id, asked.operation.held_by]).toEqual([
      "awaiting_approval",
      "ap-2",
      null,
    ])
    expect(at("held").do({ type: "policy_refused", reason: { code: "policy", text: "no" } }).state).toBe("refused")
  })

  test("is allowed as a deliberate repeat of its holder, with a reason [item 8]", () => {
    const story = at("held")
    story.refuses({ type: "allow", reason: "" })
    story.do({ type: "allow", reason: "the second charge is meant" })
    expect([story.state, story.operation.repeats, story.operation.held_by]).toEqual(["ready", "op-0", null])
  })

  test("expires after an hour, whatever happens to its holder [item 8] [item 8d]", () => {
    const story = at("held")
    expect(story.operation.due_at).toBe(T0 + DEFAULTS.hold_for_ms)
    expect(story.wait(HOUR).do({ type: "due" }).state).toBe("expired")
  })

  test("because its effect was found in place waits for a person alone, and keeps its slot [item 16] [item 8]", () => {
    const terms = contract({ lookup: { ...contract().lookup, correlates: "created", creation_time: false } as never })
    const found: OperationEvent = { type: "looked_before", seen: [], version: null, full_match: "ch_7" }
    const story = new Story({ contract: terms }).do(found)
    expect([story.state, story.operation.reason?.code, story.operation.seen]).toEqual([
      "held",
      "exists_already",
      ["ch_7"],
    ])
    expect(fillsSlot(story.operation, story.now)).toBe(true)
    expect(fillsSlot(at("held").operation, T0)).toBe(false)
    story.refuses({ type: "slot", free: true, held_by: null })
    story.refuses({ type: "ask", approval_id: "ap-2", expires_at: T0 + DAY, reason: { code: "ask", text: "ask" } })
    story.do({ type: "allow", reason: "charge once more" })
    expect(nextStep(story.operation, { now: story.now, quarantine: false, can_fence: false })).toEqual({
      do: "dispatch",
    })
    const many = new Story({ contract: { ...terms, many: true } }).do(found)
    expect(many.state).toBe("ready")
  })
})

describe("the look before attempt 1", () => {
  const terms = contract({ lookup: { ...contract().lookup, correlates: "created", creation_time: false } as never })

  test("that finds more than can be remembered sends nothing, and is made again later [item 16]", () => {
    const seen = Array.from({ length: DEFAULTS.seen_max + 1 }, (_one, number) => `ch_${number}`)
    const story = new Story({ contract: terms }).do({ type: "looked_before", seen, version: null, full_match: null })
    expect([story.state, story.operation.looked_before, (story.operation.due_at ?? 0) > story.now]).toEqual([
      "ready",
      false,
      true,
    ])
    story.until(story.operation.due_at)
    expect(nextStep(story.operation, { now: story.now, quarantine: false, can_fence: false })).toEqual({
      do: "look_before",
    })
  })

  test("is made once, and never after a dispatch [item 16]", () => {
    const look: OperationEvent = { type: "looked_before", seen: [], version: null, full_match: null }
    const story = new Story({ contract: terms }).do(look)
    story.refuses(look)
    story.dispatch().ends(1, DECLINED).refuses(look)
  })
})

describe("an approval", () => {
  test("is asked for again before a further attempt, and its end is not applied [item 14] [R22] [R22a]", () => {
    const asked = () => {
      const story = new Story().isLost().isRefuted()
      return story.do({
        type: "ask",
        approval_id: "ap-2",
        expires_at: story.now + HOUR,
        reason: { code: "lapsed", text: "again" },
      })
    }
    expect(asked().wait(HOUR).do({ type: "due" }).state).toBe("not_applied")
    expect(asked().do({ type: "deny", reason: "no" }).state).toBe("not_applied")
    expect(asked().do({ type: "cancel", reason: "no" }).state).toBe("not_applied")
    const approved = asked().do({ type: "approve", reason: "yes" })
    expect([approved.state, approved.dispatch({ approval_until: approved.now + HOUR }).attempt(2).attempt]).toEqual([
      "ready",
      2,
    ])
  })

  test("cannot be given after it expired, and is never asked for too late", () => {
    at("awaiting_approval").wait(HOUR).refuses({ type: "approve", reason: "late" })
    at("ready").refuses({ type: "ask", approval_id: "ap-2", expires_at: T0, reason: { code: "ask", text: "ask" } })
    const near = new Story({ contract: contract({ deadline_ms: MINUTE }) })
    near.do({ type: "ask", approval_id: "ap-2", expires_at: T0 + HOUR, reason: { code: "ask", text: "ask" } })
    expect(near.operation.due_at, "the deadline ends it as well").toBe(T0 + MINUTE)
  })

  test("is not asked for what may be running", () => {
    for (const state of ["dispatched", "unknown", "accepted", "needs_review"] as const) {
      at(state).refuses({
        type: "ask",
        approval_id: "ap-2",
        expires_at: T0 + DAY,
        reason: { code: "ask", text: "ask" },
      })
    }
  })
})

describe("what policy stops", () => {
  const no = { code: "policy", text: "no" }

  test("before a dispatch is refused, after it not applied [item 14]", () => {
    expect(at("ready").do({ type: "policy_refused", reason: no }).state).toBe("refused")
    expect(new Story().isLost().isRefuted().do({ type: "policy_refused", reason: no }).state).toBe("not_applied")
    expect(new Story().isLost().isRefuted().do({ type: "drifted", reason: no }).state).toBe("replan")
    expect(at("awaiting_approval").do({ type: "drifted", reason: no }).state).toBe("replan")
    for (const state of ["dispatched", "unknown", "accepted", "needs_review"] as const) {
      at(state).refuses({ type: "policy_refused", reason: no })
      at(state).refuses({ type: "drifted", reason: no })
    }
  })

  test("for now is later, never past the deadline, and never moves a timer that leads out [item 14] [R29]", () => {
    const full = { code: "limit", text: "full" }
    expect(at("ready").do({ type: "postpone", until: T0 + MINUTE, reason: full }).operation.due_at).toBe(T0 + MINUTE)
    expect(at("ready").do({ type: "postpone", until: T0 + 9 * DAY, reason: full }).operation.due_at).toBe(T0 + DAY)
    at("ready").refuses({ type: "postpone", until: T0, reason: full })
    for (const state of ["dispatched", "held", "awaiting_approval", "succeeded"] as const) {
      at(state).refuses({ type: "postpone", until: T0 + 2 * DAY, reason: full })
    }
    const unknown = at("unknown")
    expect(unknown.do({ type: "postpone", until: unknown.now + 9 * DAY, reason: full }).operation.due_at).toBe(
      unknown.now + DAY,
    )
    expect(unknown.operation.reason?.code, "what is unknown stays said").toBe("lease_lost")
  })

  test("for want of a worker raises an incident, once [item 14] [R29]", () => {
    const none = { code: "waiting_for_tool", text: "no live process has the tool" }
    const story = at("ready").do({ type: "postpone", until: T0 + MINUTE, reason: none })
    expect(story.incidents).toEqual(["no_worker"])
    expect(story.wait(MINUTE).do({ type: "postpone", until: story.now + MINUTE, reason: none }).incidents).toEqual([])
  })
})

describe("review", () => {
  test("is slowly looked up where somebody can look, and reminds where nobody can [R29]", () => {
    const story = review()
    expect(story.operation.due_at).toBe(story.now + DEFAULTS.age_alarm_ms)
    story.until(story.operation.due_at)
    expect(nextStep(story.operation, { now: story.now, quarantine: false, can_fence: false })).toEqual({ do: "timer" })
    story.do({ type: "due" })
    expect([story.state, story.operation.due_at]).toEqual(["needs_review", story.now + DAY])
    const checkable = new Story().isLost().sees([charge({ state: { amount: 1 } })])
    checkable.until(checkable.operation.due_at)
    expect(nextStep(checkable.operation, { now: checkable.now, quarantine: false, can_fence: false })).toEqual({
      do: "probe",
    })
    expect(checkable.sees([]).operation.due_at).toBeLessThanOrEqual(checkable.now + HOUR)
    checkable.wait(2 * DAY).sees([])
    expect(checkable.operation.due_at).toBeGreaterThanOrEqual(checkable.now + DAY - SECOND)
  })
})
