/**
 * When an open operation is looked at next.
 *
 * Owns: `due_at` of `unknown`, `needs_review` and `accepted`.
 *
 * SH1. A probe that the provider did not answer costs no budget (§4).
 * SH2. Every open state has a next moment (L1).
 * SH3. A probe is aimed: where the settle window ends before the next slot of the schedule, it is made then.
 */
import { DEFAULTS } from "../defaults.ts"
import { nextProbeAt } from "../retry-schedule.ts"
import { restoredSettledFrom, settledFrom } from "../windows.ts"
import type { Operation } from "../operation.ts"

/** The end of the last settle window that is still ahead, or null. */
function windowEnd(operation: Operation, now: number): number | null {
  let end = restoredSettledFrom(operation) ?? Number.NEGATIVE_INFINITY
  for (const attempt of operation.attempts) {
    if (attempt.status === "disproved") continue
    const from = settledFrom(operation, attempt)
    if (from !== null && from > end) end = from
  }
  return end > now ? end : null
}

export function dueAfterUnknown(operation: Operation, now: number, unit: number): number {
  if (!operation.checkable) return now
  const { answered, failed, last_at: last } = operation.probes
  const next = nextProbeAt({ answered, failed, now, unit, review: false })
  const lookup = operation.contract.lookup
  const end = windowEnd(operation, now)
  if (end !== null) return Math.min(next, end)
  if (lookup && last !== null && lookup.consistency !== "search" && answered < DEFAULTS.probes_answered) {
    return Math.min(next, Math.max(now, last + lookup.spacing_ms))
  }
  return next
}

export function dueInReview(operation: Operation, now: number, unit: number): number {
  if (!operation.checkable) return now + DEFAULTS.review_probe_interval_ms
  const { answered, failed } = operation.probes
  const young = now - operation.state_since < 24 * DEFAULTS.probe_interval_ms
  const next = nextProbeAt({ answered, failed, now, unit, review: !young })
  return young ? Math.min(next, now + DEFAULTS.probe_interval_ms) : next
}

export function dueWhileAccepted(operation: Operation, now: number, unit: number): number {
  const settleBy = operation.state_since + operation.contract.settle_by_ms
  if (!operation.checkable) return Math.max(now, settleBy)
  const { answered, failed } = operation.probes
  return Math.min(Math.max(now, settleBy), nextProbeAt({ answered, failed, now, unit, review: false }))
}
