/**
 * What follows from disproof: another attempt, a settled denial, or nothing yet.
 *
 * DN1. Non-application is proved per attempt and acted on per operation: while one is undecided, a refusal of another, a spent
 *      budget or a permanent error of it leads to `unknown` (R2).
 * DN2. `not_applied` and `failed` need every attempt disproved (S3).
 * DN3. Nothing goes out by itself from `needs_review` (§4).
 * DN4. A journal that went back in time may have forgotten an attempt: only looks settle such an operation (R24).
 * DN5. A read applies nothing, whatever became of it: it is made again freely (§3).
 * DN6. The generation changes only when all its attempts are disproved and the provider replays errors, or after a tombstone.
 */
import { DEFAULTS } from "../defaults.ts"
import { keptPositives } from "../judge/rank.ts"
import { nextAttemptAt } from "../retry-schedule.ts"
import { disprove, isUndecided } from "./attempts.ts"
import { attemptsSent, spentReason } from "./budget.ts"
import { settleAcceptance, settlePositive } from "./positive.ts"
import { reschedule } from "./schedule.ts"
import { enterReview, enterUnknown } from "./settle.ts"
import { reasonData, type StepBuilder } from "./step.ts"
import type { Operation, Reason } from "../operation.ts"

export interface Disproof {
  readonly reason: Reason
  readonly permanent: boolean
  readonly retry_after_ms?: number
  /** Looks begun after every window, the journal's own restore included (DN4). */
  readonly by_looks?: boolean
}

/** After attempts were disproved. Only for an operation about which nothing runs any more. */
export function afterDisproof(step: StepBuilder, proof: Disproof): StepBuilder {
  const { operation } = step
  if (operation.attempts.some(isUndecided)) return enterUnknown(step, proof.reason, proof.retry_after_ms)
  const kept = keptPositives(operation).at(-1)
  if (kept) {
    return settlePositive(step, {
      cause: kept.cause,
      verdict: "confirmed",
      reason: null,
      attempt: kept.attempt,
      ...(kept.candidate ? { candidate: kept.candidate } : {}),
      ...(kept.evidence.finding.kind === "applied" ? { output: kept.evidence.finding.output ?? null } : {}),
    })
  }
  const accepted = operation.attempts.find((one) => one.status === "accepted")
  if (accepted) return settleAcceptance(step, { attempt: accepted.attempt })
  if (operation.verdict === "diverged" && operation.state === "needs_review") return reschedule(step)
  if (operation.barred || operation.verdict === "diverged") return heardOtherwise(step, proof.reason)
  if (operation.restored !== null && proof.by_looks !== true) return enterUnknown(step, proof.reason)
  return afterAllDisproved(step, proof)
}

/** The running attempt ended, or nobody waits for it any more, and it said nothing. */
export function afterEnd(step: StepBuilder, reason: Reason): StepBuilder {
  if (step.operation.safety === "read-only") {
    disprove(
      step,
      () => true,
      () => reason,
    )
  }
  const { attempts } = step.operation
  if (!attempts.some(isUndecided)) return afterDisproof(step, { reason, permanent: refusedForGood(step.operation) })
  const accepted = attempts.find((one) => one.status === "accepted")
  return accepted ? settleAcceptance(step, { attempt: accepted.attempt }) : enterUnknown(step, reason)
}

/** Every attempt is disproved, and yet something of ours was seen. */
function heardOtherwise(step: StepBuilder, reason: Reason): StepBuilder {
  return step.operation.checkable ? enterUnknown(step, reason) : enterReview(step, reason, "diverged")
}

function afterAllDisproved(step: StepBuilder, proof: Disproof): StepBuilder {
  const back = step.operation.restored?.returns_to ?? null
  step.set({ restored: null })
  const operation = step.operation
  if (operation.state !== "needs_review" && (back === "ready" || back === "held" || back === "awaiting_approval")) {
    return returnTo(step, back, proof.reason)
  }
  if (proof.permanent || refusedForGood(operation)) return settleDenial(step, "failed", proof.reason)
  if (operation.state === "needs_review") return settleDenial(step, "not_applied", proof.reason)
  // The caller executes; it begins again by itself, under a retry (R30).
  if (operation.attempts.at(-1)?.caller_executed) return settleDenial(step, "not_applied", proof.reason)
  const spent = spentReason(operation, step.now)
  if (spent) return settleDenial(step, "not_applied", spent)
  const at = nextAttemptAt({
    failures: operation.attempts.length,
    now: step.now,
    unit: step.unit,
    ...(proof.retry_after_ms === undefined ? {} : { retry_after_ms: proof.retry_after_ms }),
  })
  step.enter("ready", {
    reason: proof.reason,
    verdict: "refuted",
    generation: nextGeneration(operation),
    due_at: Math.min(at, operation.deadline_at),
  })
  return step.event("ready", { ...reasonData(proof.reason), attempts_sent: attemptsSent(operation) })
}

/**
 * Where an operation goes that a restored journal had in front of it. Approval, guard and policy are asked afresh. The key
 * generation stays, lapsed for good: an attempt that the journal forgot presented the same key, and may still be deduped by it.
 */
function returnTo(step: StepBuilder, back: "ready" | "held" | "awaiting_approval", reason: Reason): StepBuilder {
  const { deadline_at: deadline } = step.operation
  const due = {
    ready: step.now,
    held: Math.min(step.now + DEFAULTS.hold_for_ms, deadline),
    awaiting_approval: Math.min(step.now + DEFAULTS.approval_ms, deadline),
  }[back]
  return step
    .enter(back, {
      due_at: due,
      reason,
      verdict: "refuted",
      generation: nextGeneration(step.operation),
      ...(back === "ready" ? { approval_id: null } : {}),
    })
    .event("state_updated", { outcome: back, ...reasonData(reason) })
}

/** The last attempt was refused in a way that another one would not change. */
export function refusedForGood(operation: Operation): boolean {
  const last = operation.attempts.at(-1)
  if (!last) return false
  if (last.refused) return true
  return operation.evidence.some(
    ({ attempt, finding, rank }) =>
      rank !== "claimed" && attempt === last.attempt && finding.kind === "not_applied" && finding.permanent,
  )
}

export function settleDenial(step: StepBuilder, state: "failed" | "not_applied", reason: Reason): StepBuilder {
  const { attempts, operation_id } = step.operation
  if (attempts.some((one) => one.status !== "disproved")) {
    throw new Error(`DN2: ${operation_id} is not ${state} while an attempt is not disproved`)
  }
  return step
    .enter(state, {
      reason,
      verdict: "refuted",
      generation: nextGeneration(step.operation),
      restored: null,
      barred: false,
    })
    .event("state_updated", { outcome: state, ...reasonData(reason) })
}

export function nextGeneration(operation: Operation): number {
  const used = operation.attempts.some((attempt) => attempt.generation === operation.generation && attempt.left)
  const replays = operation.contract.key?.replays_errors ?? false
  return used && replays ? operation.generation + 1 : operation.generation
}
