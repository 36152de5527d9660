/**
 * The ways into the states that wait for knowledge, and what an object confirms.
 *
 * SE1. A verdict that something else is in place goes to a person, from wherever knowledge ends (R11).
 * SE2. A person who was asked is not un-asked by the end of an attempt: `needs_review` and `accepted` stay.
 */
import { DEFAULTS } from "../defaults.ts"
import { RETRY_AFTER_MAX_MS } from "../retry-schedule.ts"
import { dueAfterUnknown, reaim } from "./schedule.ts"
import { reasonData, type StepBuilder } from "./step.ts"
import type { Candidate, Verdict } from "../evidence.ts"
import type { ConfirmedObject, Reason } from "../operation.ts"

export function confirmedObject(candidate: Candidate | undefined | null): ConfirmedObject | null {
  if (!candidate) return null
  return { object_id: candidate.object_id, account: candidate.account ?? "", kind: candidate.kind ?? "" }
}

export function enterReview(step: StepBuilder, reason: Reason, verdict: Verdict | null = null): StepBuilder {
  return step
    .enter("needs_review", {
      reason,
      verdict: verdict ?? step.operation.verdict,
      due_at: step.now + DEFAULTS.age_alarm_ms,
    })
    .event(verdict === "diverged" ? "diverged" : "review_needed", reasonData(reason))
}

/** A provider that asked to be left alone is neither asked nor sent to before that (RP-1). */
export function enterUnknown(step: StepBuilder, reason: Reason, retry_after_ms = 0): StepBuilder {
  const { state, verdict } = step.operation
  if (state === "needs_review" || state === "accepted") return reaim(step)
  if (verdict === "diverged") return enterReview(step, reason, "diverged")
  step.enter("unknown", { reason })
  const asked = retry_after_ms > 0 ? step.now + Math.min(retry_after_ms, RETRY_AFTER_MAX_MS) : step.now
  step.set({ due_at: Math.max(asked, dueAfterUnknown(step.operation, step.now, step.unit)) })
  return step.event("unknown", reasonData(reason))
}
