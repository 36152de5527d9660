// Hunts a second dispatch that nothing permits: over an open attempt, a lapsed or racing key, evidence nobody has read.

import { describe, expect, test } from "vitest"
import { DEFAULTS, mayUseSameKey, nextStep } from "@invokejs/protocol"
import { sameKeyFrom } from "@invokejs/protocol/internal"
import type { AttemptOutcome, KeyContract, Operation } from "@invokejs/protocol"
import {
  APPLIED,
  blind,
  charge,
  contract,
  DAY,
  DECLINED,
  HOUR,
  keyContract,
  lookOf,
  MINUTE,
  REJECTED,
  SECOND,
  Story,
  T0,
  UNKNOWN,
  UNSENT,
} from "./builders.ts"

const keyed = (change: Partial<KeyContract> = {}) => new Story({ contract: contract({ key: keyContract(change) }) })
/** Unknown, and looked at once without an answer that decides. */
const looked = (story: Story) => story.hears({ kind: "unsure", reason: "the list was cut off" })

describe("a dispatch record", () => {
  test("carries number, key, worker and a send_before that nothing moves", () => {
    const story = new Story().dispatch()
    expect(story.attempt(1)).toMatchObject({
      attempt: 1,
      provider_key: "key-0",
      worker_id: "worker-1",
      status: "open",
      left: true,
      send_before: T0 + DEFAULTS.lease_ms - DEFAULTS.lease_margin_ms,
    })
    story.wait(HOUR).do({ type: "lapsed", why: "time" })
    expect(story.attempt(1).send_before).toBe(T0 + DEFAULTS.lease_ms - DEFAULTS.lease_margin_ms)
  })

  test("is refused where the decision rests on an older version: no evidence may be newer [R5] [item 2]", () => {
    const story = looked(keyed().isLost())
    const decided = story.dispatchEvent()
    story.hears({ kind: "unsure", reason: "again" })
    expect(story.refuses(decided).code).toBe("dispatch_refused")
    story.dispatch()
  })

  test("is refused where send_before would lie in the past [R6]", () => {
    new Story().refuses(new Story().dispatchEvent({ lease_until: T0 + DEFAULTS.lease_margin_ms }))
  })

  test("ends its send_before with the approval that covers it, and is refused without its expiry [R22] [item 22]", () => {
    const story = new Story(
      {},
      { kind: "awaiting_approval", approval_id: "ap-1", expires_at: T0 + HOUR, reason: { code: "ask", text: "ask" } },
    ).do({ type: "approve", reason: "fine" })
    expect(story.refuses(story.dispatchEvent()).text).toContain("approval")
    expect(story.dispatch({ approval_until: T0 + 9 * SECOND }).attempt(1).send_before).toBe(T0 + 9 * SECOND)
    const late = new Story(
      {},
      { kind: "awaiting_approval", approval_id: "ap-1", expires_at: T0 + HOUR, reason: { code: "ask", text: "ask" } },
    ).do({ type: "approve", reason: "fine" })
    late.refuses(late.dispatchEvent({ approval_until: T0 }))
  })

  test("is refused from every state in which something may be running, or is settled", () => {
    const dispatched = new Story().dispatch()
    dispatched.refuses(dispatched.dispatchEvent())
    const accepted = new Story().dispatch().ends(1, { class: "accepted", output: null })
    accepted.refuses(accepted.dispatchEvent())
    const succeeded = new Story().dispatch().ends(1, APPLIED)
    succeeded.refuses(succeeded.dispatchEvent())
    const review = new Story({ contract: blind() }).isLost()
    review.until(review.operation.due_at).do({ type: "due" })
    expect(review.state).toBe("needs_review")
    review.refuses(review.dispatchEvent())
  })

  test("asserts its conditions itself, whatever the decision that led to it overlooked [R5] [R24] [item 2]", () => {
    const whatever: readonly Partial<Operation>[] = [
      { barred: true },
      { contradicted: true },
      { restored: { until: T0, returns_to: "ready" } },
      { deadline_at: T0 },
    ]
    for (const change of whatever) {
      const story = new Story()
      story.operation = { ...story.operation, ...change }
      expect(story.refuses(story.dispatchEvent()).code).toBe("dispatch_refused")
    }
    for (const status of ["acknowledged", "accepted"] as const) {
      const story = new Story().dispatch().ends(1, DECLINED)
      story.operation = { ...story.operation, attempts: [{ ...story.attempt(1), status }] }
      expect(story.refuses(story.dispatchEvent()).text).toContain("acknowledged or accepted")
    }
  })

  test("begins the probes of its own attempt anew", () => {
    const story = looked(keyed().isLost()).dispatch()
    expect(story.operation.probes).toMatchObject({ answered: 0, failed: 0, lease: null })
    expect(story.operation.verdict).toBeNull()
  })
})

describe("a same-key attempt", () => {
  test("follows an attempt without knowledge while the key protects [item 2] [R12]", () => {
    const story = looked(keyed().isLost())
    expect(mayUseSameKey(story.operation, story.now)).toBeNull()
    story.dispatch()
    expect(story.operation.attempts.map((one) => [one.generation, one.provider_key])).toEqual([
      [0, "key-0"],
      [0, "key-0"],
    ])
  })

  test("is an attempt of its own: recorded, counted and bound by the deadline [R12]", () => {
    const story = looked(keyed().isLost()).isLost()
    expect(story.operation.attempts).toHaveLength(2)
    const late = looked(keyed().isLost()).wait(2 * DAY)
    expect(late.refuses(late.dispatchEvent()).text).toContain("deadline")
  })

  test("is refused one moment after the key's protection ended [R20]", () => {
    const at = (after: number) => {
      const story = looked(keyed({ retention_ms: 2 * HOUR }).isLost())
      return story.until(T0 + 2 * HOUR - 12 * MINUTE + after)
    }
    at(-1).dispatch()
    expect(mayUseSameKey(at(0).operation, at(0).now)).toMatchObject({ code: "key_unprotected" })
    at(0).refuses(at(0).dispatchEvent())
  })

  test("may not start its request after the protection ended, however late it is dispatched [R20]", () => {
    const story = looked(keyed({ retention_ms: 2 * HOUR }).isLost()).until(T0 + 108 * MINUTE - SECOND)
    expect(story.dispatch().attempt(2).send_before).toBe(T0 + 108 * MINUTE)
  })

  test("waits for the earlier one's settle window where the provider races them [R19] [R19a]", () => {
    const story = looked(keyed({ in_flight: "races" }).isLost())
    expect(story.refuses(story.dispatchEvent()).text).toContain("may still be running at the provider")
    const window = story.attempt(1).last_possible_send + 6 * MINUTE
    expect(sameKeyFrom(story.operation, story.now)).toBe(window)
    story.until(window).dispatch()
  })

  test("counts that window from a clock step on [R19] [R28]", () => {
    const story = looked(keyed({ in_flight: "races" }).isLost())
    story.until(story.attempt(1).last_possible_send + 6 * MINUTE)
    story.refuses(story.dispatchEvent({ clock_stepped_at: story.now - SECOND }))
    story.dispatch({ clock_stepped_at: T0 - HOUR })
  })

  test("does not go out over bytes that are not known, unless the provider compares them [R19] [R19b]", () => {
    const ignores = looked(keyed({ on_mismatch: "ignores" }).isLost())
    expect(ignores.refuses(ignores.dispatchEvent()).text).toContain("bytes")
    const digested = keyed({ on_mismatch: "ignores" }).dispatch().ends(1, UNKNOWN, { request_digest: "d1" })
    looked(digested).dispatch()
  })

  test("does not go out again once the transport refused another body under this key [R19] [R19b]", () => {
    const changed = { ...UNSENT, reason: { code: "key_body_changed", text: "another body" } }
    const story = looked(keyed().isLost()).dispatch().ends(2, changed)
    expect([story.state, story.attempt(2).left]).toEqual(["unknown", false])
    looked(story).refuses(story.dispatchEvent())
  })

  test("does not go out under another key in the same generation, as after a change of the key's form [R19] [R2]", () => {
    const story = looked(keyed().isLost())
    expect(story.refuses(story.dispatchEvent({ provider_key: "key-0-short" })).text).toContain("another provider key")
  })

  test("needs a key that is declared, proved, remembered for a known time and never executed twice [R12] [R20]", () => {
    const { proved: _proved, ...unproved } = keyContract()
    const { retention_ms: _retention, ...forgetful } = keyContract()
    for (const key of [unproved, forgetful, keyContract({ replay: "executes" })]) {
      const story = looked(new Story({ contract: contract({ key }) }).isLost())
      story.refuses(story.dispatchEvent())
    }
    const keyless = looked(new Story().isLost())
    keyless.refuses(keyless.dispatchEvent())
  })

  test("is judged by the stricter of the frozen contract and the one loaded now [R28] [R28d]", () => {
    const story = looked(keyed().isLost())
    for (const key of [
      keyContract({ in_flight: "races" }),
      keyContract({ retention_ms: 6 * MINUTE }),
      keyContract({ replay: "executes" }),
    ]) {
      const now = contract({ key })
      story.refuses(story.dispatchEvent({ contract: now }))
      const step = nextStep(story.operation, {
        now: story.operation.due_at ?? 0,
        quarantine: false,
        can_fence: false,
        contract: now,
      })
      expect(step.do, "nothing is chosen that would be refused").toBe("probe")
    }
    story.refuses(story.dispatchEvent({ contract: contract() }))
    story.dispatch({ contract: contract({ key: keyContract({ retention_ms: 7 * DAY }) }) })
  })

  test("does not go out beside an opaque attempt that may still send after the key has lapsed [R6]", () => {
    const story = looked(keyed().isLost({ transport: "opaque" })).wait(20 * MINUTE)
    expect(story.refuses(story.dispatchEvent()).text).toContain("still running")
    story.do({ type: "worker_gone", worker_id: "worker-1", proof: "its lock was found free" }).dispatch()
  })

  test("of an opaque tool, which no gate stops, needs a key that protects for an hour longer [R20] [R6]", () => {
    const ended = () =>
      looked(
        keyed({ retention_ms: 5 * HOUR })
          .dispatch({ transport: "opaque" })
          .ends(1, UNKNOWN),
      )
    const protects = T0 + 5 * HOUR - 30 * MINUTE
    const early = ended().until(protects - HOUR - SECOND)
    expect(mayUseSameKey(early.operation, early.now)).toBeNull()
    const late = ended().until(protects - HOUR)
    expect(mayUseSameKey(late.operation, late.now)).toMatchObject({ code: "key_unprotected" })
    late.refuses(late.dispatchEvent({ transport: "opaque" }))
    late.dispatch({ transport: "invoke" })
  })

  test("does not go out over an attempt of another generation [R2] [R19]", () => {
    const story = keyed({ replays_errors: true }).dispatch().ends(1, DECLINED)
    expect([story.state, story.operation.generation]).toEqual(["ready", 1])
    story.until(story.operation.due_at).dispatch().ends(2, UNKNOWN)
    looked(story)
    const older = {
      ...story.operation,
      attempts: story.operation.attempts.map((one, at) => (at === 0 ? { ...one, status: "unknown" as const } : one)),
    }
    expect(mayUseSameKey(older, story.now)).toMatchObject({ code: "key_unprotected" })
    expect(mayUseSameKey(story.operation, story.now)).toBeNull()
  })

  test("is not made where something else of ours was found [R11]", () => {
    const story = keyed().dispatch()
    story.hears(lookOf([charge({ state: { amount: 2424 } })]))
    expect([story.state, story.operation.verdict, story.incidents]).toEqual(["dispatched", "diverged", ["diverged"]])
    story.ends(1, UNKNOWN)
    expect([story.state, story.operation.verdict]).toEqual(["needs_review", "diverged"])
  })
})

describe("the budget", () => {
  test("of attempts that left is spent after so many, over the operation's life [item 15]", () => {
    const story = new Story()
    for (let number = 1; number <= 3; number += 1) {
      story.until(story.operation.due_at).dispatch().ends(number, DECLINED)
    }
    expect([story.state, story.operation.reason?.code]).toEqual(["not_applied", "attempts_spent"])
  })

  test("of same-key attempts is the same budget, and the rest is looked up", () => {
    const story = keyed()
    for (let number = 1; number <= 3; number += 1) looked(story.isLost())
    expect(mayUseSameKey(story.operation, story.now)).toMatchObject({ code: "attempts_spent" })
    expect(
      nextStep(story.until(story.operation.due_at).operation, { now: story.now, quarantine: false, can_fence: false }),
    ).toEqual({ do: "probe" })
  })

  test("does not count attempts that never left; they go on for two minutes [item 15]", () => {
    const story = new Story()
    let number = 0
    while (story.state === "ready" && number < 100) {
      number += 1
      story.until(story.operation.due_at)
      if (story.now >= T0 + DEFAULTS.connect_for_ms) break
      story.dispatch().wait(SECOND).ends(number, UNSENT)
    }
    expect(number).toBeGreaterThan(3)
    expect(story.now - T0).toBeGreaterThanOrEqual(DEFAULTS.connect_for_ms)
    if (story.state === "ready") story.do({ type: "due" })
    expect([story.state, story.operation.reason?.code]).toEqual(["not_applied", "not_connected"])
  })

  test("of the two minutes begins anew after an attempt that left, and after a retry [item 15]", () => {
    const story = new Story().dispatch().ends(1, UNSENT)
    story
      .until(story.operation.due_at)
      .dispatch()
      .wait(3 * MINUTE)
      .ends(2, DECLINED)
    expect([story.state, story.operation.unsent_since]).toEqual(["ready", null])
    story.until(story.operation.due_at).dispatch().ends(3, UNSENT)
    expect(story.operation.unsent_since).toBe(story.attempt(3).dispatched_at)
    story.wait(3 * MINUTE).do({ type: "due" })
    expect(story.state).toBe("not_applied")
    story.do({ type: "retry", after_attempt: 3, deadline_at: story.now + DAY, automatic: false })
    expect(nextStep(story.operation, { now: story.now, quarantine: false, can_fence: false })).toEqual({
      do: "dispatch",
    })
    story.dispatch().ends(4, UNSENT)
    expect(story.state).toBe("ready")
  })
})

describe("the key generation", () => {
  test("changes only where the provider replays errors and the attempt left [R2]", () => {
    const after = (change: Partial<KeyContract>, outcome: AttemptOutcome) =>
      keyed(change).dispatch().ends(1, outcome).operation.generation
    expect(after({ replays_errors: true }, DECLINED)).toBe(1)
    expect(after({ replays_errors: true }, UNSENT)).toBe(0)
    expect(after({ replays_errors: false }, DECLINED)).toBe(0)
  })

  test("does not change while an attempt of the old one is not disproved [R2]", () => {
    const story = looked(keyed({ replays_errors: true }).isLost())
      .dispatch()
      .ends(2, REJECTED)
    expect([story.state, story.operation.generation]).toEqual(["unknown", 0])
  })
})
