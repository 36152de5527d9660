/**
 * What a timer does when it is due: the way out of every open state (L1, ST-7).
 *
 * Owns: `due`, the lapse of an attempt, the end of a worker's process.
 *
 * TI1. The deadline bounds dispatches, not knowledge: an unknown operation never expires.
 * TI2. A lapse means "start probing", never "may dispatch" (CS-3).
 * TI3. A due timer moves the operation or its next moment; where it would do neither, it is refused and something else is due.
 */
import { stricter } from "../contract.ts"
import { DEFAULTS } from "../defaults.ts"
import { sameKeyFrom } from "../same-key.ts"
import { assertNever } from "../state.ts"
import { attemptOverAt, isOpen } from "../windows.ts"
import { runningAttempt } from "./attempts.ts"
import { spentReason } from "./budget.ts"
import { afterEnd, settleDenial } from "./denial.ts"
import { dueAfterUnknown, dueInReview, reaim } from "./schedule.ts"
import { enterReview } from "./settle.ts"
import { illegal, reasonData, type StepBuilder, type Transition } from "./step.ts"
import type { OperationEvent } from "../operation-event.ts"
import type { Attempt, Operation } from "../operation.ts"

type DueEvent = Extract<OperationEvent, { type: "due" }>

export function due(step: StepBuilder, event: DueEvent): Transition {
  const operation = step.operation
  if (operation.due_at !== null && operation.due_at > step.now) return illegal(operation, "its timer is not due")
  switch (operation.state) {
    case "held":
      return expire(
        step,
        operation.held_by === null ? "nobody allowed it in time" : "the earlier operation did not settle in time",
      )
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
      return unknownDue(step, event)
    case "needs_review":
      return remind(step)
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
  return step
    .enter("expired", { reason: { code: "expired", text } })
    .event("expired", { text })
    .finish()
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

/** The age alarm: nobody has settled it yet. */
function remind(step: StepBuilder): Transition {
  const { operation } = step
  return step
    .set({ due_at: dueInReview(operation, step.now, step.unit) })
    .event("review_needed", { again: true, since: operation.state_since })
    .finish()
}

/** An opaque attempt that goes on for longer than `openFor` past its time (item 10). */
export function openTooLong(operation: Operation, now: number): boolean {
  return operation.attempts.some(
    (attempt) =>
      attempt.transport === "opaque" && isOpen(attempt, now) && now > attemptOverAt(attempt) + DEFAULTS.open_for_ms,
  )
}

function unknownDue(step: StepBuilder, event: DueEvent): Transition {
  const operation = step.operation
  if (openTooLong(operation, step.now)) {
    return enterReview(step, { code: "attempt_open", text: "an attempt may still be running" })
      .incident("attempt_open_too_long", { worker_id: operation.attempts.at(-1)?.worker_id ?? "" })
      .finish()
  }
  if (!operation.checkable) return uncheckedDue(step, event)
  const { answered } = operation.probes
  if (answered < DEFAULTS.probes_answered) return illegal(operation, "it is due to be probed")
  return enterReview(step, { code: "probes_spent", text: `${answered} answered probes did not settle it` }).finish()
}

/** Nobody can look: a same-key attempt, now or later, or a person. */
function uncheckedDue(step: StepBuilder, { contract, clock_stepped_at }: DueEvent): Transition {
  const { now } = step
  const operation = contract
    ? { ...step.operation, contract: stricter(step.operation.contract, contract) }
    : step.operation
  if (sameKeyFrom(operation, now, clock_stepped_at) !== null) {
    return step
      .set({ due_at: dueAfterUnknown(operation, now, step.unit) })
      .event("state_updated", { postponed: true, code: "same_key_later" })
      .finish()
  }
  const said = operation.reason?.text ?? "nothing is known"
  return enterReview(step, { code: "uncheckable", text: `nobody can look it up: ${said}` }).finish()
}

/**
 * A lost lease, an attempt whose time is over, or a worker that stopped waiting: knowledge ends, nothing is permitted by it.
 * `timeout` is the only one told by the living process of the attempt, so it alone is called that (OU2).
 */
export function lapsed(step: StepBuilder, why: "time" | "lease" | "drain" | "timeout"): Transition {
  const running = runningAttempt(step.operation)
  if (!running) return illegal(step.operation, "only a dispatched operation lapses")
  if (why === "time" && step.now < attemptOverAt(running)) return illegal(step.operation, "its time is not over")
  const reason = {
    time: { code: "overdue", text: "its time is over and its worker said nothing" },
    lease: { code: "lease_lost", text: "its worker's lease lapsed" },
    timeout: { code: "timeout", text: "no answer within the attempt's timeout" },
    drain: { code: "drained", text: "its worker stopped before it ended" },
  }[why]
  step.set({
    attempts: step.operation.attempts.map((one) =>
      one.attempt === running.attempt && one.status === "open" ? { ...one, status: "unknown", reason } : one,
    ),
  })
  step.event(why === "time" || why === "timeout" ? "timed_out" : "lease_lost", {
    attempt: running.attempt,
    ...reasonData(reason),
  })
  return afterEnd(step, reason).finish()
}

/** Proof that a process is gone closes its attempts: a kernel lock found free, a new boot, the platform's or a person's word. */
export function workerGone(step: StepBuilder, worker: string, proof: string): Transition {
  const operation = step.operation
  const isTheirs = (one: Attempt) => one.worker_id === worker && one.gone_at === null && one.settled_at === null
  if (!operation.attempts.some(isTheirs))
    return illegal(operation, "no open attempt of that worker", "version_conflict")
  step.set({ attempts: operation.attempts.map((one) => (isTheirs(one) ? { ...one, gone_at: step.now } : one)) })
  step.event("worker_gone", { worker_id: worker, proof })
  if (runningAttempt(operation)?.worker_id === worker) return lapsed(step, "lease")
  return reaim(step).finish()
}
