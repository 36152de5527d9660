/**
 * How an attempt ended, told by the process that owns it (protocol §5.6-5.8).
 *
 * OU1. An acknowledgement settles by version, whichever attempt it is about: telling the truth needs no lease (R32).
 * OU2. A stage proves something only while the operation is still `dispatched` with this attempt: living, told in time (R7).
 * OU3. While any attempt is not disproved, a later refusal leads to `unknown`, never to `failed` (R2).
 * OU4. A positive about another generation than the running attempt's bars further attempts and waits (item 14).
 */
import { isTerminal } from "../state.ts"
import { afterAllDisproved, confirmedObject, enterUnknown, markDisproved, settlePositive } from "./settle.ts"
import { dueWhileAccepted } from "./schedule.ts"
import { appendEvidence } from "./evidence.ts"
import { illegal, reasonData, type StepBuilder, type Transition } from "./step.ts"
import type { Evidence, Finding } from "../evidence.ts"
import type { AttemptOutcome, OperationEvent } from "../operation-event.ts"
import type { Attempt, Operation, Reason } from "../operation.ts"

type OutcomeEvent = Extract<OperationEvent, { type: "outcome" }>

export function outcome(step: StepBuilder, event: OutcomeEvent): Transition {
  const attempt = step.operation.attempts.find((one) => one.attempt === event.attempt)
  if (!attempt) return illegal(step.operation, `there is no attempt ${event.attempt}`)
  if (step.operation.evidence.some((one) => one.evidence_id === event.evidence_id)) {
    return illegal(step.operation, "this outcome is already recorded", "version_conflict")
  }
  settleAttempt(step, attempt, event)
  switch (event.outcome.class) {
    case "applied":
      return applied(step, attempt, event, event.outcome).finish()
    case "accepted":
      return accepted(step, attempt, event, event.outcome).finish()
    case "not_applied":
    case "rejected":
      return negative(step, attempt, event, event.outcome).finish()
    case "unknown":
      return ended(step, attempt, event.outcome.reason).finish()
  }
}

/** The promise has ended: what the record says about the attempt itself. */
function settleAttempt(step: StepBuilder, attempt: Attempt, event: OutcomeEvent): void {
  patch(step, attempt.attempt, {
    settled_at: attempt.settled_at ?? step.now,
    left: event.left,
    ...(event.request_digest === undefined ? {} : { request_digest: event.request_digest }),
    ...(event.provider_request_id === undefined ? {} : { provider_request_id: event.provider_request_id }),
    ...(event.http_status === undefined ? {} : { http_status: event.http_status }),
  })
}

function patch(step: StepBuilder, number: number, change: Partial<Attempt>): void {
  step.set({
    attempts: step.operation.attempts.map((one) => (one.attempt === number ? { ...one, ...change } : one)),
  })
}

function evidenceOf(step: StepBuilder, attempt: Attempt, event: OutcomeEvent, finding: Finding): Evidence {
  return {
    evidence_id: event.evidence_id,
    source: "answer",
    rank: attempt.caller_executed ? "reported" : "observed",
    attempt: attempt.attempt,
    generation: attempt.generation,
    observed_from: step.now,
    recorded_at: step.now,
    finding,
  }
}

function applied(
  step: StepBuilder,
  attempt: Attempt,
  event: OutcomeEvent,
  told: Extract<AttemptOutcome, { class: "applied" }>,
): StepBuilder {
  const wasDenied = isTerminal(step.operation.state)
  step.event("acknowledged", {
    attempt: attempt.attempt,
    ...(event.http_status === undefined ? {} : { http_status: event.http_status }),
    ...(event.provider_request_id === undefined ? {} : { provider_request_id: event.provider_request_id }),
    ...(told.candidate ? { object_id: told.candidate.object_id } : {}),
  })
  patch(step, attempt.attempt, { status: "acknowledged" })
  const keep = appendEvidence(
    step.operation,
    evidenceOf(step, attempt, event, {
      kind: "applied",
      ...(told.candidate ? { candidate: told.candidate } : {}),
      ...(told.output === null ? {} : { output: told.output }),
    }),
  )
  if (positiveOfAnotherGeneration(step.operation, attempt)) {
    return step.set({ evidence: keep, barred: true }).incident("late_positive", { attempt: attempt.attempt })
  }
  settlePositive(step, {
    cause: attempt.caller_executed ? "reported" : "acknowledged",
    verdict: "confirmed",
    reason: null,
    ...(told.candidate ? { candidate: told.candidate } : {}),
    output: told.output,
    output_error: told.output_error ?? null,
    attempt: attempt.attempt,
    ...(event.object_taken_by === undefined ? {} : { object_taken_by: event.object_taken_by }),
  })
  step.set({ evidence: keep })
  if (wasDenied && step.operation.object === null && confirmedObject(told.candidate)) {
    step.set({ object: step.operation.contradicted ? null : confirmedObject(told.candidate) })
  }
  return step
}

/** OU4: another attempt of another generation is running right now. */
function positiveOfAnotherGeneration(operation: Operation, attempt: Attempt): boolean {
  if (operation.state !== "dispatched") return false
  const running = operation.attempts.at(-1)
  return running !== undefined && running.attempt !== attempt.attempt && running.generation !== attempt.generation
}

function accepted(
  step: StepBuilder,
  attempt: Attempt,
  event: OutcomeEvent,
  told: Extract<AttemptOutcome, { class: "accepted" }>,
): StepBuilder {
  step.event("accepted", { attempt: attempt.attempt, ...(told.reference === undefined ? {} : { reference: told.reference }) })
  patch(step, attempt.attempt, { status: "accepted" })
  step.set({
    evidence: appendEvidence(
      step.operation,
      evidenceOf(step, attempt, event, {
        kind: "accepted",
        ...(told.reference === undefined ? {} : { reference: told.reference }),
      }),
    ),
  })
  if (isTerminal(step.operation.state)) {
    return settlePositive(step, { cause: "acknowledged", verdict: null, reason: null, attempt: attempt.attempt })
  }
  step.enter("accepted", { output: told.output, reason: null })
  return step.set({ due_at: dueWhileAccepted(step.operation, step.now, step.unit) })
}

function negative(
  step: StepBuilder,
  attempt: Attempt,
  event: OutcomeEvent,
  told: Extract<AttemptOutcome, { class: "not_applied" | "rejected" }>,
): StepBuilder {
  const late = step.operation.state !== "dispatched" || step.operation.attempts.at(-1)?.attempt !== attempt.attempt
  if (isTerminal(step.operation.state)) return step
  if (told.proof === "stage" && late) return ended(step, attempt, { code: "late_stage", text: "a stage told too late proves nothing" })
  if (told.class === "rejected" && told.look_first && step.operation.checkable) {
    patch(step, attempt.attempt, { status: "unknown", refused: told.reason })
    return enterUnknown(step, { code: "look_first", text: "refused; one look before it is believed" })
  }
  for (const one of step.operation.attempts) {
    const spoken = told.speaks_for === "generation" ? one.generation === attempt.generation : one.attempt === attempt.attempt
    if (spoken && one.status !== "disproved" && one.status !== "acknowledged" && one.status !== "accepted") {
      patch(step, one.attempt, markDisproved(one, told.reason, { left: one.attempt === attempt.attempt ? event.left : one.left }))
    }
  }
  trackUnsent(step, attempt, event.left)
  step.event("attempt_disproved", { attempt: attempt.attempt, proof: told.proof, left: event.left, ...reasonData(told.reason) })
  step.set({
    evidence: appendEvidence(
      step.operation,
      evidenceOf(step, attempt, event, {
        kind: "not_applied",
        reason: told.reason.text,
        permanent: told.class === "rejected",
      }),
    ),
  })
  if (step.operation.attempts.some((one) => one.status !== "disproved")) return enterUnknown(step, told.reason)
  return afterAllDisproved(step, {
    reason: told.reason,
    permanent: told.class === "rejected",
    ...("retry_after_ms" in told && told.retry_after_ms !== undefined ? { retry_after_ms: told.retry_after_ms } : {}),
  })
}

function trackUnsent(step: StepBuilder, attempt: Attempt, left: boolean): void {
  if (left) step.set({ unsent_since: null })
  else step.set({ unsent_since: step.operation.unsent_since ?? attempt.dispatched_at })
}

/** The promise ended without knowledge. */
function ended(step: StepBuilder, attempt: Attempt, reason: Reason): StepBuilder {
  const settled = step.operation.attempts.find((one) => one.attempt === attempt.attempt)
  if (settled && settled.status === "open") patch(step, attempt.attempt, { status: "unknown", reason })
  step.event(reason.code === "timeout" ? "timed_out" : "attempt_unknown", { attempt: attempt.attempt, ...reasonData(reason) })
  if (isTerminal(step.operation.state)) return step
  if (step.operation.state !== "dispatched") return step
  if (step.operation.attempts.at(-1)?.attempt !== attempt.attempt) return step
  return enterUnknown(step, reason)
}

export function neverStarted(step: StepBuilder, number: number, evidenceId: string): Transition {
  const attempt = step.operation.attempts.find((one) => one.attempt === number)
  if (!attempt) return illegal(step.operation, `there is no attempt ${number}`)
  const reason = { code: "never_started", text: "its dispatch record was in doubt and its tool never started" }
  step.event("never_started", { attempt: number })
  patch(step, number, { settled_at: step.now, left: false })
  return negative(
    step,
    attempt,
    { type: "outcome", attempt: number, outcome: { class: "unknown", reason }, left: false, evidence_id: evidenceId },
    { class: "not_applied", reason, proof: "word", speaks_for: "attempt" },
  ).finish()
}
