/** The attempts of an operation as transitions read and mark them. */
import type { StepBuilder } from "./step.ts"
import type { Attempt, Operation, Reason } from "../operation.ts"

/** Neither disproved nor known to have been taken. */
export function isUndecided(attempt: Attempt): boolean {
  return attempt.status === "open" || attempt.status === "unknown"
}

/** The attempt of a `dispatched` operation that has not ended. */
export function runningAttempt(operation: Operation): Attempt | null {
  return operation.state === "dispatched" ? (operation.attempts.at(-1) ?? null) : null
}

export function markDisproved(attempt: Attempt, reason: Reason, change: Partial<Attempt> = {}): Attempt {
  return { ...attempt, ...change, status: "disproved", reason }
}

/** Disproves every undecided attempt that is meant. What is acknowledged or accepted stays so. */
export function disprove(
  step: StepBuilder,
  meant: (attempt: Attempt) => boolean,
  why: (attempt: Attempt) => Reason,
): StepBuilder {
  return step.set({
    attempts: step.operation.attempts.map((one) =>
      isUndecided(one) && meant(one) ? markDisproved(one, why(one)) : one,
    ),
  })
}

export function patch(step: StepBuilder, number: number, change: Partial<Attempt>): void {
  step.set({
    attempts: step.operation.attempts.map((one) => (one.attempt === number ? { ...one, ...change } : one)),
  })
}
