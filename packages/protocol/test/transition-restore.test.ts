// Hunts the second effect of a journal that went back in time: a row that says "nothing was sent" and is believed.

import { describe, expect, test } from "vitest"
import { DEFAULTS, nextStep } from "@invokejs/protocol"
import type { AttemptOutcome } from "@invokejs/protocol"
import { restoredSettledFrom } from "@invokejs/protocol/internal"
import {
  APPLIED,
  blind,
  charge,
  contract,
  DECLINED,
  HOUR,
  keyContract,
  MINUTE,
  REJECTED,
  SECOND,
  Story,
  T0,
  UNKNOWN,
} from "./builders.ts"
import { ASKED, HELD } from "./in-every-state.ts"

const can = (story: Story, quarantine = false) => ({ now: story.now, quarantine, can_fence: false })

const restored = (story: Story) => story.do({ type: "restored", until: story.now })
const afterWindow = (story: Story) => story.until(restoredSettledFrom(story.operation)).sees([]).wait(MINUTE).sees([])

describe("a restored operation", () => {
  test("is unknown wherever it stood, and nothing goes out [R24] [R24b] [item 18]", () => {
    for (const story of [
      new Story(),
      new Story({}, HELD),
      new Story({}, ASKED),
      new Story().dispatch(),
      new Story().isLost(),
    ]) {
      restored(story)
      expect([story.state, story.operation.reason?.code]).toEqual(["unknown", "restored"])
      story.refuses(story.dispatchEvent())
      expect(nextStep(story.operation, can(story))).toEqual({ do: "probe" })
    }
  })

  test("in review or accepted stays there, and is marked [R24]", () => {
    const accepted = restored(new Story().dispatch().ends(1, { class: "accepted", output: null }))
    expect([accepted.state, accepted.operation.restored?.returns_to]).toEqual(["accepted", "accepted"])
    new Story().dispatch().ends(1, APPLIED).refuses({ type: "restored", until: T0 })
  })

  test("returns, refuted after its window, to the state it had; approval is asked afresh [R24] [item 18]", () => {
    const ready = afterWindow(restored(new Story()))
    expect([ready.state, ready.operation.restored, ready.operation.approval_id]).toEqual(["ready", null, null])
    expect(nextStep(ready.operation, can(ready))).toEqual({ do: "dispatch" })
    const asked = afterWindow(restored(new Story({}, ASKED)))
    expect([asked.state, asked.operation.approval_id]).toEqual(["awaiting_approval", "ap-1"])
    expect(asked.operation.due_at, "it does not expire at once").toBe(
      Math.min(asked.now + DEFAULTS.approval_ms, asked.operation.deadline_at),
    )
    const approved = restored(new Story({}, ASKED).do({ type: "approve", reason: "yes" }))
    expect(afterWindow(approved).operation.approval_id).toBeNull()
    const held = afterWindow(restored(new Story({}, HELD)))
    expect([held.state, held.operation.held_by, held.operation.due_at]).toEqual(["held", "op-0", held.now + HOUR])
    const sent = afterWindow(restored(new Story().dispatch()))
    expect([sent.state, sent.attempt(1).status]).toEqual(["ready", "disproved"])
  })

  test("is not refuted before that window by any number of looks [R24] [item 18]", () => {
    const story = restored(new Story())
    const edge = restoredSettledFrom(story.operation) ?? 0
    while (story.wait(MINUTE).now < edge) story.sees([])
    expect(story.state).toBe("unknown")
  })

  test("whose attempts are all disproved by their own answers may have had one that was forgotten [R24] [item 18]", () => {
    const told = restored(new Story().dispatch())
    for (const outcome of [REJECTED, DECLINED]) {
      const story = restored(new Story().dispatch()).ends(1, outcome)
      expect([story.state, story.attempt(1).status]).toEqual(["unknown", "disproved"])
    }
    told.do({ type: "never_started", attempt: 1, evidence_id: "e1" })
    expect(told.state).toBe("unknown")
    const webhook = restored(new Story().dispatch())
    webhook.hears(
      { kind: "not_applied", reason: "failed", permanent: true },
      { source: "webhook", rank: "signed", attempt: 1 },
    )
    expect(webhook.state).toBe("unknown")
    const fenced = restored(
      new Story({
        contract: contract({ fence: { kind: "tombstone", permanent: true, proved: { date: "d", against: "x" } } }),
      }).dispatch(),
    )
    fenced.hears({ kind: "fenced", marker: "m" }, { source: "fence", generation: 0 })
    expect(fenced.state).toBe("unknown")
  })

  test("that ended in review is not sent again by itself, whatever it was before [R24] [item 14]", () => {
    const story = restored(new Story())
    for (let look = 0; look < DEFAULTS.probes_answered; look += 1) story.hears({ kind: "unsure", reason: "cut off" })
    story.until(story.operation.due_at).do({ type: "due" })
    expect(story.state).toBe("needs_review")
    expect(afterWindow(story).state).toBe("not_applied")
    story.do({ type: "retry", after_attempt: 0, deadline_at: story.now + HOUR, automatic: false }).dispatch()
  })

  test("that nobody can look up goes to a person [R24]", () => {
    const story = restored(new Story({ contract: blind() }))
    expect(nextStep(story.operation, can(story, true))).toEqual({ do: "timer" })
    expect(story.do({ type: "due" }).state).toBe("needs_review")
    expect(story.resolve("ready").state).toBe("ready")
  })

  test("finds its forgotten effect, and succeeds without an attempt on record [R24]", () => {
    const story = restored(new Story()).sees([charge()])
    expect([story.state, story.operation.cause, story.operation.attempts.length]).toEqual(["succeeded", "operation", 0])
  })

  test("never leans on a key of before, not even after it settled [R24] [R20] [item 18]", () => {
    const story = restored(new Story({ contract: contract({ key: keyContract() }) }).dispatch())
    story.hears({ kind: "unsure", reason: "cut off" })
    story.refuses(story.dispatchEvent())
    afterWindow(story)
    story.until(story.operation.due_at).dispatch()
    expect(
      story.attempt(2).generation,
      "the same key is presented again: a forgotten attempt may still be deduped by it",
    ).toBe(0)
    story.ends(2, UNKNOWN).hears({ kind: "unsure", reason: "cut off" })
    story.refuses(story.dispatchEvent())
  })

  test("is marked again only by a later change, and keeps where it first stood [R24]", () => {
    const story = restored(new Story())
    story.refuses({ type: "restored", until: story.now })
    story.wait(SECOND).do({ type: "restored", until: story.now })
    expect(story.operation.restored).toEqual({ until: story.now, returns_to: "ready" })
  })

  test("hears good news of an attempt it forgot, and takes no other for it that has its number [R24]", () => {
    const forgotten = T0 - HOUR
    const told = (story: Story, outcome: AttemptOutcome) => story.outcome(1, outcome, { dispatched_at: forgotten })
    const empty = restored(new Story())
    empty.refuses(told(empty, REJECTED))
    empty.do(told(empty, APPLIED))
    expect([empty.state, empty.operation.cause, empty.operation.attempts.length]).toEqual([
      "succeeded",
      "acknowledged",
      0,
    ])
    const running = new Story().dispatch()
    running.refuses(told(running, REJECTED))
    running.refuses({ type: "never_started", attempt: 1, evidence_id: "e1", dispatched_at: forgotten })
    expect(running.attempt(1).status).toBe("open")
    expect(running.ends(1, REJECTED, { dispatched_at: running.attempt(1).dispatched_at }).state).toBe("failed")
    expect(new Story().dispatch().do(told(new Story(), { class: "accepted", output: null })).state).toBe("accepted")
  })

  test("in quarantine is probed and not sent, and a ready one waits without a timer run hot [R24]", () => {
    const ready = new Story()
    expect(nextStep(ready.operation, can(ready, true))).toEqual({ do: "wait", until: T0 + DEFAULTS.backoff_max_ms })
    const keyed = new Story({ contract: contract({ key: keyContract() }) })
      .isLost()
      .hears({ kind: "unsure", reason: "cut off" })
    keyed.until(keyed.operation.due_at)
    expect(nextStep(keyed.operation, can(keyed))).toEqual({ do: "dispatch" })
    expect(nextStep(keyed.operation, can(keyed, true))).toEqual({ do: "probe" })
    const unchecked = new Story({ contract: blind({ key: keyContract() }) }).isLost()
    unchecked.until(unchecked.operation.due_at)
    expect(nextStep(unchecked.operation, can(unchecked, true)).do).toBe("wait")
  })
})
