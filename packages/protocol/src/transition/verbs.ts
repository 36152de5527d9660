/**
 * What people and callers may do to an operation (HU-3). Rights are checked at the doors; legality is checked here.
 *
 * VE1. `cancel` only before any dispatch; `closed_unknown` settles the queue, never a retry (R10).
 * VE2. Resolving an operation with an open attempt to `ready` or `not_applied` demands the word that its process is gone.
 * VE3. A retry names the last attempt, and is bounded over the operation's life (R18).
 * VE4. Nobody edits a settled fact: `amend` adds a new one.
 */
import { DEFAULTS } from "../defaults.ts"
import { isTerminal } from "../state.ts"
import { isOpen } from "../windows.ts"
import { appendEvidence } from "./evidence.ts"
import { confirmedObject, markDisproved, settleDenial } from "./settle.ts"
import { illegal, reasonData, type StepBuilder, type Transition } from "./step.ts"
import type { OperationEvent, ResolveTo } from "../operation-event.ts"
import type { Operation } from "../operation.ts"

type Of<T extends OperationEvent["type"]> = Extract<OperationEvent, { type: T }>

export function cancel(step: StepBuilder, event: Of<"cancel">): Transition {
  const { state, attempts } = step.operation
  if (state !== "held" && state !== "awaiting_approval" && state !== "ready") {
    return illegal(step.operation, "only an operation that is not dispatched can be cancelled")
  }
  const reason = { code: "cancelled", text: event.reason }
  if (attempts.length > 0) return settleDenial(step, "not_applied", reason).finish()
  return step.enter("cancelled", { reason }).event("cancelled", reasonData(reason)).finish()
}

export function allow(step: StepBuilder, event: Of<"allow">): Transition {
  if (step.operation.state !== "held") return illegal(step.operation, "only a held operation is allowed")
  return step
    .enter("ready", { due_at: step.now, repeats: step.operation.held_by, held_by: null, reason: null })
    .event("ready", { allowed: event.reason })
    .finish()
}

export function slot(step: StepBuilder, event: Of<"slot">): Transition {
  if (step.operation.state !== "held") return illegal(step.operation, "only a held operation waits for a slot")
  if (event.free) {
    return step.enter("ready", { due_at: step.now, held_by: null, reason: null }).event("ready", { slot: "free" }).finish()
  }
  const reason = { code: "possible_duplicate", text: "an equal action is settled already" }
  return step
    .enter("refused", { reason, held_by: event.held_by ?? step.operation.held_by })
    .event("refused", { ...reasonData(reason), holder: event.held_by ?? step.operation.held_by })
    .finish()
}

export function resolve(step: StepBuilder, event: Of<"resolve">): Transition {
  const { operation } = step
  const { resolve: to } = event
  const waiting = operation.state === "needs_review" || operation.state === "unknown" || operation.state === "accepted"
  if (!waiting) return illegal(operation, `an operation in ${operation.state} is not resolved by a person`)
  const refusal = resolveRefusal(operation, to, step.now)
  if (refusal) return illegal(operation, refusal)
  step.set({
    evidence: appendEvidence(operation, {
      evidence_id: event.evidence_id,
      source: "operator",
      rank: "attested",
      attempt: null,
      generation: null,
      observed_from: step.now,
      recorded_at: step.now,
      finding:
        to.to === "succeeded"
          ? { kind: "applied", ...(to.object ? { candidate: to.object } : {}) }
          : { kind: "unsure", reason: to.reason },
    }),
  })
  step.event("resolved", { to: to.to, reason: to.reason, evidence: to.evidence })
  return resolved(step, to).finish()
}

function resolveRefusal(operation: Operation, to: ResolveTo, now: number): string | null {
  if (to.reason.trim() === "") return "a reason is needed"
  if (to.to !== "closed_unknown" && Object.keys(to.evidence).length === 0 && !to.object) return "evidence is needed"
  if (operation.state === "accepted" && (to.to === "not_applied" || to.to === "ready")) {
    return "an acceptance is not refuted by a person; resolve to succeeded, undone or closed_unknown"
  }
  const open = operation.attempts.some((attempt) => isOpen(attempt, now))
  if (open && (to.to === "ready" || to.to === "not_applied") && to.process_gone !== true) {
    return "an attempt may still be running: say that its process is gone (process_gone), or `workers gone` first"
  }
  if (to.to === "ready" && now >= operation.deadline_at) return "its deadline is over; resolve to not_applied and retry"
  return null
}

function resolved(step: StepBuilder, to: ResolveTo): StepBuilder {
  const reason = { code: "resolved", text: to.reason }
  const disprove = () =>
    step.set({
      attempts: step.operation.attempts.map((one) =>
        one.status === "disproved" ? one : markDisproved(one, reason, { settled_at: one.settled_at ?? step.now }),
      ),
      restored: null,
    })
  switch (to.to) {
    case "succeeded":
      return step.enter("succeeded", {
        cause: "attested",
        verdict: "confirmed",
        reason,
        object: confirmedObject(to.object),
        output: to.output ?? step.operation.output,
        barred: false,
        restored: null,
      })
    case "undone":
      return step.enter("undone", { reason })
    case "closed_unknown":
      return step.enter("closed_unknown", { reason })
    case "not_applied":
      disprove()
      return settleDenial(step, "not_applied", reason)
    case "ready": {
      disprove()
      const sent = step.operation.attempts.filter((attempt) => attempt.left).length
      return step.enter("ready", {
        reason,
        verdict: "refuted",
        due_at: step.now,
        barred: false,
        generation: step.operation.generation + (step.operation.contract.key?.replays_errors ? 1 : 0),
        attempts_max: Math.max(step.operation.attempts_max, sent + 1),
      })
    }
  }
}

export function retry(step: StepBuilder, event: Of<"retry">): Transition {
  const { operation } = step
  if (operation.state !== "not_applied") {
    return illegal(operation, `only not_applied is retried; this one is ${operation.state}`, "retry_refused")
  }
  if (operation.contradicted) return illegal(operation, "it is contradicted: amend it first", "retry_refused")
  if (operation.superseded_by !== null) return illegal(operation, "it is superseded", "retry_refused")
  const last = operation.attempts.at(-1)?.attempt ?? 0
  if (event.after_attempt !== last) {
    return illegal(operation, `the last attempt is ${last}, not ${event.after_attempt}`, "retry_refused")
  }
  if (operation.retries >= DEFAULTS.retries) {
    return illegal(operation, `${DEFAULTS.retries} retries in its life are used`, "retry_refused")
  }
  const sent = operation.attempts.filter((attempt) => attempt.left).length
  step.enter("ready", {
    due_at: step.now,
    settled_at: null,
    retries: operation.retries + 1,
    attempts_max: Math.max(operation.attempts_max, sent + 1),
    deadline_at: Math.max(operation.deadline_at, event.deadline_at),
    unsent_since: null,
    reason: null,
    told: false,
    probes: { answered: 0, failed: 0, lease: null, last_at: operation.probes.last_at },
  })
  return step.event("retried", { after_attempt: event.after_attempt, automatic: event.automatic }).finish()
}

export function amend(step: StepBuilder, event: Of<"amend">): Transition {
  const { operation } = step
  if (!isTerminal(operation.state)) return illegal(operation, "only a settled operation is amended")
  if (!operation.contradicted && operation.state !== "closed_unknown" && operation.state !== "succeeded") {
    return illegal(operation, "nothing contradicts it")
  }
  const reason = { code: "amended", text: event.reason }
  step.enter(event.to, {
    contradicted: false,
    reason,
    ...(event.to === "succeeded"
      ? { cause: "attested" as const, verdict: "confirmed" as const, object: confirmedObject(event.object) ?? operation.object }
      : {}),
  })
  return step.event("amended", { to: event.to, ...reasonData(reason) }).finish()
}

export function superseded(step: StepBuilder, by: string): Transition {
  const { operation } = step
  const open = ["refused", "expired", "cancelled", "replan", "not_applied", "failed", "undone", "denied"]
  const undone = operation.state === "succeeded" && operation.compensation_settled
  if (!open.includes(operation.state) && !undone) {
    return illegal(operation, `an operation in ${operation.state} is not superseded`, "supersedes_refused")
  }
  if (operation.contradicted) return illegal(operation, "it is contradicted: amend it first", "supersedes_refused")
  if (operation.superseded_by !== null) return illegal(operation, "it is superseded already", "supersedes_refused")
  return step.set({ superseded_by: by }).event("superseded", { by }).finish()
}

export function compensated(step: StepBuilder, event: Of<"compensated">): Transition {
  const { operation } = step
  return step
    .set({ compensated_by: event.by, compensation_settled: event.settled || operation.compensation_settled })
    .event("compensated", { by: event.by, settled: event.settled })
    .finish()
}
