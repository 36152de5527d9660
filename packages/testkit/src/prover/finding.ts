/** What a case comes to, and the words an author gets: what happened, and what to change. */
import type { DoorEntry } from "./provider-door.ts"
import type { Facts } from "./plan-cases.ts"
import type { Observation } from "./run-case.ts"
import type { Attempt, Operation } from "@invokejs/protocol"

export type ProveVerdict =
  | "ok"
  | "duplicate_effect"
  | "lost_effect"
  | "stuck"
  | "missing_cause"
  | "never_complete"
  | "wrong_class"
  | "limit"
  | "not_tried"

/** Stable names of causes; each is a place in the guide. */
export const PROVE_CODES = [
  "returns_on_error",
  "returns_without_answer",
  "says_not_applied",
  "second_effect",
  "identity_from_words",
  "identity_changes",
  "found_a_strangers_object",
  "found_what_is_not_there",
  "no_cause",
  "other_clock",
  "never_complete",
  "lookup_is_behind",
  "probe_does_not_find_it",
  "acts_later_than_declared",
  "key_not_the_providers",
  "key_executes_again",
  "expects_something_else",
  "effect_not_met",
  "probe_fails",
  "attempt_never_ends",
  "not_settled",
  "read_only_with_effect",
  "clean_call_fails",
  "call_refused",
  "repeated_by_network",
  "believes_status",
] as const
export type ProveCode = (typeof PROVE_CODES)[number]

export interface Finding {
  readonly verdict: ProveVerdict
  /** `not_hit`: the case did not take place. */
  readonly code: ProveCode | "not_hit"
  readonly happened: string
  readonly fix: string
}

/** An observation with what the questions about it share. */
export interface Evidence {
  readonly seen: Observation
  readonly facts: Facts
  /** The first operation of the call; strangers have none. */
  readonly operation: Operation
  /** Requests of attempts that made something true, in the order of the effects. */
  readonly effects: readonly DoorEntry[]
  readonly answered: DoorEntry | null
}

export function evidenceOf(seen: Observation, facts: Facts): Evidence | null {
  const [operation] = seen.operations
  if (operation === undefined) return null
  const calls = seen.log.filter((entry) => entry.side === "call")
  const effects = calls
    .filter((entry) => entry.made > 0)
    .toSorted((a, b) => (a.handed_at ?? a.at) - (b.handed_at ?? b.at))
  return { seen, facts, operation, effects, answered: calls[0] ?? null }
}

/** The attempt of an operation that was under way when the request arrived. */
export function attemptAt({ seen }: Evidence, entry: DoorEntry): number {
  return seen.started.filter((one) => one.at <= entry.at).length
}

/** The tool, or a status that the contract believes, said of this attempt that it was not applied. */
export function disprovedByWord({ operation }: Evidence): Attempt | null {
  return (
    operation.attempts.find(
      (one) =>
        one.left &&
        operation.evidence.some((fact) => fact.attempt === one.attempt && fact.finding.kind === "not_applied"),
    ) ?? null
  )
}
