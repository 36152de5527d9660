/**
 * What happens to an operation that waits: for its slot, for its turn, for policy's next look.
 *
 * WT1. A wait never outlives the deadline, and never hides a timer that leads out.
 * WT2. Only the slot it waits for releases a held operation; one that found its effect in place waits for a person (item 16).
 * WT3. What policy or drift stops after a dispatch is not applied: every attempt is disproved by then.
 */
import { DEFAULTS } from "../defaults.ts"
import { nextAttemptAt } from "../retry-schedule.ts"
import { settleDenial } from "./denial.ts"
import { illegal, reasonData, type StepBuilder, type Transition } from "./step.ts"
import type { OperationEvent } from "../operation-event.ts"

type Of<T extends OperationEvent["type"]> = Extract<OperationEvent, { type: T }>

const POSTPONABLE: readonly string[] = ["ready", "unknown", "accepted", "needs_review"]

/** A limit is full, a circuit is open, no worker has the tool: later. */
export function postpone(step: StepBuilder, event: Of<"postpone">): Transition {
  const { operation } = step
  if (!POSTPONABLE.includes(operation.state)) return illegal(operation, `${operation.state} has a timer of its own`)
  if (event.until <= step.now) return illegal(operation, "that is not later")
  const ready = operation.state === "ready"
  const limit = ready ? operation.deadline_at : step.now + DEFAULTS.review_probe_interval_ms
  const until = Math.max(step.now, Math.min(event.until, limit))
  if (operation.due_at === until && (!ready || operation.reason?.code === event.reason.code)) {
    return illegal(operation, "it is postponed already")
  }
  if (ready && event.reason.code === "waiting_for_tool" && operation.reason?.code !== "waiting_for_tool") {
    step.incident("no_worker", { tool: operation.tool })
  }
  return step
    .set({ due_at: until, ...(ready ? { reason: event.reason } : {}) })
    .event("state_updated", { postponed: true, ...reasonData(event.reason) })
    .finish()
}

export function policyRefused(step: StepBuilder, event: Of<"policy_refused">): Transition {
  const { operation } = step
  if (operation.state !== "ready" && operation.state !== "held")
    return illegal(operation, "it is not waiting to be dispatched")
  if (operation.attempts.length > 0) return settleDenial(step, "not_applied", event.reason).finish()
  return step.enter("refused", { reason: event.reason }).event("refused", reasonData(event.reason)).finish()
}

export function drifted(step: StepBuilder, event: Of<"drifted">): Transition {
  const { operation } = step
  if (operation.state !== "ready" && operation.state !== "awaiting_approval") {
    return illegal(operation, "it is not waiting to be dispatched")
  }
  return step.enter("replan", { reason: event.reason }).event("replan", reasonData(event.reason)).finish()
}

/** `free`: policy has been asked and says yes; where it asks or refuses, that event comes instead. */
export function slot(step: StepBuilder, event: Of<"slot">): Transition {
  const { operation } = step
  if (operation.state !== "held" || operation.held_by === null) return illegal(operation, "it waits for no slot")
  if (event.free) {
    return step
      .enter("ready", { due_at: step.now, held_by: null, reason: null })
      .event("ready", { slot: "free" })
      .finish()
  }
  const holder = event.held_by ?? operation.held_by
  if (event.unresolved === true) {
    if (holder === operation.held_by) return illegal(operation, "it waits for that one already")
    return step.set({ held_by: holder }).event("held", { holder }).finish()
  }
  const reason = { code: "possible_duplicate", text: "an equal action is settled already" }
  return step
    .enter("refused", { reason, held_by: holder })
    .event("refused", { ...reasonData(reason), holder })
    .finish()
}

export function allow(step: StepBuilder, event: Of<"allow">): Transition {
  const { operation } = step
  if (operation.state !== "held") return illegal(operation, "only a held operation is allowed")
  if (event.reason.trim() === "") return illegal(operation, "a reason is needed")
  return step
    .enter("ready", { due_at: step.now, repeats: operation.held_by ?? operation.repeats, held_by: null, reason: null })
    .event("ready", { allowed: event.reason })
    .finish()
}

export function cancel(step: StepBuilder, event: Of<"cancel">): Transition {
  const { state, attempts } = step.operation
  if (state !== "held" && state !== "awaiting_approval" && state !== "ready") {
    return illegal(step.operation, "only an operation that is not dispatched can be cancelled")
  }
  const reason = { code: "cancelled", text: event.reason }
  if (attempts.length > 0) return settleDenial(step, "not_applied", reason).finish()
  return step.enter("cancelled", { reason }).event("cancelled", reasonData(reason)).finish()
}

/** The look before attempt 1 (item 16). A full match holds the operation, unless the tool says that is normal. */
export function lookedBefore(step: StepBuilder, event: Of<"looked_before">): Transition {
  const { operation } = step
  if (operation.state !== "ready" || operation.attempts.length > 0 || operation.looked_before) {
    return illegal(operation, "only once, before attempt 1")
  }
  const found = event.full_match === null ? event.seen : [event.full_match, ...event.seen]
  const seen = [...new Set(found)]
  if (seen.length > DEFAULTS.seen_max) return tooWide(step, seen.length)
  step.set({ looked_before: true, seen, seen_version: event.version })
  if (event.full_match !== null && !operation.contract.many) {
    const reason = { code: "exists_already", text: "what the call makes is there already" }
    return step
      .enter("held", { reason, due_at: Math.min(step.now + DEFAULTS.hold_for_ms, operation.deadline_at) })
      .event("held", { ...reasonData(reason), object_id: event.full_match })
      .finish()
  }
  return step
    .set({ due_at: step.now })
    .event("evidence", { source: "probe", finding: "before", seen: seen.length })
    .finish()
}

/** What is forgotten of the set could be taken for our own object later: nothing is sent. */
function tooWide(step: StepBuilder, found: number): Transition {
  const { operation } = step
  const reason = {
    code: "look_too_wide",
    text: `${found} objects match already; ${DEFAULTS.seen_max} can be remembered`,
  }
  const at = nextAttemptAt({ failures: DEFAULTS.attempts, now: step.now, unit: step.unit })
  return step
    .set({ due_at: Math.max(step.now, Math.min(at, operation.deadline_at)), reason })
    .event("state_updated", { postponed: true, ...reasonData(reason) })
    .finish()
}
