/**
 * How an attempt ended, told by the process that owns it (protocol §5.6-5.8).
 *
 * Owns: what an outcome says about its own attempt, and about others of its generation.
 * Must not: classify. `classifyOutcome()` made the class from stage, answer and the tool's word.
 *
 * OU1. Telling the truth needs no lease: an outcome is heard by version, whichever attempt it is about (R32).
 * OU2. A stage proves something only from a living process that was not given up: after a lost lease or a restore it means
 *      nothing (R7). A worker that itself stopped waiting has not been given up. An opaque attempt has no stage (R1).
 * OU3. While any attempt is not disproved, a later refusal leads to `unknown`, never to `failed` (R2). Only an answer of a
 *      proved key layer speaks for the earlier attempts of its generation.
 * OU4. What a caller says against its own attempt is a claim, unless it may attest (R30).
 * OU5. News of an attempt that is not the running one moves nothing while another one runs.
 * OU6. A number alone does not name an attempt in a journal that went back in time (R24).
 */
import { isTerminal } from "../state.ts"
import { isOpen } from "../windows.ts"
import { disprove, isUndecided, patch, runningAttempt } from "./attempts.ts"
import { afterDisproof, afterEnd } from "./denial.ts"
import { appendEvidence } from "./kept-evidence.ts"
import { settleAcceptance, settlePositive } from "./positive.ts"
import { dueNow, reaim } from "./schedule.ts"
import { enterUnknown } from "./settle.ts"
import { illegal, reasonData, type StepBuilder, type Transition } from "./step.ts"
import type { Finding } from "../evidence.ts"
import type { AttemptOutcome, OperationEvent } from "../operation-event.ts"
import type { Attempt, Operation, Reason } from "../operation.ts"

type OutcomeEvent = Extract<OperationEvent, { type: "outcome" }>
type Told<C extends AttemptOutcome["class"]> = Extract<AttemptOutcome, { class: C }>

export function outcome(step: StepBuilder, event: OutcomeEvent): Transition {
  if (isRecorded(step.operation, event.evidence_id)) {
    return illegal(step.operation, "this outcome is already recorded", "version_conflict")
  }
  const { operation } = step
  if (operation.safety === "read-only" && isTerminal(operation.state)) {
    return illegal(operation, "it is settled, and a read that ends later says nothing about it")
  }
  const attempt = attemptOf(operation, event)
  if (!attempt) return forgotten(step, event)
  patch(step, attempt.attempt, {
    settled_at: attempt.settled_at ?? step.now,
    ...(event.request_digest === undefined ? {} : { request_digest: event.request_digest }),
    ...(event.provider_request_id === undefined ? {} : { provider_request_id: event.provider_request_id }),
    ...(event.http_status === undefined ? {} : { http_status: event.http_status }),
  })
  switch (event.outcome.class) {
    case "applied":
      return applied(step, attempt, event, event.outcome).finish()
    case "accepted":
      return accepted(step, attempt, event, event.outcome).finish()
    case "not_applied":
    case "rejected":
      return negative(step, attempt, event, event.outcome).finish()
    case "unknown":
      record(step, attempt, event, { kind: "unsure", reason: event.outcome.reason.text })
      return ended(step, attempt, event.outcome.reason).finish()
  }
}

function attemptOf(
  operation: Operation,
  { attempt, dispatched_at: at }: Pick<OutcomeEvent, "attempt" | "dispatched_at">,
): Attempt | undefined {
  return operation.attempts.find((one) => one.attempt === attempt && (at === undefined || at === one.dispatched_at))
}

/** OU6. Of an attempt that a restored journal forgot: it counts if it is good news, and about no attempt on record. */
function forgotten(step: StepBuilder, event: OutcomeEvent): Transition {
  const { outcome: told, evidence_id } = event
  if (event.dispatched_at === undefined || (told.class !== "applied" && told.class !== "accepted")) {
    return illegal(step.operation, `there is no such attempt ${event.attempt}`)
  }
  const candidate = told.class === "applied" && told.candidate ? { candidate: told.candidate } : {}
  const finding: Finding = told.class === "applied" ? { kind: "applied", ...candidate } : { kind: "accepted" }
  record(step, { attempt: null, generation: null, caller_executed: false }, { evidence_id }, finding)
  step.event(told.class === "applied" ? "acknowledged" : "accepted", { attempt: event.attempt, forgotten: true })
  if (told.class === "accepted") return settleAcceptance(step, { attempt: null, output: told.output }).finish()
  return settlePositive(step, {
    cause: "acknowledged",
    verdict: "confirmed",
    reason: null,
    ...candidate,
    output: told.output,
    output_error: told.output_error ?? null,
    attempt: null,
    ...(event.object_taken_by === undefined ? {} : { object_taken_by: event.object_taken_by }),
  }).finish()
}

export function isRecorded(operation: Operation, evidence_id: string): boolean {
  return operation.evidence.some((one) => one.evidence_id === evidence_id)
}

interface Source {
  readonly attempt: number | null
  readonly generation: number | null
  readonly caller_executed?: boolean
}

function record(
  step: StepBuilder,
  of: Source,
  { evidence_id }: Pick<OutcomeEvent, "evidence_id">,
  finding: Finding,
  claimed = false,
): void {
  step.set({
    evidence: appendEvidence(step.operation, {
      evidence_id,
      source: of.caller_executed ? "caller" : "answer",
      rank: claimed ? "claimed" : of.caller_executed ? "reported" : "observed",
      attempt: of.attempt,
      generation: of.generation,
      observed_from: step.now,
      recorded_at: step.now,
      finding,
    }),
  })
}

function applied(step: StepBuilder, attempt: Attempt, event: OutcomeEvent, told: Told<"applied">): StepBuilder {
  step.event("acknowledged", {
    attempt: attempt.attempt,
    ...(event.http_status === undefined ? {} : { http_status: event.http_status }),
    ...(event.provider_request_id === undefined ? {} : { provider_request_id: event.provider_request_id }),
    ...(told.candidate ? { object_id: told.candidate.object_id } : {}),
  })
  patch(step, attempt.attempt, { status: "acknowledged" })
  record(step, attempt, event, {
    kind: "applied",
    ...(told.candidate ? { candidate: told.candidate } : {}),
    ...(told.output === null ? {} : { output: told.output }),
  })
  return settlePositive(step, {
    cause: attempt.caller_executed ? "reported" : "acknowledged",
    verdict: "confirmed",
    reason: null,
    ...(told.candidate ? { candidate: told.candidate } : {}),
    output: told.output,
    output_error: told.output_error ?? null,
    attempt: attempt.attempt,
    ...(event.object_taken_by === undefined ? {} : { object_taken_by: event.object_taken_by }),
  })
}

function accepted(step: StepBuilder, attempt: Attempt, event: OutcomeEvent, told: Told<"accepted">): StepBuilder {
  step.event("accepted", {
    attempt: attempt.attempt,
    ...(told.reference === undefined ? {} : { reference: told.reference }),
  })
  record(step, attempt, event, {
    kind: "accepted",
    ...(told.reference === undefined ? {} : { reference: told.reference }),
  })
  return settleAcceptance(step, { attempt: attempt.attempt, output: told.output })
}

type Negative = Told<"not_applied"> | Told<"rejected">

function negative(step: StepBuilder, attempt: Attempt, event: OutcomeEvent, told: Negative): StepBuilder {
  const finding = { kind: "not_applied" as const, reason: told.reason.text, permanent: told.class === "rejected" }
  if (attempt.caller_executed && event.attested !== true) {
    record(step, attempt, event, finding, true)
    ended(step, attempt, { code: "claimed_not_applied", text: told.reason.text })
    return step.operation.state === "unknown" && step.operation.checkable ? dueNow(step) : step
  }
  const worthless = worthlessProof(step.operation, attempt, event, told)
  if (worthless) {
    record(step, attempt, event, { kind: "unsure", reason: worthless.text })
    return ended(step, attempt, worthless)
  }
  const meant = spokenFor(step, attempt, event, told)
  if (told.class === "rejected" && told.look_first && step.operation.checkable) {
    record(step, attempt, event, { kind: "unsure", reason: told.reason.text })
    return lookFirst(step, attempt, told.reason, meant)
  }
  record(step, attempt, event, finding)
  disprove(step, meant, () => told.reason)
  if (!event.left && isUndecided(attempt)) patch(step, attempt.attempt, { left: false })
  step.event("attempt_disproved", {
    attempt: attempt.attempt,
    proof: told.proof,
    left: event.left,
    ...reasonData(told.reason),
  })
  if (!concludes(step.operation, attempt)) return step
  step.set({ unsent_since: event.left ? null : (step.operation.unsent_since ?? attempt.dispatched_at) })
  return afterDisproof(step, {
    reason: told.reason,
    permanent: told.class === "rejected",
    ...("retry_after_ms" in told && told.retry_after_ms !== undefined ? { retry_after_ms: told.retry_after_ms } : {}),
  })
}

/** Why a negative proves nothing (OU2), or null. */
function worthlessProof(operation: Operation, attempt: Attempt, event: OutcomeEvent, told: Negative): Reason | null {
  if (told.proof !== "stage") return null
  if (attempt.transport === "opaque") return { code: "no_stage", text: "an opaque attempt has no stage" }
  if (event.left) return { code: "contradictory", text: "a stage proves nothing about what left" }
  const running = runningAttempt(operation)?.attempt === attempt.attempt
  const stoppedWaiting =
    attempt.status === "unknown" && attempt.reason?.code === "timeout" && operation.restored === null
  if (running || stoppedWaiting) return null
  return { code: "late_stage", text: "a stage told after the lease was lost proves nothing" }
}

/** The attempts a negative speaks for (OU3). What may still run elsewhere, unseen, is never spoken for. */
function spokenFor(
  step: StepBuilder,
  attempt: Attempt,
  event: OutcomeEvent,
  told: Negative,
): (one: Attempt) => boolean {
  const { key } = step.operation.contract
  const { http_status: status } = event
  const keyLayer = key?.proved !== undefined && status !== undefined && key.answers_for_key?.includes(status) === true
  const forKey = told.speaks_for === "generation" && keyLayer
  return (one) => {
    if (one.attempt === attempt.attempt) return true
    return forKey && one.generation === attempt.generation && !(one.transport === "opaque" && isOpen(one, step.now))
  }
}

/** A definite refusal of a checkable tool is believed after one look: an intermediary may have repeated the request (R28.1). */
function lookFirst(step: StepBuilder, attempt: Attempt, reason: Reason, meant: (one: Attempt) => boolean): StepBuilder {
  step.set({
    attempts: step.operation.attempts.map((one) =>
      isUndecided(one) && meant(one) ? { ...one, status: "unknown", refused: reason } : one,
    ),
  })
  step.event("attempt_unknown", { attempt: attempt.attempt, ...reasonData(reason) })
  return concludes(step.operation, attempt)
    ? enterUnknown(step, { code: "look_first", text: "refused; one look before it is believed" })
    : step
}

/** Whether the operation waits for this very news (OU5). */
function concludes(operation: Operation, attempt: Attempt): boolean {
  const running = runningAttempt(operation)
  if (running) return running.attempt === attempt.attempt
  return operation.state === "unknown" || operation.state === "needs_review"
}

/** The promise ended without knowledge. */
function ended(step: StepBuilder, attempt: Attempt, reason: Reason): StepBuilder {
  if (attempt.status === "open") patch(step, attempt.attempt, { status: "unknown", reason })
  step.event(reason.code === "timeout" ? "timed_out" : "attempt_unknown", {
    attempt: attempt.attempt,
    ...reasonData(reason),
  })
  if (isTerminal(step.operation.state)) return step
  if (runningAttempt(step.operation)?.attempt === attempt.attempt) return afterEnd(step, reason)
  return reaim(step)
}

/** Told by the process whose dispatch record committed in doubt: its tool was never called (R23). */
export function neverStarted(step: StepBuilder, event: Extract<OperationEvent, { type: "never_started" }>): Transition {
  const { evidence_id } = event
  const attempt = attemptOf(step.operation, event)
  if (!attempt) return illegal(step.operation, `there is no such attempt ${event.attempt}`)
  if (!isUndecided(attempt) || attempt.settled_at !== null || isRecorded(step.operation, evidence_id)) {
    return illegal(step.operation, "the attempt has ended already", "version_conflict")
  }
  const reason = { code: "never_started", text: "its dispatch record was in doubt and its tool never started" }
  const told = { class: "not_applied", reason, proof: "word", speaks_for: "attempt" } as const
  step.event("never_started", { attempt: attempt.attempt })
  patch(step, attempt.attempt, { settled_at: step.now })
  // The engine's own word, whoever was to execute it.
  const ended = {
    type: "outcome",
    attempt: attempt.attempt,
    outcome: told,
    left: false,
    evidence_id,
    attested: true,
  } as const
  return negative(step, attempt, ended, told).finish()
}
