// Hunts an attempt's end that is taken for more than it says: about another attempt, from a dead process, by an exception.

import { describe, expect, test } from "vitest"
import { DEFAULTS, nextStep } from "@invokejs/protocol"
import type { AttemptOutcome } from "@invokejs/protocol"
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
  SECOND,
  Story,
  T0,
  UNKNOWN,
  UNSENT,
} from "./builders.ts"

const keyed = (change = {}) => new Story({ contract: contract({ key: keyContract(change) }) })
/** Attempt 1 is unknown, attempt 2 runs under the same key. */
const second = (change = {}) => keyed(change).isLost().hears({ kind: "unsure", reason: "cut off" }).dispatch()

describe("what proves nothing", () => {
  test("an exception of an opaque tool is unknown, and no stage is believed of it [R1] [item 11]", () => {
    expect(new Story().dispatch({ transport: "opaque" }).ends(1, UNKNOWN).state).toBe("unknown")
    const staged = new Story().dispatch({ transport: "opaque" }).ends(1, UNSENT)
    expect([staged.state, staged.attempt(1).status, staged.attempt(1).left]).toEqual(["unknown", "unknown", true])
  })

  test("a return that the contract's rule does not accept is unknown [R3]", () => {
    const meaningless: AttemptOutcome = { class: "unknown", reason: { code: "value_means_nothing", text: "a value" } }
    expect(new Story().dispatch().ends(1, meaningless).state).toBe("unknown")
  })

  test("a refused second effect leaves no acknowledgement of the first standing [R8] [item 4]", () => {
    const twice: AttemptOutcome = {
      class: "unknown",
      reason: { code: "second_effect", text: "a second effect was asked for" },
    }
    const story = new Story().dispatch().ends(1, twice)
    expect([story.state, story.attempt(1).status, story.operation.cause]).toEqual(["unknown", "unknown", null])
  })

  test("a stage told after the lease was lost means unknown, and counts as sent [R7]", () => {
    const story = new Story().isLost().ends(1, UNSENT)
    expect([story.state, story.attempt(1).status, story.attempt(1).left]).toEqual(["unknown", "unknown", true])
  })

  test("a stage told by a worker that itself stopped waiting is living, and proves [R7]", () => {
    const story = new Story().timesOut().ends(1, UNSENT)
    expect([story.state, story.attempt(1).status, story.attempt(1).left]).toEqual(["ready", "disproved", false])
  })

  test("a stage told by a worker whose journal went back in time proves nothing [R7] [R24]", () => {
    const story = new Story().timesOut()
    story.do({ type: "restored", until: story.now }).ends(1, UNSENT)
    expect([story.state, story.attempt(1).status]).toEqual(["unknown", "unknown"])
  })

  test("a stage proves nothing about what left [R1]", () => {
    expect(new Story().dispatch().ends(1, UNSENT, { left: true }).state).toBe("unknown")
  })
})

describe("non-application is proved per attempt, and acted on per operation", () => {
  test("a permanent refusal of attempt 2 does not settle while attempt 1 is not disproved [R2] [R2a]", () => {
    const story = second().ends(2, REJECTED, { http_status: 401 })
    expect([story.state, story.attempt(1).status, story.attempt(2).status]).toEqual(["unknown", "unknown", "disproved"])
  })

  test("connect failures and a spent budget of later attempts lead to unknown, not to not_applied [R2] [R2b]", () => {
    const story = second().ends(2, UNSENT).hears({ kind: "unsure", reason: "cut off" }).dispatch().ends(3, UNSENT)
    expect([story.state, story.attempt(1).status]).toEqual(["unknown", "unknown"])
    story.wait(10 * MINUTE).hears({ kind: "unsure", reason: "cut off" })
    expect(story.state).toBe("unknown")
  })

  test("an answer that the key is in use is neither applied nor not applied [R2] [R2c]", () => {
    const inUse: AttemptOutcome = { class: "unknown", reason: { code: "http_409", text: "key in use" } }
    const story = second().ends(2, inUse, { http_status: 409 })
    expect(story.operation.attempts.map((one) => one.status)).toEqual(["unknown", "unknown"])
  })

  test("a webhook about attempt 1 does not settle attempt 2 [R2] [R2d]", () => {
    const failed = { kind: "not_applied", reason: "charge.failed", permanent: true } as const
    const story = second().hears(failed, { source: "webhook", rank: "signed", attempt: 1 })
    expect([story.state, story.attempt(1).status, story.attempt(2).status]).toEqual(["dispatched", "disproved", "open"])
    expect(story.ends(2, APPLIED).state).toBe("succeeded")
  })

  test("only a proved key layer's answer speaks for the earlier attempts of its generation [R2] [R2a]", () => {
    const forKey: AttemptOutcome = { ...REJECTED, speaks_for: "generation" }
    const proved = second({ answers_for_key: [402] }).ends(2, forKey, { http_status: 402 })
    expect(proved.state).toBe("failed")
    expect(second({ answers_for_key: [402] }).ends(2, forKey, { http_status: 401 }).state).toBe("unknown")
    expect(second({ answers_for_key: [402] }).ends(2, forKey).state).toBe("unknown")
    expect(second().ends(2, forKey, { http_status: 402 }).state).toBe("unknown")
    const doubted = second({ answers_for_key: [402] })
    const { proved: _proved, ...key } = keyContract({ answers_for_key: [402] })
    doubted.operation = { ...doubted.operation, contract: contract({ key }) }
    expect(doubted.ends(2, forKey, { http_status: 402 }).state).toBe("unknown")
  })

  test("when looks cover all attempts, a permanent refusal of the last one is the end [R2]", () => {
    const story = second().ends(2, REJECTED).isRefuted()
    expect([story.state, story.operation.attempts.map((one) => one.status)]).toEqual([
      "failed",
      ["disproved", "disproved"],
    ])
  })

  test("without a permanent refusal they lead to another attempt [R2]", () => {
    const story = second().ends(2, DECLINED).isRefuted()
    expect(story.state).toBe("ready")
    expect(story.until(story.operation.due_at).dispatch().attempt(3).attempt).toBe(3)
  })

  test("late news of attempt 1 moves nothing while attempt 2 runs [R2] [R32]", () => {
    for (const told of [REJECTED, DECLINED, UNKNOWN, { ...REJECTED, look_first: true } as AttemptOutcome]) {
      expect(second().ends(1, told).state).toBe("dispatched")
    }
    const story = second().ends(1, REJECTED)
    expect(story.attempt(1).status).toBe("disproved")
    expect(story.ends(2, DECLINED).state).toBe("ready")
  })
})

describe("an acknowledgement", () => {
  test("settles by version, without a lease, whichever attempt it is about [R32] [R5]", () => {
    expect(new Story().isLost().ends(1, APPLIED).state).toBe("succeeded")
    expect(second().ends(1, APPLIED).state).toBe("succeeded")
  })

  test("is heard in ready, which nothing leaves then [R5] [R5b]", () => {
    const story = new Story().isLost().isRefuted()
    expect(story.state).toBe("ready")
    expect(story.ends(1, APPLIED).state).toBe("succeeded")
    expect(story.incidents).toEqual(["late_positive"])
    story.refuses(story.dispatchEvent())
  })

  test("is heard in review", () => {
    const story = new Story({ contract: blind() }).isLost()
    story.until(story.operation.due_at).do({ type: "due" })
    expect([story.state, story.ends(1, APPLIED).state]).toEqual(["needs_review", "succeeded"])
  })

  test("that names an object of another operation settles all the same, without the object [item 3]", () => {
    const taken: AttemptOutcome = { class: "applied", output: null, candidate: charge() }
    const story = new Story().dispatch().ends(1, taken, { object_taken_by: "op-2" })
    expect([story.state, story.operation.object, story.incidents]).toEqual(["succeeded", null, ["object_shared"]])
    const shared = new Story({ contract: contract({ shared: true }) })
      .dispatch()
      .ends(1, taken, { object_taken_by: "op-2" })
    expect([shared.operation.object?.object_id, shared.incidents]).toEqual(["ch_1", []])
  })

  test("of two attempts that name two objects is a double effect for a person [R32] [item 14]", () => {
    const named = (object_id: string): AttemptOutcome => ({
      class: "applied",
      output: null,
      candidate: charge({ object_id }),
    })
    const story = second().ends(1, named("ch_1"))
    expect(story.ends(2, named("ch_2")).incidents).toEqual(["double_effect"])
    expect(second().ends(1, named("ch_1")).ends(2, named("ch_1")).incidents).toEqual([])
  })

  test("of a keyless attempt that was disproved, beside another one's, is a double effect though nobody names an object", () => {
    const story = new Story().isLost().isRefuted()
    story.until(story.operation.due_at).dispatch().ends(2, APPLIED)
    expect(story.ends(1, APPLIED).incidents).toEqual(["double_effect"])
    const state = new Story({
      contract: contract({ lookup: { ...contract().lookup, correlates: "state" } as never, exclusive: true }),
    })
    state.do({ type: "looked_before", seen: [], version: "v1", full_match: null }).isLost().isRefuted()
    state.until(state.operation.due_at).dispatch().ends(2, APPLIED)
    expect(state.ends(1, APPLIED).incidents, "a state set twice is one state").toEqual([])
  })

  test("of another generation than the running one bars further attempts and waits for that one's end [item 14]", () => {
    const story = keyed({ replays_errors: true }).isLost().isRefuted()
    story.until(story.operation.due_at).dispatch()
    expect(story.attempt(2).generation).toBe(1)
    story.ends(1, APPLIED)
    expect([story.state, story.operation.barred, story.incidents]).toEqual(["dispatched", true, ["late_positive"]])
    expect(story.ends(2, REJECTED).state, "the first one's acknowledgement stands").toBe("succeeded")
  })

  test("of a keyless attempt, while another one runs, is an incident at once: no key makes the two one [item 14]", () => {
    const story = new Story().isLost().isRefuted()
    story.until(story.operation.due_at).dispatch().ends(1, APPLIED)
    expect([story.state, story.operation.barred, story.incidents]).toEqual(["dispatched", true, ["late_positive"]])
    expect(story.ends(2, UNSENT).state).toBe("succeeded")
  })

  test("of another generation stands after looks found nothing of the attempt that ran beside it [item 14]", () => {
    const story = keyed({ replays_errors: true }).isLost().isRefuted()
    story.until(story.operation.due_at).dispatch().ends(1, APPLIED).ends(2, UNKNOWN)
    expect(story.state).toBe("unknown")
    story.refuses(story.dispatchEvent())
    story.isRefuted()
    expect([story.state, story.attempt(1).status, story.operation.cause]).toEqual([
      "succeeded",
      "acknowledged",
      "acknowledged",
    ])
  })

  test("of the running attempt, beside one of another generation, is a double effect [item 14]", () => {
    const story = keyed({ replays_errors: true }).isLost().isRefuted()
    story.until(story.operation.due_at).dispatch().ends(1, APPLIED).ends(2, APPLIED)
    expect([story.state, story.operation.verdict, story.incidents]).toEqual([
      "needs_review",
      "diverged",
      ["double_effect"],
    ])
    story.sees([charge()])
    expect([story.state, story.incidents], "one of the two objects does not bury the other").toEqual([
      "needs_review",
      [],
    ])
  })

  test("late on a denial contradicts it, and rewrites nothing [R5] [R5c]", () => {
    const story = new Story({ contract: contract({ attempts: 1 }) }).isLost().isRefuted()
    expect(story.state).toBe("not_applied")
    story.ends(1, APPLIED)
    expect([story.state, story.operation.contradicted, story.incidents]).toEqual([
      "not_applied",
      true,
      ["contradicted"],
    ])
  })

  test("late on a success without an object teaches its object", () => {
    const story = second().ends(2, APPLIED)
    expect(story.operation.object).toBeNull()
    story.ends(1, { class: "applied", output: null, candidate: charge() })
    expect(story.operation.object?.object_id).toBe("ch_1")
  })

  test("the same outcome twice is recorded once [R23]", () => {
    const story = new Story().dispatch()
    const told = story.outcome(1, UNKNOWN)
    story.do(told)
    expect(story.refuses(told).code).toBe("version_conflict")
  })
})

describe("an acceptance", () => {
  const ACCEPTED: AttemptOutcome = { class: "accepted", output: { id: "re_1" }, reference: "re_1" }

  test("is not settled, and no silence refutes it [item 5] [R10]", () => {
    const story = new Story().dispatch().ends(1, ACCEPTED).isRefuted()
    expect([story.state, story.attempt(1).status]).toEqual(["accepted", "accepted"])
  })

  test("that bounces later is undone, not failed [R10]", () => {
    const story = new Story()
      .dispatch()
      .ends(1, ACCEPTED)
      .hears({ kind: "reversed", reason: "bounced" }, { source: "webhook", rank: "signed" })
    expect(story.state).toBe("undone")
    story.refuses({ type: "retry", after_attempt: 1, deadline_at: story.now + DAY, automatic: false })
  })

  test("of another generation than the running one is kept until that one ends [item 14]", () => {
    const story = keyed({ replays_errors: true }).isLost().isRefuted()
    story.until(story.operation.due_at).dispatch().ends(1, ACCEPTED)
    expect([story.state, story.operation.barred]).toEqual(["dispatched", true])
    expect(story.ends(2, UNKNOWN).state).toBe("accepted")
    const refused = keyed({ replays_errors: true }).isLost().isRefuted()
    refused.until(refused.operation.due_at).dispatch().ends(1, ACCEPTED)
    expect(refused.ends(2, REJECTED).state).toBe("accepted")
  })
})

describe("a definite refusal of a checkable tool", () => {
  const refused: AttemptOutcome = { ...REJECTED, reason: { code: "http_422", text: "422" }, look_first: true }

  test("waits for one look, and then fails [item 28]", () => {
    const story = new Story().dispatch().ends(1, refused)
    expect([story.state, story.operation.reason?.code, story.attempt(1).refused?.code]).toEqual([
      "unknown",
      "look_first",
      "http_422",
    ])
    expect(story.wait(2 * SECOND).sees([]).state).toBe("failed")
    expect(story.operation.reason?.code).toBe("http_422")
  })

  test("is not believed where the look finds the object [item 28]", () => {
    const story = new Story()
      .dispatch()
      .ends(1, refused)
      .wait(2 * SECOND)
      .sees([charge()])
    expect([story.state, story.operation.cause]).toEqual(["succeeded", "operation"])
  })

  test("is believed at once where nobody can look", () => {
    expect(new Story({ contract: blind() }).dispatch().ends(1, refused).state).toBe("failed")
  })
})

describe("a read that is journaled", () => {
  const read = () => new Story({ safety: "read-only", contract: blind() })

  test("is made again whatever became of it, and given up without a person", () => {
    const story = read()
    for (const end of ["unknown", "lease", "unknown"]) {
      story.until(story.operation.due_at).dispatch()
      if (end === "lease") story.wait(MINUTE).do({ type: "lapsed", why: "lease" })
      else story.ends(story.operation.attempts.length, UNKNOWN)
    }
    expect([story.state, story.operation.reason?.code]).toEqual(["not_applied", "attempts_spent"])
  })

  test("contradicts nothing when its answer comes late, and is no double effect", () => {
    const story = read().isLost()
    expect(story.state).toBe("ready")
    story.until(story.operation.due_at).dispatch().ends(1, APPLIED)
    expect([story.state, story.incidents]).toEqual(["succeeded", []])
    story.refuses(story.outcome(2, APPLIED))
    const spent = new Story({ safety: "read-only", contract: blind({ attempts: 1 }) }).isLost()
    expect(spent.state).toBe("not_applied")
    spent.refuses(spent.outcome(1, APPLIED))
    read().refuses({ type: "restored", until: T0 })
  })
})

describe("a caller that executes", () => {
  const begun = () => new Story().dispatch({ transport: "opaque", caller_executed: true })

  test("reports success as an acknowledgement of its own rank [item 19] [R30]", () => {
    const story = begun().ends(1, APPLIED)
    expect([story.state, story.operation.cause, story.operation.evidence[0]?.rank]).toEqual([
      "succeeded",
      "reported",
      "reported",
    ])
  })

  test("claims non-application, unless it may attest [R30] [R9]", () => {
    const word: AttemptOutcome = { ...DECLINED, proof: "word" }
    const story = begun().ends(1, word)
    expect([story.state, story.attempt(1).status, story.operation.evidence[0]?.rank]).toEqual([
      "unknown",
      "unknown",
      "claimed",
    ])
    expect(nextStep(story.operation, { now: story.now, quarantine: false, can_fence: false })).toEqual({ do: "probe" })
    const attested = begun().ends(1, word, { attested: true })
    expect([attested.state, attested.attempt(1).status]).toEqual(["not_applied", "disproved"])
  })

  test("ends refuted in not_applied; its next beginning is a retry [R30]", () => {
    const story = begun().ends(1, UNKNOWN).isRefuted()
    expect(story.state).toBe("not_applied")
    story.do({ type: "retry", after_attempt: 1, deadline_at: story.now + DAY, automatic: false })
    expect(story.dispatch({ transport: "opaque", caller_executed: true }).attempt(2).attempt).toBe(2)
  })
})

describe("a record in doubt", () => {
  test("of a tool that never started is proof, and costs no budget [R23]", () => {
    const story = new Story().dispatch().do({ type: "never_started", attempt: 1, evidence_id: "e1" })
    expect([story.state, story.attempt(1).status, story.attempt(1).left]).toEqual(["ready", "disproved", false])
  })

  test("is cleared after the lease was lost as well, and in review ends not applied [R23]", () => {
    const lost = new Story().isLost().do({ type: "never_started", attempt: 1, evidence_id: "e1" })
    expect(lost.state).toBe("ready")
    const review = new Story({ contract: blind() }).isLost()
    review.until(review.operation.due_at).do({ type: "due" })
    expect(review.do({ type: "never_started", attempt: 1, evidence_id: "e1" }).state).toBe("not_applied")
  })

  test("cannot be cleared for an attempt that ended, or speaks for another one [R23]", () => {
    const ended = new Story().dispatch().ends(1, UNKNOWN)
    ended.refuses({ type: "never_started", attempt: 1, evidence_id: "e1" })
    const two = second().do({ type: "never_started", attempt: 2, evidence_id: "e1" })
    expect([two.state, two.attempt(1).status, two.attempt(2).status]).toEqual(["unknown", "unknown", "disproved"])
  })
})

describe("a lapse", () => {
  test("leads to probing, never to a dispatch [R32]", () => {
    const story = new Story().isLost()
    expect([story.state, story.attempt(1).status, story.attempt(1).settled_at]).toEqual(["unknown", "unknown", null])
    story.refuses(story.dispatchEvent())
  })

  test("by time comes only when the attempt's time is over", () => {
    const story = new Story().dispatch()
    story.refuses({ type: "lapsed", why: "time" })
    story.until(story.operation.due_at).do({ type: "due" })
    expect([story.state, story.operation.reason?.code]).toEqual(["unknown", "overdue"])
  })

  test("of a gone worker concerns its own attempt, not the one another worker runs", () => {
    const story = keyed()
      .isLost({ worker_id: "worker-a" })
      .hears({ kind: "unsure", reason: "cut off" })
      .dispatch({ worker_id: "worker-b" })
    story.do({ type: "worker_gone", worker_id: "worker-a", proof: "its lock was found free" })
    expect([story.state, story.attempt(1).gone_at, story.attempt(2).gone_at]).toEqual(["dispatched", story.now, null])
    story.do({ type: "worker_gone", worker_id: "worker-b", proof: "its lock was found free" })
    expect(story.state).toBe("unknown")
  })

  test("of an attempt that was disproved while it ran goes on from there", () => {
    const story = new Story().dispatch()
    story.hears(
      { kind: "not_applied", reason: "declined", permanent: false },
      { source: "webhook", rank: "signed", attempt: 1 },
    )
    expect(story.state).toBe("dispatched")
    expect(story.until(story.operation.due_at).do({ type: "due" }).state).toBe("ready")
  })
})

describe("Retry-After", () => {
  test("is honoured between attempts, and before the next look or same-key attempt [item 15]", () => {
    const asked: AttemptOutcome = { ...DECLINED, retry_after_ms: 10 * MINUTE }
    const ready = new Story().dispatch().ends(1, asked)
    expect(ready.operation.due_at).toBeGreaterThanOrEqual(ready.now + 10 * MINUTE)
    const unknown = second().ends(2, asked)
    expect([unknown.state, (unknown.operation.due_at ?? 0) >= unknown.now + 10 * MINUTE]).toEqual(["unknown", true])
    const absurd = second().ends(2, { ...asked, retry_after_ms: 365 * DAY })
    expect(absurd.operation.due_at).toBeLessThanOrEqual(absurd.now + DAY)
  })
})

describe("an attempt that goes on", () => {
  test("beyond an hour after its time goes to a person, who is told which worker [item 10]", () => {
    const story = new Story().isLost({ transport: "opaque" })
    story.until(story.attempt(1).last_possible_send + story.attempt(1).timeout_ms + DEFAULTS.open_for_ms + 1)
    expect(
      nextStep({ ...story.operation, due_at: story.now }, { now: story.now, quarantine: false, can_fence: false }),
    ).toEqual({ do: "timer" })
    story.until(story.operation.due_at).do({ type: "due" })
    expect([story.state, story.operation.reason?.code, story.incidents]).toEqual([
      "needs_review",
      "attempt_open",
      ["attempt_open_too_long"],
    ])
  })

  test("and ends at last is looked up at the end of its window, not an hour later [item 10]", () => {
    const story = new Story().isLost({ transport: "opaque" })
    for (let look = 0; look < 8; look += 1) story.sees([])
    story.wait(HOUR / 2)
    expect(story.operation.due_at).toBeGreaterThan(story.now + 7 * MINUTE)
    story.ends(1, UNKNOWN)
    expect(story.operation.due_at).toBe(story.now + 6 * MINUTE)
  })
})
