/**
 * The ways into the states that settle an operation, and what follows when every attempt is disproved.
 *
 * SE1. Positive evidence is heard in every state (R5, §4). On a settled denial it contradicts; it never rewrites.
 * SE2. `not_applied` and `failed` need proof about every attempt (R2, S3).
 * SE3. Nothing goes out by itself from `needs_review` (§4).
 * SE4. The generation changes only when all its attempts are disproved and the provider replays errors, or after a tombstone.
 */
import { DEFAULTS } from "../defaults.ts"
import { nextAttemptAt } from "../retry-schedule.ts"
import { isTerminal } from "../state.ts"
import { objectKey } from "../judge/context.ts"
import { dueAfterUnknown } from "./schedule.ts"
import { reasonData, type StepBuilder } from "./step.ts"
import type { Json } from "../canonical-json.ts"
import type { Candidate, Cause, Verdict } from "../evidence.ts"
import type { Attempt, ConfirmedObject, Operation, Reason } from "../operation.ts"

export interface Positive {
  readonly cause: Cause
  readonly verdict: Verdict | null
  readonly reason: Reason | null
  readonly candidate?: Candidate
  readonly output?: Json | null
  readonly output_error?: string | null
  readonly object_taken_by?: string
  readonly attempt: number | null
}

const NOTHING_HAPPENED = ["failed", "not_applied", "refused", "denied", "expired", "cancelled", "replan"]

/** A positive, wherever the operation stands (SE1). */
export function settlePositive(step: StepBuilder, positive: Positive): StepBuilder {
  const operation = step.operation
  if (isTerminal(operation.state)) return positiveOnTerminal(step, positive)
  const other = otherObject(operation, positive.candidate)
  if (other) {
    return step
      .enter("needs_review", { verdict: "diverged", reason: { code: "double_effect", text: "two different objects" }, ...reviewDue(step) })
      .event("diverged", { objects: [other, positive.candidate?.object_id ?? ""] })
      .incident("double_effect", { objects: [other, positive.candidate?.object_id ?? ""] })
  }
  if (operation.state === "ready" || (operation.state === "awaiting_approval" && operation.attempts.length > 0)) {
    step.incident("late_positive", { state: operation.state, cause: positive.cause })
  }
  if (positive.object_taken_by !== undefined) {
    step.incident("object_shared", {
      object_id: positive.candidate?.object_id ?? "",
      confirms: positive.object_taken_by,
    })
  }
  step.enter("succeeded", {
    cause: positive.cause,
    verdict: positive.verdict,
    reason: positive.reason,
    output: positive.output ?? operation.output ?? null,
    output_error: positive.output_error ?? operation.output_error,
    object: positive.object_taken_by === undefined ? (confirmedObject(positive.candidate) ?? operation.object) : null,
    barred: false,
    restored: null,
  })
  return step.event("state_updated", {
    outcome: "succeeded",
    cause: positive.cause,
    ...(positive.candidate ? { object_id: positive.candidate.object_id } : {}),
  })
}

function positiveOnTerminal(step: StepBuilder, positive: Positive): StepBuilder {
  const operation = step.operation
  if (NOTHING_HAPPENED.includes(operation.state)) {
    if (operation.contradicted) return step
    return step
      .set({ contradicted: true, reason: { code: "contradicted", text: "a late positive denies this outcome" } })
      .event("contradicted", { settled_as: operation.state, cause: positive.cause })
      .incident("contradicted", {
        settled_as: operation.state,
        cause: positive.cause,
        object_id: positive.candidate?.object_id ?? null,
      })
  }
  const other = otherObject(operation, positive.candidate)
  if (other) {
    return step.incident("double_effect", { objects: [other, positive.candidate?.object_id ?? ""] })
  }
  if (operation.state === "closed_unknown") step.incident("late_positive", { state: operation.state, cause: positive.cause })
  return step
}

function otherObject(operation: Operation, candidate: Candidate | undefined): string | null {
  if (!candidate) return null
  const known = operation.object ?? keptObject(operation)
  if (!known) return null
  return objectKey(known) === objectKey(candidate) ? null : known.object_id
}

/** The object of an acknowledgement heard earlier and not settled yet. */
function keptObject(operation: Operation): Candidate | null {
  for (const one of operation.evidence) {
    if (one.rank !== "claimed" && one.finding.kind === "applied" && one.finding.candidate) return one.finding.candidate
  }
  return null
}

export function confirmedObject(candidate: Candidate | undefined | null): ConfirmedObject | null {
  if (!candidate) return null
  return { object_id: candidate.object_id, account: candidate.account ?? "", kind: candidate.kind ?? "" }
}

function reviewDue(step: StepBuilder): { due_at: number } {
  return { due_at: step.now + DEFAULTS.age_alarm_ms }
}

export function enterReview(step: StepBuilder, reason: Reason, verdict: Verdict | null = null): StepBuilder {
  return step
    .enter("needs_review", { reason, verdict: verdict ?? step.operation.verdict, ...reviewDue(step) })
    .event(verdict === "diverged" ? "diverged" : "review_needed", reasonData(reason))
}

export function enterUnknown(step: StepBuilder, reason: Reason): StepBuilder {
  if (step.operation.state === "needs_review" || step.operation.state === "accepted") return step
  step.enter("unknown", { reason })
  step.set({ due_at: dueAfterUnknown(step.operation, step.now, step.unit) })
  return step.event("unknown", reasonData(reason))
}

export interface Disproof {
  readonly reason: Reason
  readonly permanent: boolean
  readonly retry_after_ms?: number
}

/** What follows when no attempt is left undisproved (SE2). */
export function afterAllDisproved(step: StepBuilder, proof: Disproof): StepBuilder {
  const operation = step.operation
  const kept = operation.evidence.findLast((one) => one.rank !== "claimed" && one.finding.kind === "applied")
  if (operation.barred && kept?.finding.kind === "applied") {
    return settlePositive(step.incident("late_positive", { attempt: kept.attempt }), {
      cause: "acknowledged",
      verdict: "confirmed",
      reason: null,
      ...(kept.finding.candidate ? { candidate: kept.finding.candidate } : {}),
      output: kept.finding.output ?? null,
      attempt: kept.attempt,
    })
  }
  if (operation.restored) {
    const back = operation.restored.returns_to
    step.set({ restored: null, generation: operation.generation + 1 })
    if (back === "ready" || back === "held" || back === "awaiting_approval") {
      step.enter(back, { due_at: step.now })
      return step.event("state_updated", { outcome: back, ...reasonData(proof.reason) })
    }
  }
  if (proof.permanent) return settleDenial(step, "failed", proof.reason)
  if (operation.state === "needs_review") return settleDenial(step, "not_applied", proof.reason)
  if (operation.attempts.at(-1)?.caller_executed) return settleDenial(step, "not_applied", proof.reason)
  const spent = spentReason(operation, step.now)
  if (spent) return settleDenial(step, "not_applied", spent)
  const sent = operation.attempts.filter((attempt) => attempt.left).length
  const at = nextAttemptAt({
    failures: operation.attempts.length,
    now: step.now,
    unit: step.unit,
    ...(proof.retry_after_ms === undefined ? {} : { retry_after_ms: proof.retry_after_ms }),
  })
  step.enter("ready", {
    reason: proof.reason,
    verdict: operation.attempts.length > 0 ? "refuted" : null,
    generation: nextGeneration(operation),
    due_at: Math.min(at, operation.deadline_at),
  })
  return step.event("ready", { ...reasonData(proof.reason), attempts_sent: sent })
}

export function settleDenial(step: StepBuilder, state: "failed" | "not_applied", reason: Reason): StepBuilder {
  return step
    .enter(state, { reason, verdict: "refuted", generation: nextGeneration(step.operation), restored: null })
    .event("state_updated", { outcome: state, ...reasonData(reason) })
}

/** Why no further attempt may be made, or null (RP-1). */
export function spentReason(operation: Operation, now: number): Reason | null {
  if (now >= operation.deadline_at) return { code: "deadline", text: "the operation's deadline is over" }
  const sent = operation.attempts.filter((attempt) => attempt.left).length
  if (sent >= operation.attempts_max) return { code: "attempts_spent", text: `${sent} attempts left the machine` }
  const since = operation.unsent_since
  const last = operation.attempts.at(-1)
  if (last && !last.left && since !== null && now - since >= DEFAULTS.connect_for_ms) {
    return { code: "not_connected", text: "the provider could not be reached" }
  }
  return null
}

function nextGeneration(operation: Operation): number {
  const used = operation.attempts.some((attempt) => attempt.generation === operation.generation && attempt.left)
  const replays = operation.contract.key?.replays_errors ?? false
  return used && replays ? operation.generation + 1 : operation.generation
}

export function markDisproved(attempt: Attempt, reason: Reason, change: Partial<Attempt> = {}): Attempt {
  return { ...attempt, ...change, status: "disproved", reason }
}
