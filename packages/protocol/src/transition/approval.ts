/**
 * Approvals as the operation sees them: asked, approved, denied (protocol §8).
 *
 * Must not: know who may decide, or what is frozen. The approval's own record does; it moves in the same transaction.
 *
 * AP1. Only what waits to be dispatched is asked about: nothing of it is undecided.
 * AP2. A denial of an operation that was dispatched before denies a further attempt, not what was proved of the earlier ones.
 */
import { settleDenial } from "./denial.ts"
import { illegal, reasonData, type StepBuilder, type Transition } from "./step.ts"
import type { OperationEvent } from "../operation-event.ts"

type Of<T extends OperationEvent["type"]> = Extract<OperationEvent, { type: T }>

export function ask(step: StepBuilder, event: Of<"ask">): Transition {
  const { operation } = step
  if (operation.state !== "ready" && operation.state !== "held") {
    return illegal(operation, "only what waits to be dispatched needs an approval")
  }
  if (operation.state === "held" && operation.held_by === null)
    return illegal(operation, "it waits for a person already")
  const until = Math.min(event.expires_at, operation.deadline_at)
  if (until <= step.now) return illegal(operation, "nobody could decide before it expires")
  return step
    .enter("awaiting_approval", { approval_id: event.approval_id, held_by: null, reason: event.reason, due_at: until })
    .event("approval_requested", {
      approval_id: event.approval_id,
      expires_at: event.expires_at,
      ...reasonData(event.reason),
    })
    .finish()
}

export function approve(step: StepBuilder, event: Of<"approve">): Transition {
  const { operation } = step
  if (operation.state !== "awaiting_approval") return illegal(operation, "it does not wait for an approval")
  if (operation.due_at !== null && step.now >= operation.due_at) return illegal(operation, "its approval has expired")
  return step
    .enter("ready", { reason: null, due_at: step.now })
    .event("approved", { approval_id: operation.approval_id, reason: event.reason })
    .finish()
}

export function deny(step: StepBuilder, event: Of<"deny">): Transition {
  const { operation } = step
  if (operation.state !== "awaiting_approval") return illegal(operation, "it does not wait for an approval")
  const reason = { code: "denied", text: event.reason }
  if (operation.attempts.length > 0) return settleDenial(step, "not_applied", reason).finish()
  return step.enter("denied", { reason }).event("denied", reasonData(reason)).finish()
}
