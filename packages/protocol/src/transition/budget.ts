/**
 * How many attempts an operation may still make (RP-1, item 15).
 *
 * BU1. Attempts that left the machine are counted over the operation's whole life; a retry adds to the budget.
 * BU2. Attempts proved never to have left do not count: they go on for `connectFor`, counted from the first of their run.
 */
import { DEFAULTS } from "../defaults.ts"
import type { Operation, Reason } from "../operation.ts"

/** Why no further attempt may be made, or null. */
export function spentReason(operation: Operation, now: number): Reason | null {
  if (now >= operation.deadline_at) return { code: "deadline", text: "the operation's deadline is over" }
  const sent = attemptsSent(operation)
  if (sent >= operation.attempts_max) return { code: "attempts_spent", text: `${sent} attempts left the machine` }
  const since = operation.unsent_since
  const last = operation.attempts.at(-1)
  if (last && !last.left && since !== null && now - since >= DEFAULTS.connect_for_ms) {
    return { code: "not_connected", text: "the provider could not be reached" }
  }
  return null
}

export function attemptsSent(operation: Operation): number {
  return operation.attempts.filter((attempt) => attempt.left).length
}
