// Hunts times that are read too kindly: a silent worker taken for gone, a window begun too early, a key trusted too long.

import { describe, expect, test } from "vitest"
import { DEFAULTS, isOpen, lastSendOf, protectedUntil, sendBefore, settledFrom } from "@invokejs/protocol"
import { mayStillSend, restoredSettledFrom } from "@invokejs/protocol/internal"
import type { Attempt } from "@invokejs/protocol"
import {
  blind,
  contract,
  DAY,
  HOUR,
  keyContract,
  lookupContract,
  MINUTE,
  SECOND,
  Story,
  T0,
  UNKNOWN,
} from "./builders.ts"

const Q_AND_V = 6 * MINUTE

function attemptOf(change: Partial<Attempt> = {}): Attempt {
  return { ...new Story().dispatch().attempt(1), ...change }
}

describe("an open attempt", () => {
  test("silence for a year proves nothing [item 10]", () => {
    expect(isOpen(attemptOf(), T0 + 365 * DAY)).toBe(true)
  })

  test("a gone process ends it only when its time is past as well [item 10]", () => {
    const gone = attemptOf({ gone_at: T0 + SECOND })
    const over = gone.send_before + gone.timeout_ms
    expect(isOpen(gone, over)).toBe(true)
    expect(isOpen(gone, over + 1)).toBe(false)
  })

  test("a settled promise ends it [item 10]", () => {
    expect(isOpen(attemptOf({ settled_at: T0 }), T0)).toBe(false)
  })
})

describe("the last possible send", () => {
  test("on our transport it is the gate's, however long the worker is silent [R6]", () => {
    const attempt = attemptOf()
    expect(lastSendOf(attempt)).toBe(attempt.send_before + DEFAULTS.body_ms)
    expect(mayStillSend(attempt, attempt.last_possible_send - 1)).toBe(true)
    expect(mayStillSend(attempt, attempt.last_possible_send)).toBe(false)
  })

  test("on our transport a settled promise or a gone process is an earlier end, never a later one", () => {
    expect(lastSendOf(attemptOf({ settled_at: T0 + SECOND }))).toBe(T0 + SECOND)
    expect(lastSendOf(attemptOf({ gone_at: T0 + 2 * SECOND }))).toBe(T0 + 2 * SECOND)
    const late = attemptOf({ settled_at: T0 + HOUR })
    expect(lastSendOf(late)).toBe(late.last_possible_send)
  })

  test("an opaque attempt has none before it ended or its process is gone [R6] [item 10]", () => {
    expect(lastSendOf(attemptOf({ transport: "opaque" }))).toBeNull()
    expect(mayStillSend(attemptOf({ transport: "opaque" }), T0 + 365 * DAY)).toBe(true)
    expect(lastSendOf(attemptOf({ transport: "opaque", settled_at: T0 + 9 * SECOND }))).toBe(T0 + 9 * SECOND)
    const gone = attemptOf({ transport: "opaque", gone_at: T0 + SECOND })
    expect(lastSendOf(gone)).toBe(gone.send_before + gone.timeout_ms)
  })

  test("a caller that executes cannot shorten its own window by an early report [R30]", () => {
    const reported = attemptOf({ transport: "opaque", caller_executed: true, settled_at: T0 + SECOND })
    expect(lastSendOf(reported)).toBe(reported.last_possible_send)
  })
})

describe("the settle window", () => {
  test("is Q and V after the last possible send [R6]", () => {
    const story = new Story().dispatch()
    expect(settledFrom(story.operation, story.attempt(1))).toBe(story.attempt(1).last_possible_send + Q_AND_V)
  })

  test("has no V where the lookup is strong, and the defaults where the tool has none", () => {
    const strong = new Story({ contract: contract({ lookup: lookupContract({ consistency: "strong" }) }) }).dispatch()
    expect(settledFrom(strong.operation, strong.attempt(1))).toBe(strong.attempt(1).last_possible_send + 5 * MINUTE)
    const none = new Story({ contract: blind() }).dispatch()
    expect(settledFrom(none.operation, none.attempt(1))).toBe(none.attempt(1).last_possible_send + Q_AND_V)
  })

  test("begins again after the clock jumped forward, with all of its send time before it [R28]", () => {
    const story = new Story().dispatch()
    const jumped = T0 + 8 * MINUTE
    const sendTime = story.attempt(1).last_possible_send - T0
    expect(settledFrom(story.operation, story.attempt(1), jumped)).toBe(jumped + sendTime + Q_AND_V)
    story.wait(SECOND).ends(1, UNKNOWN)
    expect(settledFrom(story.operation, story.attempt(1), jumped)).toBe(jumped + Q_AND_V)
  })

  test("an attempt made after the jump is not concerned [R28]", () => {
    const story = new Story().wait(HOUR).dispatch()
    const { last_possible_send: last } = story.attempt(1)
    expect(settledFrom(story.operation, story.attempt(1), T0)).toBe(last + Q_AND_V)
  })

  test("after a restore it covers an attempt that was sent at the last moment [R24] [item 18]", () => {
    const story = new Story().do({ type: "restored", until: T0 + SECOND })
    const sendTime = DEFAULTS.lease_ms - DEFAULTS.lease_margin_ms + DEFAULTS.body_ms
    expect(restoredSettledFrom(story.operation)).toBe(T0 + SECOND + sendTime + Q_AND_V)
    expect(restoredSettledFrom(story.operation, T0 + HOUR)).toBe(T0 + HOUR + sendTime + Q_AND_V)
    expect(restoredSettledFrom(new Story().operation)).toBeNull()
  })
})

describe("key protection", () => {
  const keyed = (key = keyContract()) => new Story({ contract: contract({ key }) })

  test("ends at the first dispatch record plus retention less the margin [R20]", () => {
    const story = keyed().isLost()
    expect(protectedUntil(story.operation)).toBe(T0 + DAY - DAY / 10)
    const short = keyed(keyContract({ retention_ms: HOUR })).isLost()
    // Timeout, Q and clock error are more than a tenth of an hour here, and more than five minutes.
    expect(protectedUntil(short.operation)).toBe(
      T0 + HOUR - Math.max(6 * MINUTE, 30 * SECOND + 5 * MINUTE + 2 * SECOND),
    )
  })

  test("is counted from the generation's first record, not from the last attempt [R20]", () => {
    const story = keyed().isLost().sees([]).wait(HOUR).dispatch()
    expect(protectedUntil(story.operation)).toBe(T0 + DAY - DAY / 10)
  })

  test("does not exist where nobody proved the key, where retention is not declared, or before a first record [R20]", () => {
    const { proved: _proved, ...unproved } = keyContract()
    const { retention_ms: _retention, ...forgetful } = keyContract()
    expect(protectedUntil(keyed(unproved).isLost().operation)).toBeNull()
    expect(protectedUntil(keyed(forgetful).isLost().operation)).toBeNull()
    expect(protectedUntil(keyed().operation)).toBeNull()
  })

  test("does not exist at a provider that executes a known key again [R12]", () => {
    expect(protectedUntil(keyed(keyContract({ replay: "executes" })).isLost().operation)).toBeNull()
    expect(protectedUntil(keyed(keyContract({ replay: "finishes" })).isLost().operation)).not.toBeNull()
  })

  test("has lapsed for good once the journal went back in time [R24] [item 18]", () => {
    const story = keyed()
      .isLost()
      .do({ type: "restored", until: T0 + MINUTE })
    expect(protectedUntil(story.operation)).toBeNull()
    expect(protectedUntil({ ...story.operation, restored: null })).toBeNull()
  })
})

describe("send_before", () => {
  test("is bounded by lease, approval and deadline, not by a key that no attempt leans on [item 6]", () => {
    const { operation } = new Story({ contract: contract({ key: keyContract({ retention_ms: 1 }) }) })
    expect(sendBefore(operation, { lease_until: T0 + 30 * SECOND })).toBe(T0 + 25 * SECOND)
    expect(sendBefore(operation, { lease_until: T0 + 30 * SECOND, approval_until: T0 + SECOND })).toBe(T0 + SECOND)
    expect(sendBefore(operation, { lease_until: T0 + 2 * DAY })).toBe(operation.deadline_at)
  })

  test("of an attempt that leans on the key ends with the key's protection [R20] [item 6]", () => {
    const key = keyContract({ retention_ms: HOUR })
    const story = new Story({ contract: contract({ key }) }).isLost()
    const until = protectedUntil(story.operation) ?? 0
    expect(sendBefore(story.operation, { lease_until: until + HOUR })).toBe(until)
  })
})
