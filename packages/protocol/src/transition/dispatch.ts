/**
 * The dispatch record: attempt n of an operation (protocol §5.1).
 *
 * Owns: the last look at all conditions before a byte may leave, and what the record says.
 *
 * DI1. No attempt is acknowledged, accepted or confirmed (SK0), and no evidence is newer than the judgement this rests on (R5).
 * DI2. Every earlier attempt is disproved, or of this generation and key while its key protects (S1).
 * DI3. `send_before` lies ahead, and is never extended (WI2).
 * DI4. The stricter of the contract frozen with the first record and the one loaded now holds (R28d).
 */
import { DEFAULTS } from "../defaults.ts"
import { stricter } from "../contract.ts"
import { mayUseSameKey } from "../same-key.ts"
import { attemptOverAt, sendBefore } from "../windows.ts"
import { spentReason } from "./budget.ts"
import { illegal, type StepBuilder, type Transition } from "./step.ts"
import type { DispatchEvent } from "../operation-event.ts"
import type { Attempt, Operation } from "../operation.ts"

export function dispatch(step: StepBuilder, event: DispatchEvent): Transition {
  const recorded = step.operation
  const contract = recorded.attempts.length === 0 ? event.contract : stricter(recorded.contract, event.contract)
  const operation: Operation = { ...recorded, contract }
  const refusal = dispatchRefusal(operation, event, step.now)
  if (refusal) return illegal(operation, refusal, "dispatch_refused")
  const before = sendBefore(operation, {
    lease_until: event.lease_until,
    ...(event.approval_until === undefined ? {} : { approval_until: event.approval_until }),
  })
  if (before <= step.now) return illegal(operation, "send_before would lie in the past", "dispatch_refused")
  const attempt = attemptRecord(operation, event, step.now, before)
  const started = operation.generation_started_at[operation.generation]
  step.enter("dispatched", {
    contract,
    attempts: [...operation.attempts, attempt],
    generation_started_at: {
      ...operation.generation_started_at,
      [operation.generation]: started === undefined ? step.now : started,
    },
    // Another attempt is another unknown: its probes begin with the first delays again, and its verdict is its own.
    probes: { answered: 0, failed: 0, lease: null, last_at: operation.probes.last_at },
    verdict: null,
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

function attemptRecord(operation: Operation, event: DispatchEvent, now: number, before: number): Attempt {
  return {
    attempt: operation.attempts.length + 1,
    generation: operation.generation,
    provider_key: event.provider_key,
    worker_id: event.worker_id,
    lease_token: event.lease_token,
    dispatched_at: now,
    send_before: before,
    last_possible_send: before + DEFAULTS.body_ms,
    timeout_ms: operation.contract.timeout_ms,
    transport: event.transport,
    ...(event.caller_executed ? { caller_executed: true } : {}),
    status: "open",
    settled_at: null,
    gone_at: null,
    left: true,
  }
}

function dispatchRefusal(operation: Operation, event: DispatchEvent, now: number): string | null {
  if (operation.state !== "ready" && operation.state !== "unknown")
    return `an operation in ${operation.state} is not dispatched`
  if (event.judged_version !== operation.version) return "the decision rests on an older version"
  if (operation.barred || operation.contradicted) return "further attempts are barred"
  if (operation.restored) return "the journal went back in time and this operation is not settled since"
  if (operation.approval_id !== null && event.approval_until === undefined) return "its approval's expiry is not given"
  if (now >= operation.deadline_at) return "the deadline is over"
  const pending = operation.attempts.filter((attempt) => attempt.status !== "disproved")
  if (pending.some((attempt) => attempt.provider_key !== event.provider_key)) {
    return "an earlier attempt that is not disproved went under another provider key"
  }
  if (pending.length > 0) return mayUseSameKey(operation, now, event.clock_stepped_at, event.transport)?.text ?? null
  if (operation.state === "unknown") return "nothing is unknown about it"
  return operation.attempts.length === 0 ? null : (spentReason(operation, now)?.text ?? null)
}
