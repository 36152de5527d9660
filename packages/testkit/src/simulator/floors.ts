/**
 * How often each fault must have been injected, and each transition have fired, before a simulation has said anything (issue 3).
 *
 * Owns: the two lists, and what falls short of them.
 * Must not: lower a floor. What cannot be reached is not in the list, and the reason stands beside it.
 */
import type { FaultCounts } from "./fault-counts.ts"
import { STRIKES } from "./plan/plan.ts"

/** Everything that a run may suffer, by the name under which it is counted. */
const FAULT_KINDS: readonly string[] = [
  ...STRIKES,
  "journal_unavailable",
  "journal_unreadable",
  "journal_slow",
  "commit_in_doubt_landed",
  "commit_in_doubt_lost",
  "commit_in_doubt_late",
  "lost_request",
  "late_landing",
  "lost_answer",
  "silence",
  "unreadable_body",
  "refused_connection",
  "slow_connection",
  "slow_work",
  "refused_before_key",
  "rejected",
  "error_after_effect",
  "error_without_effect",
  "repeated_between",
  "reversed",
  "look_unanswered",
  "look_incomplete",
  "look_slow",
  "stale_look",
  "tool_stall",
  "tool_hours",
  "second_effect",
]

/**
 * The arrows of the state table (protocol §4), as far as an engine without policy, approvals, workflows and pushed evidence draws
 * them: those of `awaiting_approval`, `denied`, `replan` and of `accepted` by a person wait for what brings them. A contradiction
 * needs a lie, or somebody who sends our requests again; it is counted, and has no floor.
 */
const TRANSITIONS: readonly string[] = [
  "call>ready",
  "call>held",
  "call>refused",
  "held>ready",
  "held>refused",
  "held>expired",
  "held>cancelled",
  "held>unknown",
  "ready>dispatched",
  "ready>not_applied",
  "ready>cancelled",
  "ready>held",
  "ready>refused",
  "ready>expired",
  "ready>unknown",
  "dispatched>ready",
  "dispatched>failed",
  "dispatched>not_applied",
  "dispatched>succeeded",
  "dispatched>accepted",
  "dispatched>unknown",
  "accepted>succeeded",
  "accepted>needs_review",
  "unknown>dispatched",
  "unknown>ready",
  "unknown>held",
  "unknown>failed",
  "unknown>not_applied",
  "unknown>succeeded",
  "unknown>needs_review",
  "needs_review>succeeded",
  "needs_review>not_applied",
  "needs_review>failed",
  "needs_review>ready",
  "needs_review>undone",
  "needs_review>closed_unknown",
  "not_applied>ready",
  "closed_unknown>succeeded",
  "closed_unknown>not_applied",
]

export interface Shortfall {
  readonly what: string
  readonly count: number
  readonly floor: number
}

const FAULT_FLOOR = 1_000
const TRANSITION_FLOOR = 100
/** Fewer runs are for looking at one thing; they have no floors. */
export const FLOORS_FROM_RUNS = 20_000

export function shortfalls({ counts }: FaultCounts): readonly Shortfall[] {
  const short = (name: string, what: string, floor: number) => {
    const count = counts.get(name) ?? 0
    return count < floor ? [{ what, count, floor }] : []
  }
  return [
    ...FAULT_KINDS.flatMap((kind) => short(kind, `fault ${kind}`, FAULT_FLOOR)),
    ...TRANSITIONS.flatMap((arrow) => short(`arrow:${arrow}`, `transition ${arrow}`, TRANSITION_FLOOR)),
  ]
}
