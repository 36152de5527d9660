/**
 * The lease of a probe, beside a state that waits for knowledge, and the wish to know now (protocol §4).
 *
 * PB1. Reconciling is a lease, never a state: losing it changes nothing.
 * PB2. A probe that was not answered is no negative and costs no budget; the next one waits as long as if it had.
 */
import { dueNow, reschedule } from "./schedule.ts"
import { illegal, reasonData, type StepBuilder, type Transition } from "./step.ts"
import type { OperationEvent } from "../operation-event.ts"
import type { Operation } from "../operation.ts"

type Of<T extends OperationEvent["type"]> = Extract<OperationEvent, { type: T }>

function waitsForKnowledge({ state }: Operation): boolean {
  return state === "unknown" || state === "accepted" || state === "needs_review"
}

export function probeStarted(step: StepBuilder, event: Of<"probe_started">): Transition {
  const { operation } = step
  const lease = operation.probes.lease
  if (!waitsForKnowledge(operation)) return illegal(operation, `nothing is looked up in ${operation.state}`)
  if (event.until <= step.now) return illegal(operation, "the lease would be over already")
  if (lease !== null && lease.until > step.now && (lease.worker_id !== event.worker_id || lease.until >= event.until)) {
    return illegal(operation, "somebody is looking", "version_conflict")
  }
  return step
    .set({
      probes: { ...operation.probes, lease: { worker_id: event.worker_id, until: event.until } },
      due_at: event.until,
    })
    .event("reconciliation_started", { worker_id: event.worker_id })
    .finish()
}

/** Looks in a row that were not answered, after which a person is told: some hours, with the schedule's delays. */
const PROBES_FAILED_ALARM = 10

export function probeUnanswered(step: StepBuilder, event: Of<"probe_unanswered">): Transition {
  const { probes } = step.operation
  if (!waitsForKnowledge(step.operation))
    return illegal(step.operation, `nothing is looked up in ${step.operation.state}`)
  if (probes.lease === null) return illegal(step.operation, "nobody is looking", "version_conflict")
  step.set({ probes: { ...probes, failed: probes.failed + 1, lease: null } })
  // It goes on looking; a person hears that nobody answers.
  if (probes.failed + 1 === PROBES_FAILED_ALARM) step.incident("probe_failing", reasonData(event.reason))
  return reschedule(step)
    .event("evidence", { source: "probe", finding: "unanswered", ...reasonData(event.reason) })
    .finish()
}

/** Somebody wants to know now: the next probe is made due. It changes no state, and creates nothing. */
export function reconcileNow(step: StepBuilder): Transition {
  const { operation } = step
  if (!waitsForKnowledge(operation)) return illegal(operation, `there is nothing to reconcile in ${operation.state}`)
  if (!operation.checkable) return illegal(operation, "its tool has no probe; a person must resolve it")
  return dueNow(step).event("evidence", { source: "caller", finding: "asked" }).finish()
}
