/**
 * What the engine does about an operation whose timer is due. Pure: the shell persists, then acts.
 *
 * Owns: the order of means (protocol §6): stage proof and classified answers are already in the record; then a tombstone
 * fence, lookups, a same-key attempt, and at last a person.
 *
 * NS1. Replaying a key is a dispatch: it is chosen only where executing now would be right (R12).
 * NS2. An attempt that is open for longer than `openFor` past its time goes to a person (item 10).
 */
import { DEFAULTS } from "./defaults.ts"
import { assertNever } from "./state.ts"
import { spentReason } from "./transition/settle.ts"
import { attemptOverAt, isOpen, sameKeyRefusal } from "./windows.ts"
import type { Operation, Reason } from "./operation.ts"

export type NextStep =
  /** Make attempt n+1. */
  | { readonly do: "dispatch" }
  | { readonly do: "look_before" }
  | { readonly do: "probe" }
  | { readonly do: "fence" }
  /** Apply `{type: "due"}`. */
  | { readonly do: "timer" }
  | { readonly do: "wait"; readonly until: number }
  | { readonly do: "nothing" }

export interface StepCapabilities {
  readonly now: number
  /** The journal is in quarantine: nothing dispatches. */
  readonly quarantine: boolean
  readonly can_fence: boolean
}

export function nextStep(operation: Operation, can: StepCapabilities): NextStep {
  const { state, due_at: due } = operation
  if (due === null) return { do: "nothing" }
  if (due > can.now) return { do: "wait", until: due }
  switch (state) {
    case "held":
    case "awaiting_approval":
    case "dispatched":
      return { do: "timer" }
    case "ready":
      return readyStep(operation, can)
    case "accepted":
      return acceptedStep(operation, can.now)
    case "unknown":
      return unknownStep(operation, can)
    case "needs_review":
      return operation.checkable && probeFree(operation, can.now) ? { do: "probe" } : { do: "timer" }
    case "succeeded":
    case "failed":
    case "not_applied":
    case "undone":
    case "closed_unknown":
    case "refused":
    case "denied":
    case "expired":
    case "cancelled":
    case "replan":
      return { do: "nothing" }
    default:
      return assertNever(state, "nextStep")
  }
}

function readyStep(operation: Operation, can: StepCapabilities): NextStep {
  if (can.now >= operation.deadline_at || (operation.attempts.length > 0 && spentReason(operation, can.now))) {
    return { do: "timer" }
  }
  if (can.quarantine) return { do: "wait", until: can.now + DEFAULTS.backoff_max_ms }
  return needsLookBefore(operation) ? { do: "look_before" } : { do: "dispatch" }
}

/** `created` tools without creation times, and `state` tools, look before attempt 1 (item 16). */
export function needsLookBefore(operation: Operation): boolean {
  const lookup = operation.contract.lookup
  if (!lookup || operation.looked_before || operation.attempts.length > 0) return false
  return lookup.correlates === "state" || (lookup.correlates === "created" && !lookup.creation_time)
}

function acceptedStep(operation: Operation, now: number): NextStep {
  if (!operation.checkable) return { do: "timer" }
  if (now >= operation.state_since + operation.contract.settle_by_ms && operation.probes.answered > 0) return { do: "timer" }
  return probeFree(operation, now) ? { do: "probe" } : { do: "timer" }
}

function probeFree(operation: Operation, now: number): boolean {
  const lease = operation.probes.lease
  return lease === null || lease.until <= now
}

function unknownStep(operation: Operation, can: StepCapabilities): NextStep {
  if (openTooLong(operation, can.now)) return { do: "timer" }
  if (can.can_fence && mayFence(operation, can.now)) return { do: "fence" }
  const looked = operation.probes.answered > 0 || operation.probes.failed > 0
  if (!can.quarantine && (looked || !operation.checkable) && mayUseSameKey(operation, can.now) === null) {
    return { do: "dispatch" }
  }
  if (operation.checkable && operation.probes.answered < DEFAULTS.probes_answered) {
    return probeFree(operation, can.now) ? { do: "probe" } : { do: "wait", until: operation.probes.lease?.until ?? can.now }
  }
  return { do: "timer" }
}

/** Why a same-key attempt is not due now, or null (item 2). */
export function mayUseSameKey(operation: Operation, now: number): Reason | null {
  if (operation.attempts.length === 0) return { code: "no_attempt", text: "there is no attempt to repeat" }
  if (operation.barred) return { code: "barred", text: "a positive about another attempt was heard" }
  if (operation.attempts.some((attempt) => attempt.status === "acknowledged" || attempt.status === "accepted")) {
    return { code: "acknowledged", text: "an attempt is acknowledged or accepted" }
  }
  if (operation.attempts.some((attempt) => attempt.transport === "opaque" && attempt.settled_at === null && isOpen(attempt, now))) {
    return { code: "attempt_open", text: "an attempt is still running" }
  }
  const spent = spentReason(operation, now)
  if (spent) return spent
  const refusal = sameKeyRefusal(operation, now)
  return refusal === null ? null : { code: "key_unprotected", text: refusal }
}

/** A tombstone is written only where the fenced name is permanent and proved, and no attempt can still leave. */
function mayFence(operation: Operation, now: number): boolean {
  const fence = operation.contract.fence
  if (!fence?.proved || fence.kind !== "tombstone" || !fence.permanent) return false
  return operation.attempts.every((attempt) => attempt.status === "disproved" || now > attempt.last_possible_send)
}

export function openTooLong(operation: Operation, now: number): boolean {
  return operation.attempts.some(
    (attempt) =>
      attempt.transport === "opaque" && isOpen(attempt, now) && now > attemptOverAt(attempt) + DEFAULTS.open_for_ms,
  )
}
