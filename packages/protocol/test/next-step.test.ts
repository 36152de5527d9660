// Hunts a loop that spins: a step that is chosen and then refused, or that leaves the same timer due again.

import { describe, expect, test } from "vitest"
import { DEFAULTS, needsLookBefore, nextStep } from "@invokejs/protocol"
import { sameKeyFrom } from "@invokejs/protocol/internal"
import {
  blind,
  contract,
  DAY,
  DECLINED,
  HOUR,
  keyContract,
  lookupContract,
  MINUTE,
  SECOND,
  Story,
  T0,
  UNSENT,
} from "./builders.ts"
import { ASKED, HELD, inReview } from "./in-every-state.ts"

const can = (story: Story) => ({ now: story.now, quarantine: false, can_fence: false })
const chosen = (story: Story) => nextStep(story.operation, can(story)).do

describe("the order of means", () => {
  test("a look comes before a same-key attempt, and one is enough [R12] [item 2]", () => {
    const story = new Story({ contract: contract({ key: keyContract() }) }).isLost()
    expect(chosen(story.until(story.operation.due_at))).toBe("probe")
    story.sees([]).until(story.operation.due_at)
    expect(chosen(story)).toBe("dispatch")
  })

  test("a look that the provider did not answer is tried, and not waited for", () => {
    const story = new Story({ contract: contract({ key: keyContract() }) }).isLost().until(T0 + HOUR)
    story.do({ type: "probe_started", worker_id: "w", until: story.now + MINUTE })
    story.do({ type: "probe_unanswered", reason: { code: "down", text: "503" } })
    expect(chosen(story.until(story.operation.due_at))).toBe("dispatch")
  })

  test("where nobody can look, a same-key attempt comes after a backoff, not at once [item 2]", () => {
    const story = new Story({ contract: blind({ key: keyContract() }) }).isLost()
    expect(story.operation.due_at).toBeGreaterThanOrEqual(story.now + DEFAULTS.backoff_min_ms)
    expect(chosen(story.until(story.operation.due_at))).toBe("dispatch")
  })

  test("where nobody can look and the provider races keys, it is waited for, not given to a person [item 2] [R19]", () => {
    const story = new Story({ contract: blind({ key: keyContract({ in_flight: "races" }) }) }).isLost()
    const from = story.attempt(1).last_possible_send + 6 * MINUTE
    expect([sameKeyFrom(story.operation, story.now), story.operation.due_at]).toEqual([from, from])
    expect(chosen(story.until(from))).toBe("dispatch")
  })

  test("where nobody can look and the process of an opaque attempt is gone, the same key is used as soon as its time is over [RP-2]", () => {
    const story = new Story({ contract: blind({ key: keyContract() }) }).isLost({ transport: "opaque" })
    story.do({ type: "worker_gone", worker_id: "worker-1", proof: "p" })
    const end = story.attempt(1).send_before + story.attempt(1).timeout_ms
    expect((story.operation.due_at ?? 0) - end).toBeLessThan(10_000)
  })

  test("where nobody can look and an opaque attempt goes on, its end is waited for, and a person asked after an hour [item 10]", () => {
    const story = new Story({ contract: blind({ key: keyContract() }) }).isLost({ transport: "opaque" })
    const over = story.attempt(1).last_possible_send + story.attempt(1).timeout_ms + HOUR + 1
    expect(story.operation.due_at).toBe(over)
    expect(chosen(story.until(over))).toBe("timer")
    expect(story.do({ type: "due" }).operation.reason?.code).toBe("attempt_open")
    const ended = new Story({ contract: blind({ key: keyContract() }) }).isLost({ transport: "opaque" })
    ended.do({ type: "worker_gone", worker_id: "worker-1", proof: "p" })
    ended.until(ended.attempt(1).send_before + ended.attempt(1).timeout_ms + 1)
    expect(sameKeyFrom(ended.operation, ended.now)).toBe(ended.now)
  })

  test("an approval that has lapsed covers no same-key attempt: there are looks, or a person [R22] [item 22]", () => {
    const asked = {
      kind: "awaiting_approval",
      approval_id: "ap-1",
      expires_at: T0 + HOUR,
      reason: { code: "ask", text: "ask" },
    } as const
    const story = new Story({ contract: contract({ key: keyContract() }) }, asked).do({
      type: "approve",
      reason: "yes",
    })
    story
      .dispatch({ approval_until: T0 + HOUR })
      .wait(MINUTE)
      .do({ type: "lapsed", why: "lease" })
      .sees([])
    story.until(story.operation.due_at)
    const at = (approval_until?: number) =>
      nextStep(story.operation, { ...can(story), ...(approval_until === undefined ? {} : { approval_until }) }).do
    expect([at(T0 + HOUR), at(story.now), at()]).toEqual(["dispatch", "probe", "probe"])
  })

  test("a timer that comes before its key may be used moves on, unless today's contract leaves no key [item 2] [R28] [R28d]", () => {
    const early = () => {
      const story = new Story({ contract: blind({ key: keyContract({ in_flight: "races" }) }) }).isLost()
      story.operation = { ...story.operation, due_at: story.now }
      return story
    }
    const story = early().do({ type: "due" })
    expect([story.state, story.operation.due_at]).toEqual(["unknown", story.attempt(1).last_possible_send + 6 * MINUTE])
    expect(early().do({ type: "due", contract: blind() }).state).toBe("needs_review")
  })

  test("without key and without probe it is a person's at once", () => {
    const story = new Story({ contract: blind() }).isLost()
    expect([story.operation.due_at, chosen(story)]).toEqual([story.now, "timer"])
    expect(story.do({ type: "due" }).state).toBe("needs_review")
  })

  test("a key that protects no longer leaves a person, where nobody can look", () => {
    const story = new Story({ contract: blind({ key: keyContract({ retention_ms: 10 * MINUTE }) }) }).isLost()
    expect(sameKeyFrom(story.operation, story.now)).not.toBeNull()
    story.until(T0 + 5 * MINUTE)
    expect(sameKeyFrom(story.operation, story.now)).toBeNull()
    expect(chosen(story)).toBe("timer")
    expect(story.do({ type: "due" }).state).toBe("needs_review")
  })
})

describe("ready", () => {
  test("looks first where the tool could not recognise its own effect [item 16]", () => {
    const terms = (change: Parameters<typeof lookupContract>[0]) =>
      new Story({ contract: contract({ lookup: lookupContract(change) }) })
    const timeless = terms({ correlates: "created", creation_time: false })
    expect([needsLookBefore(timeless.operation), chosen(timeless)]).toEqual([true, "look_before"])
    expect(needsLookBefore(terms({ correlates: "state" }).operation)).toBe(true)
    expect(needsLookBefore(terms({ correlates: "created" }).operation)).toBe(false)
    expect(needsLookBefore(terms({}).operation)).toBe(false)
    expect(needsLookBefore(timeless.dispatch().ends(1, DECLINED).operation)).toBe(false)
  })

  test("ends by its timer where the deadline or the budget is over", () => {
    expect(chosen(new Story().wait(DAY))).toBe("timer")
    const story = new Story()
      .dispatch()
      .ends(1, UNSENT)
      .wait(3 * MINUTE)
    expect(chosen(story)).toBe("timer")
    expect(story.do({ type: "due" }).operation.reason?.code).toBe("not_connected")
  })

  test("is refused its timer where it is due to be dispatched", () => {
    new Story().refuses({ type: "due" })
    new Story().dispatch().refuses({ type: "due" })
  })
})

describe("accepted", () => {
  const accepted = (checkable: boolean) =>
    new Story({ contract: checkable ? contract() : blind() }).dispatch().ends(1, { class: "accepted", output: null })

  test("is looked up on schedule, at settleBy once more, and then a person's [R29]", () => {
    const story = accepted(true)
    expect(chosen(story.until(story.operation.due_at))).toBe("probe")
    story.refuses({ type: "due" })
    story
      .sees([])
      .until(T0 + 72 * HOUR - SECOND)
      .sees([])
    expect(story.operation.due_at).toBe(T0 + 72 * HOUR)
    expect(chosen(story.until(story.operation.due_at)), "an earlier answer is not the one of settleBy").toBe("probe")
    story.sees([])
    expect([story.operation.due_at, chosen(story)]).toEqual([story.now, "timer"])
    expect(story.do({ type: "due" }).state).toBe("needs_review")
  })

  test("whose last look is not answered does not spin [R29]", () => {
    const story = accepted(true).until(T0 + 72 * HOUR)
    story.do({ type: "probe_started", worker_id: "w", until: story.now + MINUTE })
    story.do({ type: "probe_unanswered", reason: { code: "down", text: "503" } })
    expect(story.operation.due_at).toBeGreaterThan(story.now)
  })

  test("that somebody else looks up is waited for", () => {
    const story = accepted(true).do({ type: "probe_started", worker_id: "w", until: T0 + MINUTE })
    expect(nextStep({ ...story.operation, due_at: T0 }, can(story))).toEqual({ do: "wait", until: T0 + MINUTE })
  })

  test("that nobody can look up waits until settleBy", () => {
    const story = accepted(false)
    expect(story.operation.due_at).toBe(T0 + 72 * HOUR)
    story.refuses({ type: "due" })
    expect(story.until(T0 + 72 * HOUR).do({ type: "due" }).state).toBe("needs_review")
  })
})

describe("a timer", () => {
  test("that is not due is waited for; a settled operation has none", () => {
    const story = new Story().dispatch()
    expect(nextStep(story.operation, can(story))).toEqual({ do: "wait", until: story.operation.due_at })
    for (const early of [new Story({}, HELD), new Story({}, ASKED), new Story().isLost(), inReview()]) {
      expect(early.refuses({ type: "due" }).text).toContain("not due")
    }
    const settled = new Story().do({ type: "cancel", reason: "no" })
    expect(chosen(settled)).toBe("nothing")
  })
})
