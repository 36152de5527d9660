/**
 * A person's word about an operation that nobody could settle (protocol §4, HU-3). Rights are checked at the doors.
 *
 * RV1. `closed_unknown` settles the queue, never a retry (R10).
 * RV2. While an attempt may still send, `ready` and `not_applied` demand the word that its process is gone (item 10).
 * RV3. A positive is not talked away: what was acknowledged or accepted ends in `succeeded`, `undone` or `closed_unknown`.
 * RV4. What goes out again by a person's word is approved again (R22), and the objects seen until then are set aside.
 */
import { keptPositives } from "../judge/rank.ts"
import { mayStillSend } from "../windows.ts"
import { markDisproved } from "./attempts.ts"
import { attemptsSent } from "./budget.ts"
import { nextGeneration, settleDenial } from "./denial.ts"
import { appendEvidence } from "./kept-evidence.ts"
import { isRecorded } from "./outcome.ts"
import { confirmedObject } from "./settle.ts"
import { illegal, type StepBuilder, type Transition } from "./step.ts"
import type { Finding } from "../evidence.ts"
import type { OperationEvent, ResolveTo } from "../operation-event.ts"
import type { Operation, Reason } from "../operation.ts"

export function resolve(step: StepBuilder, event: Extract<OperationEvent, { type: "resolve" }>): Transition {
  const { operation } = step
  const { resolve: to } = event
  const refusal = resolveRefusal(operation, to, step.now)
  if (refusal) return illegal(operation, refusal)
  if (isRecorded(operation, event.evidence_id))
    return illegal(operation, "this word is already recorded", "version_conflict")
  recordWord(step, event.evidence_id, findingOf(to))
  return resolved(step, to).event("resolved", { to: to.to, reason: to.reason, evidence: to.evidence }).finish()
}

function resolveRefusal(operation: Operation, to: ResolveTo, now: number): string | null {
  const { state } = operation
  if (state !== "needs_review" && state !== "unknown" && state !== "accepted") {
    return `an operation in ${state} is not resolved by a person`
  }
  if (to.reason.trim() === "") return "a reason is needed"
  if (to.to !== "closed_unknown" && Object.keys(to.evidence).length === 0 && !to.object) return "evidence is needed"
  if (to.to !== "ready" && to.to !== "not_applied") return null
  const taken = operation.attempts.some((one) => one.status === "accepted" || one.status === "acknowledged")
  if (state === "accepted" || taken || keptPositives(operation).length > 0) {
    return "a positive is not refuted by a person; resolve to succeeded, undone or closed_unknown"
  }
  if (operation.attempts.some((one) => mayStillSend(one, now)) && to.process_gone !== true) {
    return "an attempt may still be running: say that its process is gone (process_gone), or `workers gone` first"
  }
  return to.to === "ready" && now >= operation.deadline_at
    ? "its deadline is over; resolve to not_applied and retry"
    : null
}

function findingOf(to: ResolveTo): Finding {
  switch (to.to) {
    case "succeeded":
      return {
        kind: "applied",
        ...(to.object ? { candidate: to.object } : {}),
        ...(to.output === undefined ? {} : { output: to.output }),
      }
    case "undone":
      return { kind: "reversed", reason: to.reason, ...(to.object ? { candidate: to.object } : {}) }
    case "not_applied":
    case "ready":
      return { kind: "not_applied", reason: to.reason, permanent: false }
    case "closed_unknown":
      return { kind: "unsure", reason: to.reason }
  }
}

export function recordWord(step: StepBuilder, evidence_id: string, finding: Finding): void {
  step.set({
    evidence: appendEvidence(step.operation, {
      evidence_id,
      source: "operator",
      rank: "attested",
      attempt: null,
      generation: null,
      observed_from: step.now,
      recorded_at: step.now,
      finding,
    }),
  })
}

/** By a person's word, which is the only one that may speak against every attempt at once. */
export function disproveAll(step: StepBuilder, reason: Reason): void {
  step.set({
    attempts: step.operation.attempts.map((one) =>
      one.status === "disproved" ? one : markDisproved(one, reason, { settled_at: one.settled_at ?? step.now }),
    ),
    restored: null,
    barred: false,
  })
}

function resolved(step: StepBuilder, to: ResolveTo): StepBuilder {
  const reason = { code: "resolved", text: to.reason }
  switch (to.to) {
    case "succeeded":
      if (to.object_taken_by !== undefined && !step.operation.contract.shared) {
        step.incident("object_shared", { object_id: to.object?.object_id ?? "", confirms: to.object_taken_by })
      }
      return step.enter("succeeded", {
        cause: "attested",
        verdict: "confirmed",
        reason,
        object: to.object_taken_by === undefined ? (confirmedObject(to.object) ?? step.operation.object) : null,
        output: to.output ?? step.operation.output,
        barred: false,
        restored: null,
      })
    case "undone":
      return step.enter("undone", {
        reason,
        object: confirmedObject(to.object) ?? step.operation.object,
        restored: null,
      })
    case "closed_unknown":
      return step.enter("closed_unknown", { reason })
    case "not_applied":
      disproveAll(step, reason)
      return settleDenial(step, "not_applied", reason)
    case "ready": {
      disproveAll(step, reason)
      const { operation } = step
      return step.enter("ready", {
        reason,
        verdict: "refuted",
        due_at: step.now,
        approval_id: null,
        unsent_since: null,
        generation: nextGeneration(operation),
        attempts_max: Math.max(operation.attempts_max, attemptsSent(operation) + 1),
      })
    }
  }
}
