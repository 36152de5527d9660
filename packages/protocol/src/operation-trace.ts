/**
 * The short timeline that a Result carries: what was admitted, dispatched, looked up and settled.
 *
 * Drawn from the operation's row alone, so an answer needs no second read; the events are the full timeline.
 */
import { isoTime } from "./iso-time.ts"
import type { Operation } from "./operation.ts"

export interface TraceStep {
  readonly step: "admitted" | "dispatched" | "looked_up" | "settled"
  /** The attempt's status, the verdict, or the state. */
  readonly status: string
  readonly at: string
  readonly attempt?: number
  readonly http_status?: number
  /** A code of ours, or of the tool; never prose. */
  readonly code?: string
}

export function operationTrace(operation: Operation): readonly TraceStep[] {
  const steps: TraceStep[] = [{ step: "admitted", status: "recorded", at: isoTime(operation.created_at) }]
  for (const attempt of operation.attempts) {
    steps.push({
      step: "dispatched",
      status: attempt.status,
      at: isoTime(attempt.dispatched_at),
      attempt: attempt.attempt,
      ...(attempt.http_status === undefined ? {} : { http_status: attempt.http_status }),
      ...(attempt.reason === undefined ? {} : { code: attempt.reason.code }),
    })
  }
  const looked = operation.probes.last_at
  if (looked !== null) {
    steps.push({ step: "looked_up", status: operation.verdict ?? "inconclusive", at: isoTime(looked) })
  }
  if (operation.settled_at !== null) {
    steps.push({
      step: "settled",
      status: operation.state,
      at: isoTime(operation.settled_at),
      ...(operation.reason === null ? {} : { code: operation.reason.code }),
    })
  }
  return steps
}
