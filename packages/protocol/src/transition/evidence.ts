/**
 * A piece of evidence, and the verdict that follows from all of it, in one step (protocol §6).
 *
 * EN1. Evidence raises the version even where it decides nothing (S4): no decision survives evidence it has not read.
 * EN2. Twice is once.
 * EN3. What is kept is bounded: positives always, of the rest the newest.
 * EN4. No lookup refutes an acceptance (item 5).
 */
import { DEFAULTS } from "../defaults.ts"
import { decides, judge } from "../judge.ts"
import { isTerminal } from "../state.ts"
import { afterAllDisproved, enterReview, markDisproved, settlePositive } from "./settle.ts"
import { dueAfterUnknown, dueInReview, dueWhileAccepted } from "./schedule.ts"
import { illegal, reasonData, type StepBuilder, type Transition } from "./step.ts"
import type { Evidence } from "../evidence.ts"
import type { Judgement } from "../judge/judgement.ts"
import type { OperationEvent } from "../operation-event.ts"
import type { Operation } from "../operation.ts"

export function appendEvidence(operation: Operation, evidence: Evidence): readonly Evidence[] {
  const all = [...operation.evidence, evidence]
  if (all.length <= DEFAULTS.evidence_kept) return all
  const droppable = all.findIndex(
    (one) =>
      one.finding.kind === "unsure" ||
      one.rank === "claimed" ||
      (one.finding.kind === "look" && one.finding.candidates.length === 0),
  )
  return droppable < 0 ? all : all.toSpliced(droppable, 1)
}

export function evidence(step: StepBuilder, event: Extract<OperationEvent, { type: "evidence" }>): Transition {
  const { evidence: one, context } = event
  if (step.operation.evidence.some((known) => known.evidence_id === one.evidence_id)) {
    return illegal(step.operation, "this evidence is already recorded", "version_conflict")
  }
  const answered = one.source === "probe" || one.source === "fence"
  step.set({
    evidence: appendEvidence(step.operation, one),
    ...(answered
      ? {
          probes: {
            ...step.operation.probes,
            answered: step.operation.probes.answered + 1,
            failed: 0,
            lease: null,
            last_at: one.observed_from,
          },
        }
      : {}),
  })
  step.event(answered ? "provider_result" : "evidence", {
    evidence_id: one.evidence_id,
    source: one.source,
    rank: one.rank,
    finding: one.finding.kind,
    ...(one.finding.kind === "look"
      ? { candidates: one.finding.candidates.map((found) => found.object_id), complete: one.finding.complete }
      : {}),
    ...(one.by === undefined ? {} : { by: one.by }),
  })
  if (!decides(one)) return claim(step).finish()
  return conclude(step, one, context).finish()
}

/** A claim settles nothing; it makes the next probe due. */
function claim(step: StepBuilder): StepBuilder {
  const { state, checkable } = step.operation
  const waiting = state === "unknown" || state === "needs_review" || state === "accepted"
  return waiting && checkable ? step.set({ due_at: step.now }) : step
}

function conclude(
  step: StepBuilder,
  one: Evidence,
  context: Extract<OperationEvent, { type: "evidence" }>["context"],
): StepBuilder {
  const finding = one.finding
  switch (finding.kind) {
    case "applied":
      return settlePositive(step, {
        cause: one.rank === "signed" ? "signed" : one.rank === "attested" ? "attested" : "reported",
        verdict: "confirmed",
        reason: null,
        ...(finding.candidate ? { candidate: finding.candidate } : {}),
        ...(finding.output === undefined ? {} : { output: finding.output }),
        attempt: one.attempt,
      })
    case "reversed":
      return reversed(step, finding.reason)
    case "fenced":
      return fenced(step, one)
    case "not_applied":
      return denied(step, one, finding.reason, finding.permanent)
    case "accepted":
    case "unsure":
      return reschedule(step)
    case "look":
      return looked(step, judge(step.operation, context))
  }
}

function looked(step: StepBuilder, judgement: Judgement): StepBuilder {
  const operation = step.operation
  if (isTerminal(operation.state)) {
    return judgement.verdict === "confirmed" && judgement.candidate
      ? settlePositive(step, { cause: judgement.cause ?? "operation", verdict: "confirmed", reason: null, candidate: judgement.candidate, attempt: null })
      : step
  }
  step.set({ verdict: judgement.verdict })
  switch (judgement.verdict) {
    case "confirmed":
      return settlePositive(step, {
        cause: judgement.cause ?? "operation",
        verdict: "confirmed",
        reason: judgement.reason,
        ...(judgement.candidate ? { candidate: judgement.candidate } : {}),
        output: operation.output ?? judgement.candidate?.state ?? null,
        attempt: null,
      })
    case "diverged":
      if (operation.state === "dispatched") return step
      step.incident("diverged", reasonData(judgement.reason))
      if (operation.state === "needs_review") {
        return step.set({ reason: judgement.reason, due_at: dueInReview(operation, step.now, step.unit) })
      }
      return enterReview(step, judgement.reason, "diverged")
    case "refuted":
      if (operation.state === "dispatched" || operation.state === "accepted" || operation.state === "ready") {
        return reschedule(step)
      }
      return refuted(step, judgement)
    case "inconclusive":
      return reschedule(step)
  }
}

function refuted(step: StepBuilder, judgement: Judgement): StepBuilder {
  const refusal = step.operation.attempts.find((attempt) => attempt.refused)?.refused
  const others = step.operation.attempts.filter((attempt) => attempt.status !== "disproved" && !attempt.refused)
  step.set({
    attempts: step.operation.attempts.map((attempt) =>
      attempt.status === "disproved" ? attempt : markDisproved(attempt, attempt.refused ?? judgement.reason),
    ),
  })
  return afterAllDisproved(step, {
    reason: refusal && others.length === 0 ? refusal : judgement.reason,
    permanent: refusal !== undefined && others.length === 0,
  })
}

function fenced(step: StepBuilder, one: Evidence): StepBuilder {
  const generation = one.generation ?? step.operation.generation
  const reason = { code: "fenced", text: "a tombstone of ours holds the name" }
  step.set({
    attempts: step.operation.attempts.map((attempt) =>
      attempt.generation === generation && attempt.status !== "disproved" ? markDisproved(attempt, reason) : attempt,
    ),
  })
  const next = Math.max(step.operation.generation, generation + 1)
  if (step.operation.attempts.some((attempt) => attempt.status !== "disproved")) {
    return reschedule(step.set({ generation: next }))
  }
  afterAllDisproved(step, { reason, permanent: false })
  return step.set({ generation: Math.max(step.operation.generation, next) })
}

/** A negative that names neither attempt nor generation disproves none. */
function denied(step: StepBuilder, one: Evidence, text: string, permanent: boolean): StepBuilder {
  if (isTerminal(step.operation.state) || step.operation.state === "accepted") return step
  const reason = { code: "reported_not_applied", text }
  step.set({
    attempts: step.operation.attempts.map((attempt) => {
      const spoken = one.attempt === attempt.attempt || (one.attempt === null && one.generation === attempt.generation)
      const closed = attempt.status === "disproved" || attempt.status === "acknowledged" || attempt.status === "accepted"
      return spoken && !closed ? markDisproved(attempt, reason) : attempt
    }),
  })
  if (step.operation.state === "dispatched") return step
  const all = step.operation.attempts.length > 0 && step.operation.attempts.every((attempt) => attempt.status === "disproved")
  return all ? afterAllDisproved(step, { reason, permanent }) : reschedule(step)
}

function reversed(step: StepBuilder, text: string): StepBuilder {
  const reason = { code: "reversed", text }
  if (step.operation.state === "succeeded") return step.incident("contradicted", { settled_as: "succeeded", ...reasonData(reason) })
  if (isTerminal(step.operation.state)) return step
  return step.enter("undone", { reason }).event("state_updated", { outcome: "undone", ...reasonData(reason) })
}

export function reschedule(step: StepBuilder): StepBuilder {
  const operation = step.operation
  switch (operation.state) {
    case "unknown":
      return step.set({ due_at: dueAfterUnknown(operation, step.now, step.unit) })
    case "needs_review":
      return step.set({ due_at: dueInReview(operation, step.now, step.unit) })
    case "accepted":
      return step.set({ due_at: dueWhileAccepted(operation, step.now, step.unit) })
    default:
      return step
  }
}
