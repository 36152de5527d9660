/**
 * What a timer does when it is due: the way out of every open state (L1, ST-7).
 *
 * TI1. The deadline bounds dispatches, not knowledge: an unknown operation never expires.
 * TI2. A lapse means "start probing", never "may dispatch" (CS-3).
 */
import { DEFAULTS } from "../defaults.ts"
import { assertNever } from "../state.ts"
import { attemptOverAt, isOpen } from "../windows.ts"
import { openTooLong } from "../next-step.ts"
import { dueInReview } from "./schedule.ts"
import { enterReview, enterUnknown, settleDenial, spentReason } from "./settle.ts"
import { illegal, reasonData, type StepBuilder, type Transition } from "./step.ts"
import type { Attempt } from "../operation.ts"

export function due(step: StepBuilder): Transition {
  const operation = step.operation
  if (operation.due_at !== null && operation.due_at > step.now) return illegal(operation, "its timer is not due")
  switch (operation.state) {
    case "held":
      return expire(step, "the earlier operation did not settle in time")
    case "awaiting_approval":
      return operation.attempts.length === 0
        ? expire(step, "nobody decided in time")
        : settleDenial(step, "not_applied", { code: "approval_over", text: "nobody decided in time" }).finish()
    case "ready":
      return readyDue(step)
    case "dispatched":
      return lapsed(step, "time")
    case "accepted":
      return acceptedDue(step)
    case "unknown":
      return unknownDue(step)
    case "needs_review":
      return step.set({ due_at: dueInReview(operation, step.now, step.unit) }).finish()
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
      return illegal(operation, "a settled operation has no timer")
    default:
      return assertNever(operation.state, "due")
  }
}

function expire(step: StepBuilder, text: string): Transition {
  return step.enter("expired", { reason: { code: "expired", text } }).event("expired", { text }).finish()
}

function readyDue(step: StepBuilder): Transition {
  const operation = step.operation
  const spent = operation.attempts.length > 0 ? spentReason(operation, step.now) : null
  if (spent) return settleDenial(step, "not_applied", spent).finish()
  if (step.now >= operation.deadline_at) return expire(step, "the deadline is over and nothing was sent")
  return illegal(operation, "it is due to be dispatched")
}

function acceptedDue(step: StepBuilder): Transition {
  const settleBy = step.operation.state_since + step.operation.contract.settle_by_ms
  if (step.now < settleBy) return illegal(step.operation, "it is still within its time to settle")
  return enterReview(step, { code: "accepted", text: "accepted, and never settled" }).finish()
}

function unknownDue(step: StepBuilder): Transition {
  const operation = step.operation
  if (openTooLong(operation, step.now)) {
    return enterReview(step, { code: "attempt_open", text: "an attempt may still be running" })
      .incident("attempt_open_too_long", { worker_id: operation.attempts.at(-1)?.worker_id ?? "" })
      .finish()
  }
  if (!operation.checkable) {
    const reason = operation.reason ?? { code: "uncheckable", text: "nobody can look" }
    return enterReview(step, { code: "uncheckable", text: `nobody can look it up: ${reason.text}` }).finish()
  }
  if (operation.probes.answered < DEFAULTS.probes_answered) return illegal(operation, "it is due to be probed")
  return enterReview(step, { code: "probes_spent", text: `${operation.probes.answered} answered probes did not settle it` }).finish()
}

/** A lost lease, or an attempt whose time is over: knowledge ends, nothing is permitted by it. */
export function lapsed(step: StepBuilder, why: "time" | "lease" | "drain" | "timeout"): Transition {
  const operation = step.operation
  if (operation.state !== "dispatched") return illegal(operation, "only a dispatched operation lapses")
  const running = operation.attempts.at(-1)
  if (!running) return illegal(operation, "it has no attempt")
  if (why === "time" && step.now < attemptOverAt(running)) return illegal(operation, "its time is not over")
  const reason = {
    time: { code: "timeout", text: "its time is over and its worker said nothing" },
    lease: { code: "lease_lost", text: "its worker's lease lapsed" },
    timeout: { code: "timeout", text: "no answer within the attempt's timeout" },
    drain: { code: "drained", text: "its worker stopped before it ended" },
  }[why]
  step.set({
    attempts: operation.attempts.map((one) =>
      one.attempt === running.attempt && one.status === "open" ? { ...one, status: "unknown", reason } : one,
    ),
  })
  step.event(why === "time" || why === "timeout" ? "timed_out" : "lease_lost", { attempt: running.attempt, ...reasonData(reason) })
  return enterUnknown(step, reason).finish()
}

/** Proof that a process is gone closes its attempts: a kernel lock found free, a new boot, the platform's or a person's word. */
export function workerGone(step: StepBuilder, worker: string, proof: string): Transition {
  const operation = step.operation
  const touched = operation.attempts.some((one) => one.worker_id === worker && one.gone_at === null && one.settled_at === null)
  if (!touched) return illegal(operation, "no open attempt of that worker", "version_conflict")
  const gone = (one: Attempt): Attempt =>
    one.worker_id === worker && one.gone_at === null && one.settled_at === null ? { ...one, gone_at: step.now } : one
  step.set({ attempts: operation.attempts.map(gone) })
  step.event("worker_gone", { worker_id: worker, proof })
  if (operation.state === "dispatched") {
    const built = lapsed(step, "lease")
    return built
  }
  if (operation.state === "unknown" && !step.operation.attempts.some((one) => isOpen(one, step.now))) {
    step.set({ due_at: Math.min(operation.due_at ?? step.now, step.now) })
  }
  return step.finish()
}
