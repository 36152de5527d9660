/**
 * What may still happen to a settled operation: retry, supersede, compensate, amend (protocol §2, §7).
 *
 * AS1. A retry names the last attempt, and is bounded over the operation's life: one winner (R18).
 * AS2. One successor: `superseded_by` is set once.
 * AS3. A contradicted outcome is closed to all of them until a person amends it.
 * AS4. Nobody edits a settled fact: `amend` adds a new one, and says at least as much as a resolution must.
 */
import { DEFAULTS } from "../defaults.ts"
import { isTerminal } from "../state.ts"
import { objectKey } from "../judge/context.ts"
import { mayStillSend } from "../windows.ts"
import { attemptsSent } from "./budget.ts"
import { nextGeneration } from "./denial.ts"
import { isRecorded } from "./outcome.ts"
import { disproveAll, recordWord } from "./resolve.ts"
import { confirmedObject } from "./settle.ts"
import { illegal, reasonData, type StepBuilder, type Transition } from "./step.ts"
import type { Amendment, OperationEvent } from "../operation-event.ts"
import type { Operation } from "../operation.ts"

type Of<T extends OperationEvent["type"]> = Extract<OperationEvent, { type: T }>

export function retry(step: StepBuilder, event: Of<"retry">): Transition {
  const { operation } = step
  const deadline_at = Math.max(operation.deadline_at, event.deadline_at)
  const refusal = retryRefusal(operation, event.after_attempt, deadline_at <= step.now)
  if (refusal) return illegal(operation, refusal, "retry_refused")
  step.enter("ready", {
    due_at: step.now,
    settled_at: null,
    retries: operation.retries + 1,
    attempts_max: Math.max(operation.attempts_max, attemptsSent(operation) + 1),
    deadline_at,
    unsent_since: null,
    reason: null,
    told: false,
    probes: { answered: 0, failed: 0, lease: null, last_at: operation.probes.last_at },
  })
  return step.event("retried", { after_attempt: event.after_attempt, automatic: event.automatic }).finish()
}

function retryRefusal(operation: Operation, after: number, late: boolean): string | null {
  if (operation.state !== "not_applied") return `only not_applied is retried; this one is ${operation.state}`
  if (operation.contradicted) return "it is contradicted: amend it first"
  if (operation.superseded_by !== null) return "it is superseded"
  if (operation.output_purged) return "its parameters are purged"
  const last = operation.attempts.at(-1)?.attempt ?? 0
  if (after !== last) return `the last attempt is ${last}, not ${after}`
  if (operation.retries >= DEFAULTS.retries) return `${DEFAULTS.retries} retries in its life are used`
  return late ? "its deadline would be over" : null
}

const SUPERSEDABLE: readonly string[] = [
  "refused",
  "denied",
  "expired",
  "cancelled",
  "replan",
  "not_applied",
  "failed",
  "undone",
]

export function superseded(step: StepBuilder, by: string): Transition {
  const { operation } = step
  const refuse = (text: string) => illegal(operation, text, "supersedes_refused")
  const undone = operation.state === "succeeded" && operation.compensation_settled
  if (!SUPERSEDABLE.includes(operation.state) && !undone)
    return refuse(`an operation in ${operation.state} is not superseded`)
  if (operation.contradicted) return refuse("it is contradicted: amend it first")
  if (operation.superseded_by !== null) return refuse("it is superseded already")
  return step.set({ superseded_by: by }).event("superseded", { by }).finish()
}

/** A compensation needs its object's confirmation, not the operation's success (R34). */
export function compensated(step: StepBuilder, event: Of<"compensated">): Transition {
  const { operation } = step
  const known = operation.compensated_by === event.by
  if (known && (!event.settled || operation.compensation_settled)) return illegal(operation, "it is recorded already")
  const inPlace =
    operation.state === "succeeded" || (operation.state === "needs_review" && operation.verdict === "diverged")
  if (!known && !inPlace) return illegal(operation, `an operation in ${operation.state} has no confirmed effect`)
  return step
    .set({ compensated_by: event.by, compensation_settled: event.settled || operation.compensation_settled })
    .event("compensated", { by: event.by, settled: event.settled })
    .finish()
}

export function amend(step: StepBuilder, event: Of<"amend">): Transition {
  const { operation } = step
  const refusal = amendRefusal(operation, event, step.now)
  if (refusal) return illegal(operation, refusal)
  const evidence_id = event.evidence_id ?? `amended:${operation.version}`
  if (isRecorded(operation, evidence_id)) return illegal(operation, "this word is already recorded", "version_conflict")
  recordWord(step, evidence_id, wordOf(event))
  const reason = { code: "amended", text: event.reason }
  if (event.to === "not_applied") disproveAll(step, reason)
  step.enter(event.to, { contradicted: false, reason, ...amendedFact(step.operation, event) })
  return step.event("amended", { to: event.to, ...reasonData(reason) }).finish()
}

function amendRefusal(operation: Operation, to: Amendment, now: number): string | null {
  const { state } = operation
  if (!isTerminal(state)) return "only a settled operation is amended"
  if (to.reason.trim() === "") return "a reason is needed"
  if (!operation.contradicted && state !== "closed_unknown" && state !== "succeeded") return "nothing contradicts it"
  if (!operation.contradicted && to.to === state && !namesObject(operation, to)) return "it says that already"
  const runs = operation.attempts.some((one) => mayStillSend(one, now))
  if (to.to === "not_applied" && runs && to.process_gone !== true) {
    return "an attempt may still be running: say that its process is gone (process_gone), or `workers gone` first"
  }
  return null
}

/** Whether it names an object that the fact did not have. */
function namesObject(operation: Operation, to: Amendment): boolean {
  const named = to.object_taken_by === undefined ? confirmedObject(to.object) : null
  if (named === null || (to.to !== "succeeded" && to.to !== "undone")) return false
  return operation.object === null || objectKey(named) !== objectKey(operation.object)
}

function wordOf(to: Amendment): Parameters<typeof recordWord>[2] {
  const candidate = to.object ? { candidate: to.object } : {}
  if (to.to === "succeeded") return { kind: "applied", ...candidate }
  if (to.to === "undone") return { kind: "reversed", reason: to.reason, ...candidate }
  if (to.to === "not_applied") return { kind: "not_applied", reason: to.reason, permanent: false }
  return { kind: "unsure", reason: to.reason }
}

function amendedFact(operation: Operation, to: Amendment): Partial<Operation> {
  const object = to.object_taken_by === undefined ? (confirmedObject(to.object) ?? operation.object) : null
  switch (to.to) {
    case "succeeded":
      return { cause: "attested", verdict: "confirmed", object }
    case "undone":
      return { object }
    case "not_applied":
      return { cause: null, verdict: "refuted", object: null, generation: nextGeneration(operation) }
    case "closed_unknown":
      return { cause: null, verdict: "inconclusive" }
  }
}
