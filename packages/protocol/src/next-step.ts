/**
 * What the engine does about an operation whose timer is due. Pure: the shell persists, then acts.
 *
 * Owns: the order of means (protocol §6): stage proof and classified answers are already in the record; then a tombstone
 * fence, lookups, a same-key attempt, and at last a person.
 *
 * NS1. Replaying a key is a dispatch: it is chosen only where executing now would be right (R12).
 * NS2. An attempt that is open for longer than `openFor` past its time goes to a person (item 10).
 * NS3. What is chosen is legal now, and moves the operation or its next moment. `wait` with a timer that is due already means:
 *      somebody else is at it, or the journal is in quarantine; until then nothing is to be done.
 */
import { stricter, type Contract } from "./contract.ts"
import { DEFAULTS } from "./defaults.ts"
import { mayUseSameKey } from "./same-key.ts"
import { assertNever } from "./state.ts"
import { isUndecided } from "./transition/attempts.ts"
import { spentReason } from "./transition/budget.ts"
import { lookedSince } from "./transition/schedule.ts"
import { openTooLong } from "./transition/timers.ts"
import type { Operation } from "./operation.ts"

export { mayUseSameKey } from "./same-key.ts"

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
  /** The contract loaded now: the stricter of it and the frozen one decides, as it will at the dispatch (R28d). */
  readonly contract?: Contract
  readonly clock_stepped_at?: number | null
  /** When the approval that covers the operation expires. A same-key attempt is not made without it (R22). */
  readonly approval_until?: number
}

export function nextStep(recorded: Operation, can: StepCapabilities): NextStep {
  const { state, due_at: due } = recorded
  if (due === null) return { do: "nothing" }
  if (due > can.now) return { do: "wait", until: due }
  const tightened = can.contract !== undefined && recorded.attempts.length > 0
  const operation = tightened ? { ...recorded, contract: stricter(recorded.contract, can.contract) } : recorded
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
      return operation.checkable ? look(operation, can.now) : { do: "timer" }
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
  if (can.quarantine) return quarantined(can)
  return needsLookBefore(operation) ? { do: "look_before" } : { do: "dispatch" }
}

function quarantined({ now }: StepCapabilities): NextStep {
  return { do: "wait", until: now + DEFAULTS.backoff_max_ms }
}

/** `created` tools without creation times, and `state` tools, look before attempt 1 (item 16). */
export function needsLookBefore(operation: Operation): boolean {
  const lookup = operation.contract.lookup
  if (!lookup || operation.looked_before || operation.attempts.length > 0) return false
  return lookup.correlates === "state" || (lookup.correlates === "created" && !lookup.creation_time)
}

/** At `settleBy` one more look is due; what it does not settle goes to a person. */
function acceptedStep(operation: Operation, now: number): NextStep {
  const settleBy = operation.state_since + operation.contract.settle_by_ms
  if (now >= settleBy && (!operation.checkable || lookedSince(operation, settleBy))) return { do: "timer" }
  return operation.checkable ? look(operation, now) : { do: "wait", until: settleBy }
}

/** A look of one's own, or the end of somebody else's. */
function look(operation: Operation, now: number): NextStep {
  const lease = operation.probes.lease
  return lease === null || lease.until <= now ? { do: "probe" } : { do: "wait", until: lease.until }
}

function unknownStep(operation: Operation, can: StepCapabilities): NextStep {
  if (openTooLong(operation, can.now)) return { do: "timer" }
  const budget = operation.checkable && operation.probes.answered < DEFAULTS.probes_answered
  if (budget && can.can_fence && !can.quarantine && mayFence(operation, can.now)) {
    const free = look(operation, can.now)
    return free.do === "probe" ? { do: "fence" } : free
  }
  const looked = operation.probes.answered > 0 || operation.probes.failed > 0
  const approved = operation.approval_id === null || (can.approval_until ?? Number.NEGATIVE_INFINITY) > can.now
  if (
    approved &&
    (looked || !operation.checkable) &&
    mayUseSameKey(operation, can.now, can.clock_stepped_at) === null
  ) {
    if (!can.quarantine) return { do: "dispatch" }
    if (!budget) return quarantined(can)
  }
  return budget ? look(operation, can.now) : { do: "timer" }
}

/** A tombstone is written only where the fenced name is permanent and proved, and no attempt can still leave. */
function mayFence(operation: Operation, now: number): boolean {
  const fence = operation.contract.fence
  if (!fence?.proved || fence.kind !== "tombstone" || !fence.permanent) return false
  const undecided = operation.attempts.filter(isUndecided)
  return (
    undecided.length > 0 &&
    operation.attempts.every((attempt) => attempt.status === "disproved" || isUndecided(attempt)) &&
    undecided.every((attempt) => attempt.generation === operation.generation && now > attempt.last_possible_send)
  )
}
