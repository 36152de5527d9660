/**
 * The only door through which an operation changes (protocol §4): `transition(operation, event) → step | illegal`.
 *
 * Owns: which event is legal in which state, and what the operation becomes. Pure: no clock, no randomness, no I/O.
 * Must not: persist or act. The shell persists the step by compare-and-set on the version, then acts.
 *
 * TR1. Every step raises the version; every step writes at least the evidence or event that caused it (S4).
 * TR2. An event that is illegal changes nothing and says why.
 */
import { assertNever, isTerminal } from "./state.ts"
import { DEFAULTS } from "./defaults.ts"
import { dispatch } from "./transition/dispatch.ts"
import { evidence, reschedule } from "./transition/evidence.ts"
import { neverStarted, outcome } from "./transition/outcome.ts"
import { settleDenial } from "./transition/settle.ts"
import { illegal, reasonData, StepBuilder, type Transition, type TransitionContext } from "./transition/step.ts"
import { due, lapsed, workerGone } from "./transition/timers.ts"
import { allow, amend, cancel, compensated, resolve, retry, slot, superseded } from "./transition/verbs.ts"
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
      return neverStarted(step, event.attempt, event.evidence_id)
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
    case "looked_before":
      return lookedBefore(step, event)
    case "due":
      return due(step)
    case "postpone":
      return postpone(step, event)
    case "policy_refused":
      return policyRefused(step, event)
    case "drifted":
      return drifted(step, event)
    case "slot":
      return slot(step, event)
    case "allow":
      return allow(step, event)
    case "cancel":
      return cancel(step, event)
    case "resolve":
      return resolve(step, event)
    case "retry":
      return retry(step, event)
    case "reconcile":
      return reconcileNow(step)
    case "amend":
      return amend(step, event)
    case "superseded":
      return superseded(step, event.by)
    case "compensated":
      return compensated(step, event)
    case "restored":
      return restored(step, event.until)
    case "told":
      return operation.told ? illegal(operation, "it has been told") : step.set({ told: true }).finish()
    default:
      return assertNever(event, "transition")
  }
}

type Of<T extends OperationEvent["type"]> = Extract<OperationEvent, { type: T }>

function probeStarted(step: StepBuilder, event: Of<"probe_started">): Transition {
  const { operation } = step
  const lease = operation.probes.lease
  if (isTerminal(operation.state)) return illegal(operation, "it is settled")
  if (lease !== null && lease.until > step.now && lease.worker_id !== event.worker_id) {
    return illegal(operation, "somebody else is looking", "version_conflict")
  }
  step.set({
    probes: { ...operation.probes, lease: { worker_id: event.worker_id, until: event.until } },
    due_at: event.until,
  })
  return step.event("reconciliation_started", { worker_id: event.worker_id }).finish()
}

function probeUnanswered(step: StepBuilder, event: Of<"probe_unanswered">): Transition {
  step.set({ probes: { ...step.operation.probes, failed: step.operation.probes.failed + 1, lease: null } })
  reschedule(step)
  return step.event("evidence", { source: "probe", finding: "unanswered", ...reasonData(event.reason) }).finish()
}

/** The look before attempt 1 (item 16). A full match holds the operation, unless the tool says that is normal. */
function lookedBefore(step: StepBuilder, event: Of<"looked_before">): Transition {
  const { operation } = step
  if (operation.state !== "ready" || operation.attempts.length > 0) return illegal(operation, "only before attempt 1")
  step.set({ looked_before: true, seen: event.seen.slice(0, DEFAULTS.seen_max), seen_version: event.version })
  if (event.full_match !== null && !operation.contract.many) {
    const reason = { code: "exists_already", text: "what the call makes is there already" }
    return step
      .enter("held", { reason, due_at: Math.min(step.now + DEFAULTS.hold_for_ms, operation.deadline_at) })
      .event("held", { ...reasonData(reason), object_id: event.full_match })
      .finish()
  }
  return step.set({ due_at: step.now }).event("evidence", { source: "probe", finding: "before", seen: event.seen.length }).finish()
}

function postpone(step: StepBuilder, event: Of<"postpone">): Transition {
  if (isTerminal(step.operation.state)) return illegal(step.operation, "it is settled")
  return step
    .set({ due_at: event.until, reason: event.reason })
    .event("state_updated", { postponed: true, ...reasonData(event.reason) })
    .finish()
}

function policyRefused(step: StepBuilder, event: Of<"policy_refused">): Transition {
  const { operation } = step
  if (operation.state !== "ready" && operation.state !== "held") return illegal(operation, "it is not waiting to be dispatched")
  if (operation.attempts.length > 0) return settleDenial(step, "not_applied", event.reason).finish()
  return step.enter("refused", { reason: event.reason }).event("refused", reasonData(event.reason)).finish()
}

function drifted(step: StepBuilder, event: Of<"drifted">): Transition {
  const { operation } = step
  if (operation.state !== "ready" && operation.state !== "awaiting_approval") {
    return illegal(operation, "it is not waiting to be dispatched")
  }
  return step.enter("replan", { reason: event.reason }).event("replan", reasonData(event.reason)).finish()
}

/** Somebody wants to know now: the next probe is made due. It changes no state. */
function reconcileNow(step: StepBuilder): Transition {
  const { operation } = step
  const waiting = operation.state === "unknown" || operation.state === "needs_review" || operation.state === "accepted"
  if (!waiting) return illegal(operation, `there is nothing to reconcile in ${operation.state}`)
  if (!operation.checkable) return illegal(operation, "its tool has no probe; a person must resolve it")
  return step.set({ due_at: step.now }).event("evidence", { source: "caller", finding: "asked" }).finish()
}

/** The journal went back in time: whatever this row says, an attempt could have been sent until then (§11). */
function restored(step: StepBuilder, until: number): Transition {
  const { operation } = step
  if (isTerminal(operation.state)) return illegal(operation, "it is settled")
  const lapsedGenerations = Object.fromEntries(
    [...new Set([operation.generation, ...Object.keys(operation.generation_started_at).map(Number)])].map((one) => [one, null]),
  )
  step.set({
    restored: { until, returns_to: operation.restored?.returns_to ?? operation.state },
    generation_started_at: lapsedGenerations,
    attempts: operation.attempts.map((one) => (one.status === "open" ? { ...one, status: "unknown" } : one)),
  })
  step.event("restored", { until })
  if (operation.state !== "needs_review" && operation.state !== "accepted") {
    step.enter("unknown", { reason: { code: "restored", text: "the journal went back in time" }, due_at: step.now })
  }
  return step.finish()
}
