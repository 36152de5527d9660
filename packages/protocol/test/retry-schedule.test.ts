// Hunts a retry storm (too soon, all at once), a wait without end, and a Retry-After that is not heard or is misread.

import {
  DEFAULTS,
  nextAttemptAt,
  nextProbeAt,
  probeBudgetSpent,
  RETRY_AFTER_MAX_MS,
  retryAfterMs,
} from "@invokejs/protocol"
import fc from "fast-check"
import { expect, test } from "vitest"

const units = fc.double({ min: 0, max: 1, noNaN: true })
const times = fc.integer({ min: 0, max: 4_000_000_000_000 })

test("the next attempt is between one second and the doubled ceiling, at most five minutes [RP-1]", () => {
  fc.assert(
    fc.property(fc.nat({ max: 10_000 }), times, units, (failures, now, unit) => {
      const delay = nextAttemptAt({ failures, now, unit }) - now
      expect(delay).toBeGreaterThanOrEqual(DEFAULTS.backoff_min_ms)
      expect(delay).toBeLessThanOrEqual(Math.min(DEFAULTS.backoff_max_ms, 1_000 * 2 ** Math.max(1, failures)))
    }),
  )
  expect(nextAttemptAt({ failures: 0, now: 0, unit: 1 })).toBe(2_000)
  expect(nextAttemptAt({ failures: 1, now: 0, unit: 1 })).toBe(2_000)
  expect(nextAttemptAt({ failures: 3, now: 0, unit: 1 })).toBe(8_000)
  expect(nextAttemptAt({ failures: 30, now: 0, unit: 1 })).toBe(300_000)
})

test("the jitter fills the whole range, so that many callers do not come back together [RP-1]", () => {
  const delays = [0, 0.25, 0.5, 0.75, 1].map((unit) => nextAttemptAt({ failures: 5, now: 0, unit }))
  expect(delays).toEqual([1_000, 8_750, 16_500, 24_250, 32_000])
})

test("a provider's Retry-After is a floor, with jitter on top, and is bounded [RP-1]", () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 20 }),
      units,
      fc.integer({ min: -10, max: 10 ** 12 }),
      (failures, unit, retry_after_ms) => {
        const at = nextAttemptAt({ failures, now: 0, unit, retry_after_ms })
        expect(at).toBeGreaterThanOrEqual(Math.min(Math.max(0, retry_after_ms), RETRY_AFTER_MAX_MS))
        expect(at).toBeGreaterThanOrEqual(nextAttemptAt({ failures, now: 0, unit }))
        expect(at).toBeLessThanOrEqual(RETRY_AFTER_MAX_MS + DEFAULTS.backoff_max_ms + 1_000)
      },
    ),
  )
  expect(nextAttemptAt({ failures: 1, now: 0, unit: 0.5, retry_after_ms: 60_000 })).toBe(60_500)
})

test("probes follow the written schedule, then the hour, in review the day [RC-8]", () => {
  const delays = Array.from({ length: 8 }, (_, answered) =>
    nextProbeAt({ answered, failed: 0, now: 0, unit: 0, review: false }),
  )
  expect(delays).toEqual([2_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 3_600_000])
  expect(nextProbeAt({ answered: 3, failed: 2, now: 7, unit: 0, review: true })).toBe(86_400_007)
})

test("a later look is never due sooner than an earlier one, and jitter only adds [RC-8]", () => {
  fc.assert(
    fc.property(fc.nat({ max: 40 }), fc.nat({ max: 40 }), units, fc.boolean(), (answered, failed, unit, review) => {
      const at = (more: number) => nextProbeAt({ answered: answered + more, failed, now: 0, unit, review })
      const plain = nextProbeAt({ answered, failed, now: 0, unit: 0, review })
      expect(at(1)).toBeGreaterThanOrEqual(at(0))
      expect(at(0)).toBeGreaterThanOrEqual(plain)
      expect(at(0)).toBeLessThanOrEqual(plain * 1.2 + 1)
    }),
  )
})

test("a probe the provider did not answer slows the next one down and costs no budget [RC-8] [R29]", () => {
  expect(nextProbeAt({ answered: 0, failed: 4, now: 0, unit: 0, review: false })).toBe(300_000)
  expect(probeBudgetSpent(19)).toBe(false)
  expect(probeBudgetSpent(20)).toBe(true)
})

test("a broken random unit stays inside the bounds", () => {
  for (const unit of [Number.NaN, -3, 7, Infinity]) {
    const delay = nextAttemptAt({ failures: 4, now: 0, unit })
    expect(delay >= 1_000 && delay <= 16_000).toBe(true)
  }
})

const now = Date.UTC(2025, 10, 6, 8, 49, 37)

test.each([
  ["0", 0],
  ["120", 120_000],
  [" 7 ", 7_000],
  ["Thu, 06 Nov 2025 08:50:37 GMT", 60_000],
  ["Thursday, 06-Nov-25 08:50:37 GMT", 60_000],
  ["Thu Nov  6 08:50:37 2025", 60_000],
  ["Thu, 06 Nov 2025 08:00:00 GMT", 0],
  ["", null],
  ["-1", null],
  ["1.5", null],
  ["soon", null],
  ["Thu, 06 Foo 2025 08:50:37 GMT", null],
  ["Thu, 06 Nov 2025 25:50:37 GMT", null],
  ["2025-11-06T08:50:37Z", null],
  ["99999999999999999999", null],
])("Retry-After %j is read as %s ms [RP-1]", (value, expected) => {
  expect(retryAfterMs(value, now)).toBe(expected)
})

test("an absent Retry-After says nothing, and every HTTP date is read back [RP-1]", () => {
  expect(retryAfterMs(null, now)).toBeNull()
  expect(retryAfterMs(undefined, now)).toBeNull()
  fc.assert(
    fc.property(fc.nat({ max: 10_000_000 }), (seconds) => {
      expect(retryAfterMs(new Date(now + seconds * 1_000).toUTCString(), now)).toBe(seconds * 1_000)
    }),
  )
})
