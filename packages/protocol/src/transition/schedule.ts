/**
 * When an open operation is looked at next.
 *
 * Owns: `due_at` of `unknown`, `needs_review` and `accepted`.
 * Must not: decide what is done then. `nextStep()` does.
 *
 * SH1. A probe that the provider did not answer costs no budget (§4).
 * SH2. Every open state has a next moment (L1), and after a step at `now` it lies ahead of `now`, or something else is due now.
 * SH3. A probe is aimed: where the settle window ends before the next slot of the schedule, it is made then; where another
 *      negative is all that lacks, it is made when `spacing` is over.
 * SH4. While somebody looks, the next moment is the end of that look's lease.
 */
import { DEFAULTS } from "../defaults.ts"
import { nextAttemptAt, nextProbeAt } from "../retry-schedule.ts"
import { sameKeyFrom } from "../same-key.ts"
import { restoredSettledFrom, settledFrom } from "../windows.ts"
import type { StepBuilder } from "./step.ts"
import type { Operation } from "../operation.ts"

/** The end of the last settle window that is still ahead, or null. */
function windowEnd(operation: Operation, now: number): number | null {
  let end = restoredSettledFrom(operation) ?? Number.NEGATIVE_INFINITY
  for (const attempt of operation.attempts) {
    if (attempt.status !== "open" && attempt.status !== "unknown") continue
    const from = settledFrom(operation, attempt)
    if (from !== null && from > end) end = from
  }
  return end > now ? end : null
}

/** `lacks`: the code of the judgement's reason, where one was just made. */
export function dueAfterUnknown(operation: Operation, now: number, unit: number, lacks?: string): number {
  if (!operation.checkable) return dueUnchecked(operation, now, unit)
  const { answered, failed, last_at: last } = operation.probes
  if (answered >= DEFAULTS.probes_answered) return now
  const next = nextProbeAt({ answered, failed, now, unit, review: false })
  const end = windowEnd(operation, now)
  if (end !== null) return Math.min(next, end)
  const spacing = operation.contract.lookup?.spacing_ms
  if (lacks === "settle_window" && spacing !== undefined && last !== null && lastSilenceCounts(operation))
    return Math.min(next, Math.max(now + 1, last + spacing))
  return next
}

/** Another look soon helps only where a look's silence counts: one that is never complete is asked by the schedule. */
function lastSilenceCounts(operation: Operation): boolean {
  const last = operation.evidence.findLast((one) => one.finding.kind === "look")?.finding
  return last?.kind === "look" && last.complete && !last.search
}

/** Nobody can look: a same-key attempt after a backoff, or a person at once. */
function dueUnchecked(operation: Operation, now: number, unit: number): number {
  const from = sameKeyFrom(operation, now)
  return from === null ? now : Math.max(from, nextAttemptAt({ failures: operation.attempts.length, now, unit }))
}

export function dueInReview(operation: Operation, now: number, unit: number): number {
  if (!operation.checkable) return now + DEFAULTS.review_probe_interval_ms
  const { answered, failed } = operation.probes
  const young = now - operation.state_since < 24 * DEFAULTS.probe_interval_ms
  const next = nextProbeAt({ answered, failed, now, unit, review: !young })
  return young ? Math.min(next, now + DEFAULTS.probe_interval_ms) : next
}

/** At `settleBy` a probe is due; an answer to that one, or the lack of a probe, ends the waiting. */
export function dueWhileAccepted(operation: Operation, now: number, unit: number): number {
  const settleBy = operation.state_since + operation.contract.settle_by_ms
  if (!operation.checkable) return Math.max(now, settleBy)
  const { answered, failed } = operation.probes
  const next = nextProbeAt({ answered, failed, now, unit, review: false })
  if (now < settleBy) return Math.min(settleBy, next)
  return lookedSince(operation, settleBy) ? now : next
}

export function lookedSince(operation: Operation, moment: number): boolean {
  const { last_at: last } = operation.probes
  return last !== null && last >= moment
}

/** The next moment of a state that waits for knowledge; other states keep theirs. */
export function reschedule(step: StepBuilder, lacks?: string): StepBuilder {
  const operation = step.operation
  switch (operation.state) {
    case "unknown":
      return step.set({ due_at: dueAfterUnknown(operation, step.now, step.unit, lacks) })
    case "needs_review":
      return step.set({ due_at: dueInReview(operation, step.now, step.unit) })
    case "accepted":
      return step.set({ due_at: dueWhileAccepted(operation, step.now, step.unit) })
    default:
      return step
  }
}

/** The same, but only ever sooner: something became possible that was not. */
export function reaim(step: StepBuilder): StepBuilder {
  const before = step.operation.due_at
  reschedule(step)
  const after = step.operation.due_at
  return before !== null && after !== null && before < after ? step.set({ due_at: before }) : step
}

/** Somebody wants to know now (SH4). */
export function dueNow(step: StepBuilder): StepBuilder {
  const { due_at: due, probes } = step.operation
  const soon = probes.lease !== null && probes.lease.until > step.now ? probes.lease.until : step.now
  return step.set({ due_at: Math.min(due ?? soon, soon) })
}
