/**
 * A piece of evidence, and the verdict that follows from all of it, in one step (protocol §6).
 *
 * Owns: what each kind of finding does in each state.
 * Must not: believe a claim, or conclude from a look by itself: `judge()` weighs all of them.
 *
 * EN1. Evidence raises the version even where it decides nothing (S4): no decision survives evidence it has not read.
 * EN2. Twice is once.
 * EN3. No lookup refutes an acceptance (item 5), and nothing is refuted while an attempt runs (R32).
 * EN4. A negative that names no attempt disproves none, but for the engine's own look begun after every window (item 27).
 * EN5. A negative never moves an operation that waits to be dispatched, to be approved, or for its slot.
 */
import { judge } from "../judge.ts"
import { causeOf, decides } from "../judge/rank.ts"
import { objectKey } from "../judge/context.ts"
import { isTerminal } from "../state.ts"
import { lastSendOf, restoredSettledFrom, settledFrom } from "../windows.ts"
import { disprove, isUndecided, patch } from "./attempts.ts"
import { afterDisproof, refusedForGood } from "./denial.ts"
import { appendEvidence } from "./kept-evidence.ts"
import { isRecorded } from "./outcome.ts"
import { contradict, settleAcceptance, settlePositive, settleReversal } from "./positive.ts"
import { dueInReview, dueNow, reschedule } from "./schedule.ts"
import { enterReview } from "./settle.ts"
import { illegal, reasonData, type StepBuilder, type Transition } from "./step.ts"
import type { Evidence, Finding } from "../evidence.ts"
import type { Judgement } from "../judge/judgement.ts"
import type { JudgeContext } from "../judge/context.ts"
import type { OperationEvent } from "../operation-event.ts"
import type { Attempt, Operation } from "../operation.ts"

export function evidence(step: StepBuilder, event: Extract<OperationEvent, { type: "evidence" }>): Transition {
  const { evidence: one, context } = event
  const { operation } = step
  if (isRecorded(operation, one.evidence_id))
    return illegal(operation, "this evidence is already recorded", "version_conflict")
  if (one.source === "probe" && (one.finding.kind === "applied" || one.finding.kind === "accepted")) {
    return illegal(operation, "a probe tells what it saw; cause is judged")
  }
  const answered = one.source === "probe" || one.source === "fence"
  step.set({ evidence: appendEvidence(operation, one), ...(answered ? { probes: lookedAt(operation, one) } : {}) })
  step.event(answered ? "provider_result" : "evidence", {
    evidence_id: one.evidence_id,
    source: one.source,
    rank: one.rank,
    finding: one.finding.kind,
    ...(one.finding.kind === "look"
      ? { candidates: one.finding.candidates.map((found) => found.object_id), complete: one.finding.complete }
      : {}),
    ...(one.finding.kind === "unsure" ? { reason: one.finding.reason } : {}),
    ...(one.by === undefined ? {} : { by: one.by }),
  })
  return decides(step.operation, one) ? conclude(step, one, context).finish() : claim(step).finish()
}

function lookedAt(operation: Operation, one: Evidence): Operation["probes"] {
  const { answered, last_at: last } = operation.probes
  return {
    answered: answered + 1,
    failed: 0,
    lease: null,
    last_at: Math.max(last ?? one.observed_from, one.observed_from),
  }
}

const WAITS_FOR_KNOWLEDGE: readonly string[] = ["unknown", "needs_review", "accepted"]

/** A claim settles nothing; it makes the next probe due. */
function claim(step: StepBuilder): StepBuilder {
  const { state, checkable } = step.operation
  return checkable && WAITS_FOR_KNOWLEDGE.includes(state) ? dueNow(step) : step
}

function conclude(step: StepBuilder, one: Evidence, context: JudgeContext): StepBuilder {
  const { finding } = one
  switch (finding.kind) {
    case "applied":
      return confirmed(step, one, finding, context)
    case "accepted":
      return settleAcceptance(step, one)
    case "reversed":
      return settleReversal(step, finding.reason, {
        ...one,
        ...(finding.candidate ? { candidate: finding.candidate } : {}),
      })
    case "fenced":
      return fenced(step, one)
    case "not_applied":
      return denied(step, one, finding, context)
    case "unsure":
      return reschedule(step)
    case "look":
      return looked(step, judge(step.operation, context))
  }
}

function confirmed(
  step: StepBuilder,
  one: Evidence,
  finding: Extract<Finding, { kind: "applied" }>,
  context: JudgeContext,
): StepBuilder {
  if (one.attempt !== null) patch(step, one.attempt, { status: "acknowledged" })
  const { candidate } = finding
  const taken = candidate !== undefined && context.taken.includes(objectKey(candidate))
  return settlePositive(step, {
    cause: causeOf(one),
    verdict: "confirmed",
    reason: null,
    ...(candidate ? { candidate } : {}),
    ...(finding.output === undefined ? {} : { output: finding.output }),
    attempt: one.attempt,
    generation: one.generation,
    ...(taken ? { object_taken_by: "another operation" } : {}),
  })
}

function looked(step: StepBuilder, judgement: Judgement): StepBuilder {
  const operation = step.operation
  if (judgement.verdict === "confirmed") {
    return settlePositive(step, {
      cause: judgement.cause ?? "operation",
      verdict: "confirmed",
      reason: judgement.reason,
      ...(judgement.candidate ? { candidate: judgement.candidate } : {}),
      output: operation.output ?? judgement.candidate?.output ?? judgement.candidate?.state ?? null,
      attempt: null,
    })
  }
  if (isTerminal(operation.state)) return judgement.verdict === "diverged" ? divergedLate(step, judgement) : step
  step.set({ verdict: judgement.verdict })
  if (judgement.verdict === "diverged") return diverged(step, operation, judgement)
  if (judgement.verdict === "refuted" && (operation.state === "unknown" || operation.state === "needs_review")) {
    return refuted(step, judgement)
  }
  return reschedule(step, judgement.reason.code)
}

/** Something else is in place (R11). The person is asked once; while an attempt runs, when it has ended. */
function diverged(step: StepBuilder, before: Operation, judgement: Judgement): StepBuilder {
  const known = before.verdict === "diverged"
  if (!known) step.incident("diverged", reasonData(judgement.reason))
  if (before.state === "dispatched") return step
  if (before.state !== "needs_review") return enterReview(step, judgement.reason, "diverged")
  return step.set({
    ...(before.reason?.code === "double_effect" ? {} : { reason: judgement.reason }),
    due_at: dueInReview(step.operation, step.now, step.unit),
  })
}

/** After settlement: an object of ours denies a denial; beside a success it is an incident (§7). */
function divergedLate(step: StepBuilder, judgement: Judgement): StepBuilder {
  const { state, contract } = step.operation
  if (contract.lookup?.correlates === "state") return step
  if (state === "succeeded") return step.incident("diverged", { settled_as: state, ...reasonData(judgement.reason) })
  if (state === "undone" || state === "closed_unknown") return step
  return contradict(step, judgement.cause ?? "operation", judgement.candidate ?? undefined)
}

function refuted(step: StepBuilder, judgement: Judgement): StepBuilder {
  const permanent = refusedForGood(step.operation)
  const refusal = step.operation.attempts.at(-1)?.refused
  disprove(
    step,
    () => true,
    (one) => one.refused ?? judgement.reason,
  )
  return afterDisproof(step, { reason: refusal ?? judgement.reason, permanent, by_looks: true })
}

/** Our tombstone holds the name for good: nothing of that generation can be applied any more (R13). */
function fenced(step: StepBuilder, one: Evidence): StepBuilder {
  const { fence } = step.operation.contract
  const { generation } = one
  const proves = fence?.kind === "tombstone" && fence.permanent && fence.proved !== undefined
  const known = generation !== null && generation <= step.operation.generation
  if (!proves || !known || isTerminal(step.operation.state)) return reschedule(step)
  const reason = { code: "fenced", text: "a tombstone of ours holds the name" }
  disprove(
    step,
    (attempt) => attempt.generation === generation,
    () => reason,
  )
  step.set({ generation: Math.max(step.operation.generation, generation + 1) })
  return afterNegative(step, { reason, permanent: false })
}

function denied(
  step: StepBuilder,
  one: Evidence,
  finding: Extract<Finding, { kind: "not_applied" }>,
  context: JudgeContext,
): StepBuilder {
  if (isTerminal(step.operation.state)) return step
  const reason = { code: "reported_not_applied", text: finding.reason }
  disprove(
    step,
    (attempt) => speaksFor(step.operation, one, attempt, context),
    () => reason,
  )
  const restoredFrom = restoredSettledFrom(step.operation, context.clock_stepped_at)
  const by_looks = one.source === "probe" && (restoredFrom === null || one.observed_from >= restoredFrom)
  return afterNegative(step, { reason, permanent: finding.permanent, by_looks })
}

/** Whether a negative counts against an attempt: what may still send is never spoken for (EN4). */
function speaksFor(operation: Operation, one: Evidence, attempt: Attempt, context: JudgeContext): boolean {
  if (one.attempt !== null) {
    if (one.attempt !== attempt.attempt) return false
    const last = lastSendOf(attempt)
    // Our transport sends one request per attempt, so a word about that attempt is a word about that request.
    return attempt.transport === "invoke" || (last !== null && one.observed_from >= last)
  }
  if (one.source !== "probe" || one.generation !== attempt.generation) return false
  const from = settledFrom(operation, attempt, context.clock_stepped_at)
  return from !== null && one.observed_from >= from
}

function afterNegative(step: StepBuilder, proof: Parameters<typeof afterDisproof>[1]): StepBuilder {
  const { state, attempts } = step.operation
  if (state !== "unknown" && state !== "needs_review") return reschedule(step)
  return attempts.length === 0 || attempts.some(isUndecided) ? reschedule(step) : afterDisproof(step, proof)
}
