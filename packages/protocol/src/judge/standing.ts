/**
 * Where one object stands towards an operation: not ours, perhaps ours, ours and done, ours and different.
 *
 * SD1. A failed `match` makes it no candidate; a missing `match` field makes it inconclusive.
 * SD2. An object that carries our id but fails `match` is ours and wrong: diverged.
 * SD3. `created`: between "too old" and "surely after our dispatch" there is no settled cause (item 1b).
 */
import { compareAll } from "../compare.ts"
import { objectKey, type JudgeContext } from "./context.ts"
import type { Candidate, Cause } from "../evidence.ts"
import type { Operation, Reason } from "../operation.ts"

export type Standing =
  | { readonly kind: "none"; readonly reason: Reason; readonly candidate: Candidate }
  | { readonly kind: "unsettled"; readonly reason: Reason; readonly candidate: Candidate }
  | { readonly kind: "pending"; readonly reason: Reason; readonly candidate: Candidate }
  | { readonly kind: "diverged"; readonly reason: Reason; readonly candidate: Candidate }
  | { readonly kind: "confirmed"; readonly reason: Reason; readonly candidate: Candidate; readonly cause: Cause }

type Ownership =
  | { readonly kind: "ours"; readonly cause: Cause }
  | { readonly kind: "none"; readonly reason: Reason }
  | { readonly kind: "unsettled"; readonly reason: Reason }

export function standingOf(
  operation: Operation,
  candidate: Candidate,
  search: boolean,
  context: JudgeContext,
): Standing {
  const expectation = operation.expectation ?? { match: {}, effect: {}, invariant: {} }
  const match = compareAll(expectation.match, candidate.state)
  const owned = ownership(operation, candidate, context)
  if (owned.kind === "none") return { kind: "none", reason: owned.reason, candidate }
  const byId = owned.kind === "ours" && owned.cause === "operation"
  if (match.outcome === "broken") {
    const reason = { code: "other_object", text: `differs in ${match.paths.join(", ")}` }
    return byId ? { kind: "diverged", reason, candidate } : { kind: "none", reason, candidate }
  }
  if (search) return { kind: "unsettled", reason: { code: "found_by_search", text: "a search found it; it is re-read by id" }, candidate }
  if (match.outcome === "missing") {
    return { kind: "unsettled", reason: { code: "match_missing", text: `without ${match.paths.join(", ")}` }, candidate }
  }
  if (owned.kind === "unsettled") return { kind: "unsettled", reason: owned.reason, candidate }
  return fulfilment(operation, candidate, owned.cause)
}

function fulfilment(operation: Operation, candidate: Candidate, cause: Cause): Standing {
  const expectation = operation.expectation ?? { match: {}, effect: {}, invariant: {} }
  const effect = compareAll(expectation.effect, candidate.state)
  if (effect.outcome !== "holds") {
    const reason = { code: "effect_not_met", text: `${effect.paths.join(", ")} not as the call makes it` }
    return candidate.final === true && effect.outcome === "broken" && cause !== "state_holds"
      ? { kind: "diverged", reason: { ...reason, code: "final_and_other" }, candidate }
      : { kind: "pending", reason, candidate }
  }
  const invariant = compareAll(expectation.invariant, candidate.state)
  if (invariant.outcome === "broken") {
    return {
      kind: "diverged",
      reason: { code: "invariant_broken", text: `${invariant.paths.join(", ")} differ from the call` },
      candidate,
    }
  }
  return { kind: "confirmed", reason: { code: cause, text: "the object is there and is ours" }, candidate, cause }
}

function ownership(operation: Operation, candidate: Candidate, context: JudgeContext): Ownership {
  const correlates = operation.contract.lookup?.correlates ?? "operation"
  if (carriesOurs(operation, candidate)) return { kind: "ours", cause: "operation" }
  if (candidate.operation_id !== undefined) return none("carries another operation's id")
  switch (correlates) {
    case "operation":
      return candidate.provider_key === undefined
        ? none("carries no operation id")
        : none("carries another provider key")
    case "state":
      return { kind: "ours", cause: "state_holds" }
    case "created":
      return createdOwnership(operation, candidate, context)
  }
}

function carriesOurs(operation: Operation, candidate: Candidate): boolean {
  if (candidate.operation_id === operation.operation_id) return true
  const key = candidate.provider_key
  return key !== undefined && operation.attempts.some((attempt) => attempt.provider_key === key)
}

function createdOwnership(operation: Operation, candidate: Candidate, context: JudgeContext): Ownership {
  if (context.taken.includes(objectKey(candidate))) return none("confirms another operation")
  if (operation.seen.includes(candidate.object_id)) return none("was there before attempt 1")
  const first = operation.attempts[0]?.dispatched_at
  if (first === undefined) return none("nothing was dispatched")
  const lookup = operation.contract.lookup
  if (candidate.created_at === undefined) {
    return operation.looked_before
      ? { kind: "ours", cause: "created" }
      : { kind: "unsettled", reason: { code: "no_creation_time", text: "no creation time, and no look before attempt 1" } }
  }
  const resolution = Math.max(1, lookup?.resolution_ms ?? 1)
  const floor = (time: number) => Math.floor(time / resolution) * resolution
  const skew = lookup?.skew_ms ?? 0
  if (floor(candidate.created_at) >= floor(first)) return { kind: "ours", cause: "created" }
  if (floor(candidate.created_at) >= floor(first) - skew) {
    return { kind: "unsettled", reason: { code: "created_near_dispatch", text: "made within clock error of our dispatch" } }
  }
  return none("made before our first dispatch")
}

function none(text: string): Ownership {
  return { kind: "none", reason: { code: "not_ours", text } }
}
