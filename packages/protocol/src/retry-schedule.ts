/**
 * When the next attempt and the next look are due.
 *
 * Owns: the arithmetic of backoff and of the probe schedule (interfaces, "Defaults").
 * Must not: decide whether an attempt may be made. The clock and the random `unit` (0 ≤ unit < 1) are given.
 *
 * RS1. Attempts: full jitter between `backoff_min_ms` and a ceiling that doubles up to `backoff_max_ms`.
 * RS2. A provider's Retry-After is a floor, never a ceiling, and is itself bounded.
 * RS3. Probes follow `probe_delays_ms`, then are hourly; in review, daily. Later looks are never due sooner than earlier ones.
 */
import { DEFAULTS } from "./defaults.ts"

export interface AttemptTiming {
  /** Attempts made so far, those that never left included: an unreachable provider is not asked faster. */
  readonly failures: number
  readonly now: number
  readonly unit: number
  readonly retry_after_ms?: number
}

/** A provider that asks for more than a day is heard as a day: the deadline ends the operation before that. */
export const RETRY_AFTER_MAX_MS = 24 * 60 * 60 * 1_000

export function nextAttemptAt({ failures, now, unit, retry_after_ms: asked }: AttemptTiming): number {
  const { backoff_min_ms: least, backoff_max_ms: most } = DEFAULTS
  const doublings = Math.min(Math.max(1, Math.floor(failures)), 30)
  const ceiling = Math.min(most, least * 2 ** doublings)
  const delay = least + clampUnit(unit) * (ceiling - least)
  // The provider's moment is shared by everybody it refused: the jitter goes on top, so they do not all come back at once.
  const floor = asked === undefined ? 0 : Math.min(Math.max(0, asked), RETRY_AFTER_MAX_MS) + clampUnit(unit) * least
  return now + Math.ceil(Math.max(delay, floor))
}

export interface ProbeTiming {
  readonly answered: number
  /** Looks the provider did not answer: they cost no budget, but the next look waits as long as if they had. */
  readonly failed: number
  readonly now: number
  readonly unit: number
  /** In review for longer than a day. */
  readonly review: boolean
}

/** The share of a delay that jitter may add. It only ever adds, so a schedule is never run ahead of. */
const PROBE_JITTER = 0.2

export function nextProbeAt({ answered, failed, now, unit, review }: ProbeTiming): number {
  const made = Math.max(0, Math.floor(answered) + Math.floor(failed))
  const delay = review
    ? DEFAULTS.review_probe_interval_ms
    : (DEFAULTS.probe_delays_ms[made] ?? DEFAULTS.probe_interval_ms)
  return now + Math.ceil(delay * (1 + PROBE_JITTER * clampUnit(unit)))
}

/** Whether the looks that were answered have used up their budget, so that a person is asked (RC-8). */
export function probeBudgetSpent(answered: number): boolean {
  return answered >= DEFAULTS.probes_answered
}

function clampUnit(unit: number): number {
  return unit >= 0 && unit <= 1 ? unit : unit > 1 ? 1 : 0
}
