/**
 * The dispatch record: attempt n of an operation (protocol §5.1).
 *
 * DI1. No attempt is acknowledged, accepted or confirmed, and no evidence is newer than the judgement this rests on (R5).
 * DI2. Every earlier attempt is disproved, or of this generation while its key protects (S1).
 * DI3. `send_before` lies ahead, and is never extended (WI2).
 */
import { DEFAULTS } from "../defaults.ts"
import { stricter } from "../contract.ts"
import { mayUseSameKey } from "../next-step.ts"
import { attemptOverAt, sendBefore } from "../windows.ts"
import { spentReason } from "./settle.ts"
import { illegal, type StepBuilder, type Transition } from "./step.ts"
import type { DispatchEvent } from "../operation-event.ts"
import type { Attempt, Operation } from "../operation.ts"

export function dispatch(step: StepBuilder, event: DispatchEvent): Transition {
  const operation = step.operation
  const refusal = dispatchRefusal(operation, event, step.now)
  if (refusal) return illegal(operation, refusal, "dispatch_refused")
  const contract = operation.attempts.length === 0 ? event.contract : stricter(operation.contract, event.contract)
  const bounded: Operation = { ...operation, contract }
  const before = sendBefore(bounded, { lease_until: event.lease_until })
  if (before <= step.now) return illegal(operation, "send_before would lie in the past", "dispatch_refused")
  const started = operation.generation_started_at[operation.generation]
  const attempt: Attempt = {
    attempt: operation.attempts.length + 1,
    generation: operation.generation,
    provider_key: event.provider_key,
    worker_id: event.worker_id,
    lease_token: event.lease_token,
    dispatched_at: step.now,
    send_before: before,
    last_possible_send: before + DEFAULTS.body_ms,
    timeout_ms: contract.timeout_ms,
    transport: event.transport,
    ...(event.caller_executed ? { caller_executed: true } : {}),
    status: "open",
    settled_at: null,
    gone_at: null,
    left: true,
  }
  step.enter("dispatched", {
    contract,
    attempts: [...operation.attempts, attempt],
    generation_started_at: {
      ...operation.generation_started_at,
      [operation.generation]: started === undefined ? step.now : started,
    },
    due_at: attemptOverAt(attempt),
    reason: null,
  })
  return step
    .event("submitted", {
      attempt: attempt.attempt,
      generation: attempt.generation,
      provider_key: attempt.provider_key,
      send_before: attempt.send_before,
      transport: attempt.transport,
      tool_version: event.tool_version,
    })
    .finish()
}

function dispatchRefusal(operation: Operation, event: DispatchEvent, now: number): string | null {
  if (operation.state !== "ready" && operation.state !== "unknown") return `an operation in ${operation.state} is not dispatched`
  if (event.judged_version !== operation.version) return "the decision rests on an older version"
  if (operation.barred || operation.contradicted) return "further attempts are barred"
  if (operation.restored) return "the journal went back in time and this operation is not settled since"
  if (operation.attempts.some((attempt) => attempt.status === "acknowledged" || attempt.status === "accepted")) {
    return "an attempt is acknowledged or accepted"
  }
  if (now >= operation.deadline_at) return "the deadline is over"
  const undisproved = operation.attempts.some((attempt) => attempt.status !== "disproved")
  if (undisproved) return mayUseSameKey(operation, now)?.text ?? null
  if (operation.state === "unknown") return "nothing is unknown about it"
  return operation.attempts.length === 0 ? null : (spentReason(operation, now)?.text ?? null)
}
