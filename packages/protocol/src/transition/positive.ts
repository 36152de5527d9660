/**
 * Good news, wherever an operation stands: applied, accepted, or applied and then reversed.
 *
 * PO1. Positive evidence is heard in every state (R5, §4). On a settled denial it contradicts; it never rewrites.
 * PO2. About another attempt than the running one, of another generation or without a key that dedupes them, it is kept:
 *      further attempts are barred, and the end of the running one is waited for (item 14).
 * PO3. Two different objects, or two attempts acknowledged that no key makes one, are a double effect: a person decides.
 * PO4. An acceptance is a positive that has not settled: no lookup refutes it (item 5).
 */
import { isTerminal, type State } from "../state.ts"
import { objectKey } from "../judge/context.ts"
import { keptPositives } from "../judge/rank.ts"
import { runningAttempt } from "./attempts.ts"
import { dueWhileAccepted, reschedule } from "./schedule.ts"
import { confirmedObject, enterReview } from "./settle.ts"
import { reasonData, type StepBuilder } from "./step.ts"
import type { Json } from "../canonical-json.ts"
import type { Candidate, Cause, Verdict } from "../evidence.ts"
import type { Attempt, Operation, Reason } from "../operation.ts"

export interface Positive {
  readonly cause: Cause
  readonly verdict: Verdict | null
  readonly reason: Reason | null
  readonly candidate?: Candidate
  readonly output?: Json | null
  readonly output_error?: string | null
  readonly object_taken_by?: string
  readonly attempt: number | null
  /** Where no attempt is named. */
  readonly generation?: number | null
}

const DENIALS: readonly State[] = ["failed", "not_applied", "refused", "denied", "expired", "cancelled", "replan"]
const NOTHING_RUNS: readonly State[] = ["held", "awaiting_approval", "ready"]

/** A positive, wherever the operation stands (PO1). */
export function settlePositive(step: StepBuilder, positive: Positive): StepBuilder {
  const operation = step.operation
  if (isTerminal(operation.state)) return positiveOnTerminal(step, positive)
  if (runsBesideAnother(operation, positive)) return keep(step, positive.cause)
  if (isDoubleEffect(operation)) return reschedule(step)
  const two = secondEffect(operation, positive)
  if (two) return doubleEffect(step, two)
  if (NOTHING_RUNS.includes(operation.state) && operation.safety !== "read-only") {
    step.incident("late_positive", { state: operation.state, cause: positive.cause })
  }
  const taken = positive.object_taken_by !== undefined && !operation.contract.shared
  if (taken) {
    step.incident("object_shared", {
      object_id: positive.candidate?.object_id ?? "",
      confirms: positive.object_taken_by ?? "",
    })
  }
  step.enter("succeeded", {
    cause: positive.cause,
    verdict: positive.verdict,
    reason: positive.reason,
    output: positive.output ?? operation.output ?? null,
    output_error: positive.output_error ?? operation.output_error,
    object: taken ? null : (confirmedObject(positive.candidate) ?? operation.object),
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
  if (DENIALS.includes(operation.state)) return contradict(step, positive.cause, positive.candidate)
  const two = secondEffect(operation, positive)
  if (two) return step.incident("double_effect", { objects: [...two] })
  if (operation.state === "closed_unknown")
    return step.incident("late_positive", { state: operation.state, cause: positive.cause })
  const learned = operation.state === "succeeded" && operation.object === null && positive.object_taken_by === undefined
  return learned && positive.candidate ? step.set({ object: confirmedObject(positive.candidate) }) : step
}

/** A settled denial that a positive denies: closed to everything until a person amends it. */
export function contradict(step: StepBuilder, cause: Cause | "reversed", candidate?: Candidate): StepBuilder {
  const { operation } = step
  if (operation.contradicted) return step
  return step
    .set({ contradicted: true, reason: { code: "contradicted", text: "a late positive denies this outcome" } })
    .event("contradicted", { settled_as: operation.state, cause })
    .incident("contradicted", {
      settled_as: operation.state,
      because: operation.reason === null ? null : { ...reasonData(operation.reason) },
      cause,
      object_id: candidate?.object_id ?? null,
    })
}

interface Named {
  readonly attempt: number | null
  readonly generation?: number | null
  readonly candidate?: Candidate
}

/** PO2: an attempt is running, and this is about one that no key makes the same effect. */
function runsBesideAnother(operation: Operation, named: Named): boolean {
  const running = runningAttempt(operation)
  if (!running || running.status !== "open") return false
  const meant = operation.attempts.find((one) => one.attempt === named.attempt)
  if (meant) return meant !== running && operation.safety !== "read-only" && !dedupes(operation, meant, running)
  const generation = generationOf(operation, named)
  return generation !== null && generation !== running.generation
}

function generationOf(operation: Operation, { attempt, generation, candidate }: Named): number | null {
  const meant = operation.attempts.find((one) => one.attempt === attempt)
  if (meant) return meant.generation
  if (generation !== undefined && generation !== null) return generation
  const key = candidate?.provider_key
  return operation.attempts.find((one) => key !== undefined && one.provider_key === key)?.generation ?? null
}

/** It is on record as evidence; no further attempt may leave before the running one has ended and all is weighed. */
function keep(step: StepBuilder, cause: Cause | "accepted" | "reversed"): StepBuilder {
  if (step.operation.barred) return step
  return step
    .set({ barred: true })
    .event("state_updated", { barred: true, cause })
    .incident("late_positive", { state: step.operation.state, cause })
}

/** PO3. The two objects, or the two attempts. A tool that sets a state has one effect however often it is set. */
function secondEffect(operation: Operation, positive: Positive): readonly [string, string] | null {
  if (operation.contract.lookup?.correlates === "state" || operation.safety === "read-only") return null
  const { candidate } = positive
  const known = [operation.object, ...keptPositives(operation).map((one) => one.candidate)].filter(
    (one) => one !== null,
  )
  const differs = candidate && known.find((one) => objectKey(one) !== objectKey(candidate))
  if (candidate && differs) return [differs.object_id, candidate.object_id]
  if (candidate && known.length > 0) return null
  const mine = operation.attempts.find((one) => one.attempt === positive.attempt)
  const other =
    mine &&
    operation.attempts.find((one) => one !== mine && one.status === "acknowledged" && !dedupes(operation, one, mine))
  return mine && other ? [`attempt ${other.attempt}`, `attempt ${mine.attempt}`] : null
}

function dedupes(operation: Operation, one: Attempt, other: Attempt): boolean {
  return operation.contract.key !== undefined && one.generation === other.generation
}

/** One of two effects, seen again, does not bury the other: the person decides. */
function isDoubleEffect({ state, reason }: Operation): boolean {
  return state === "needs_review" && reason?.code === "double_effect"
}

function doubleEffect(step: StepBuilder, objects: readonly [string, string]): StepBuilder {
  return enterReview(step, { code: "double_effect", text: `two effects: ${objects.join(", ")}` }, "diverged").incident(
    "double_effect",
    { objects: [...objects] },
  )
}

export interface Acceptance extends Named {
  readonly output?: Json | null
}

/** PO4. The provider took the request and has not finished. */
export function settleAcceptance(step: StepBuilder, acceptance: Acceptance): StepBuilder {
  const before = step.operation
  if (DENIALS.includes(before.state)) {
    return contradict(markAccepted(step, acceptance), "acknowledged")
  }
  if (isTerminal(before.state)) return step
  markAccepted(step, acceptance)
  if (runsBesideAnother(before, acceptance)) return keep(step, "accepted")
  if (before.state === "needs_review" && before.verdict === "diverged") return reschedule(step)
  if (NOTHING_RUNS.includes(before.state)) step.incident("late_positive", { state: before.state, cause: "accepted" })
  step.enter("accepted", { output: acceptance.output ?? before.output, reason: null, restored: null })
  step.set({ due_at: dueWhileAccepted(step.operation, step.now, step.unit) })
  return before.state === "accepted" ? step : step.event("state_updated", { outcome: "accepted" })
}

/** The attempt that is named; without a name those of the generation; without that all that are not disproved. */
function markAccepted(step: StepBuilder, { attempt, generation }: Acceptance): StepBuilder {
  const meant = (one: Attempt): boolean => {
    if (one.status === "acknowledged") return false
    if (attempt !== null) return one.attempt === attempt
    if (one.status === "disproved") return false
    return generation === undefined || generation === null || one.generation === generation
  }
  return step.set({
    attempts: step.operation.attempts.map((one) => (meant(one) ? { ...one, status: "accepted" } : one)),
  })
}

/** Applied, then reversed or bounced (R10): after `succeeded` that is an incident, never a rewrite. */
export function settleReversal(step: StepBuilder, text: string, named: Named): StepBuilder {
  const reason = { code: "reversed", text }
  const { operation } = step
  if (operation.state === "succeeded")
    return step.incident("contradicted", { settled_as: "succeeded", ...reasonData(reason) })
  if (DENIALS.includes(operation.state)) return contradict(step, "reversed", named.candidate)
  if (operation.state === "closed_unknown")
    return step.incident("late_positive", { state: operation.state, cause: "reversed" })
  if (isTerminal(operation.state)) return step
  const running = runningAttempt(operation)
  if (running?.status === "open" && generationOf(operation, named) !== running.generation) return keep(step, "reversed")
  if (NOTHING_RUNS.includes(operation.state))
    step.incident("late_positive", { state: operation.state, cause: "reversed" })
  step.enter("undone", {
    reason,
    object: confirmedObject(named.candidate) ?? operation.object,
    barred: false,
    restored: null,
  })
  return step.event("state_updated", { outcome: "undone", ...reasonData(reason) })
}
