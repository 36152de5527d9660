/**
 * The only door through which an operation changes (protocol §4): `transition(operation, event) → step | illegal`.
 *
 * Owns: which event is legal in which state, and what the operation becomes. Pure: no clock, no randomness, no I/O.
 * Must not: persist or act. The shell persists the step by compare-and-set on the version, then acts.
 *
 * TR1. Every step raises the version; every step writes the evidence or event that caused it (S4); that a caller was told is no
 *      fact about the world, and needs none.
 * TR2. An event that is illegal changes nothing and says why.
 * TR3. The same event a second time is illegal, or changes nothing that decides.
 */
import { assertNever } from "./state.ts"
import { amend, compensated, retry, superseded } from "./transition/after-settlement.ts"
import { approve, ask, deny } from "./transition/approval.ts"
import { dispatch } from "./transition/dispatch.ts"
import { evidence } from "./transition/evidence.ts"
import { neverStarted, outcome } from "./transition/outcome.ts"
import { probeStarted, probeUnanswered, reconcileNow } from "./transition/probing.ts"
import { resolve } from "./transition/resolve.ts"
import { restored } from "./transition/restore.ts"
import { illegal, StepBuilder, type Transition, type TransitionContext } from "./transition/step.ts"
import { due, lapsed, workerGone } from "./transition/timers.ts"
import { allow, cancel, drifted, lookedBefore, policyRefused, postpone, slot } from "./transition/waiting.ts"
import type { OperationEvent } from "./operation-event.ts"
import type { Operation } from "./operation.ts"

export function transition(operation: Operation, event: OperationEvent, context: TransitionContext): Transition {
  const step = new StepBuilder(operation, context)
  switch (event.type) {
    case "dispatch":
      return dispatch(step, event)
    case "outcome":
      return outcome(step, event)
    case "never_started":
      return neverStarted(step, event)
    case "lapsed":
      return lapsed(step, event.why)
    case "worker_gone":
      return workerGone(step, event.worker_id, event.proof)
    case "evidence":
      return evidence(step, event)
    case "probe_started":
      return probeStarted(step, event)
    case "probe_unanswered":
      return probeUnanswered(step, event)
    case "reconcile":
      return reconcileNow(step)
    case "due":
      return due(step, event)
    case "restored":
      return restored(step, event.until)
    case "told":
      return operation.told ? illegal(operation, "it has been told") : step.set({ told: true }).finish()
    default:
      return waitingOrSettled(step, event)
  }
}

type Rest = Exclude<
  OperationEvent,
  {
    type:
      | "dispatch"
      | "outcome"
      | "never_started"
      | "lapsed"
      | "worker_gone"
      | "evidence"
      | "probe_started"
      | "probe_unanswered"
      | "reconcile"
      | "due"
      | "restored"
      | "told"
  }
>

/** The events of an operation that waits to be dispatched, and the verbs of people. */
function waitingOrSettled(step: StepBuilder, event: Rest): Transition {
  switch (event.type) {
    case "looked_before":
      return lookedBefore(step, event)
    case "postpone":
      return postpone(step, event)
    case "policy_refused":
      return policyRefused(step, event)
    case "drifted":
      return drifted(step, event)
    case "slot":
      return slot(step, event)
    case "ask":
      return ask(step, event)
    case "approve":
      return approve(step, event)
    case "deny":
      return deny(step, event)
    case "allow":
      return allow(step, event)
    case "cancel":
      return cancel(step, event)
    case "resolve":
      return resolve(step, event)
    case "retry":
      return retry(step, event)
    case "amend":
      return amend(step, event)
    case "superseded":
      return superseded(step, event.by)
    case "compensated":
      return compensated(step, event)
    default:
      return assertNever(event, "transition")
  }
}
