/**
 * A state of the model: one operation, the workers that touch it, and what is on its way to the provider.
 *
 * The operation is a real record, changed only by the real `transition()`. Everything around it is as small as it can be while
 * every await of the engine is still a place where anything else may happen first.
 */
import type { AttemptOutcome, Operation } from "@invokejs/protocol"

export interface ModelEffect {
  readonly attempt: number
  readonly key: string
  readonly at: number
}

/** A request that has left and has neither landed nor been lost. */
export interface InFlight {
  readonly attempt: number
  readonly key: string
  readonly sent_at: number
  /** Whether somebody still waits for its answer. */
  readonly waited_for: boolean
}

export interface OpenAttempt {
  readonly attempt: number
  readonly phase: "before_send" | "sent" | "ended"
  /** What its process will write down; set when it ended. */
  readonly outcome: AttemptOutcome | null
  readonly left: boolean
  /** Its worker was told to stop waiting; the promise goes on. */
  readonly abandoned: boolean
}

export type LoopWork =
  /** The row was read and a step decided; it is not written yet. */
  | { readonly kind: "decided"; readonly step: "dispatch" | "probe" | "timer" | "lapse"; readonly read: Operation }
  /** The look has begun. */
  | { readonly kind: "looking"; readonly observed_from: number }
  /** The look was answered; its evidence is not written yet. */
  | { readonly kind: "seen"; readonly observed_from: number; readonly found: boolean }

export interface ModelWorker {
  readonly id: string
  readonly alive: boolean
  readonly attempt: OpenAttempt | null
  readonly loop: LoopWork | null
  readonly lease_until: number
}

export interface ModelState {
  readonly now: number
  readonly operation: Operation
  readonly workers: readonly ModelWorker[]
  readonly in_flight: readonly InFlight[]
  readonly effects: readonly ModelEffect[]
  readonly crashes_left: number
  readonly retries_left: number
}

export interface Move {
  readonly name: string
  readonly next: ModelState
}

/** The schedule of looks no longer depends on how many were answered beyond this. */
const ANSWERED_MAX = 6

/**
 * Two states with one text are one state. Times are told by how long ago they were: nothing depends on the hour. What only a
 * reader of the timeline needs (ids of evidence, reasons, counters of events) is left out.
 */
export function hashState(state: ModelState): string {
  const { now, operation } = state
  const ago = (time: number | null) => (time === null ? null : time - now)
  return JSON.stringify([
    operation.state,
    operation.barred,
    operation.contradicted,
    operation.generation,
    operation.retries,
    operation.attempts_max,
    ago(operation.due_at),
    ago(operation.unsent_since),
    ago(operation.state === "needs_review" ? operation.state_since : null),
    operation.attempts.map((one) => [
      one.status,
      one.generation,
      one.left,
      one.worker_id,
      ago(one.dispatched_at),
      ago(one.settled_at),
      ago(one.gone_at),
      one.refused !== undefined,
    ]),
    operation.evidence.map((one) => [
      one.finding.kind,
      one.finding.kind === "look" && one.finding.candidates.length,
      ago(one.observed_from),
      one.attempt,
    ]),
    Math.min(operation.probes.answered, ANSWERED_MAX),
    ago(operation.probes.lease?.until ?? null),
    operation.probes.lease?.worker_id,
    ago(operation.probes.last_at),
    state.workers.map((one) => [
      one.id,
      one.alive,
      one.attempt,
      loopText(one.loop, operation, now),
      ago(one.lease_until),
    ]),
    state.in_flight.map((one) => [one.attempt, ago(one.sent_at)]),
    state.effects.map((one) => [one.attempt, ago(one.at)]),
    state.crashes_left,
    state.retries_left,
  ])
}

/** Of a decision only whether its row has moved since matters: a stale one is refused. */
function loopText(loop: LoopWork | null, operation: Operation, now: number): unknown {
  if (loop === null) return null
  if (loop.kind === "decided") return [loop.step, loop.read.version === operation.version]
  return [loop.kind, loop.observed_from - now, loop.kind === "seen" && loop.found]
}
