/**
 * Where one object stands towards an operation: not ours, perhaps ours, ours and done, ours and different.
 *
 * SD1. A failed `match` makes it no candidate; a missing `match` field makes it inconclusive.
 * SD2. An object that carries our id but fails `match` is ours and wrong: diverged.
 * SD3. Cause before state: nothing is ours because it is as the call would have made it (R4).
 * SD4. One object confirms one operation, unless the tool says that it may stand for many (`shared`).
 * SD5. Lists that are empty confirm nothing: an expectation that nothing can break says nothing.
 */
import { compareAll } from "../compare.ts"
import { ownership } from "./ownership.ts"
import { objectKey, type JudgeContext } from "./context.ts"
import type { Candidate, Cause, Expectation } from "../evidence.ts"
import type { Operation, Reason } from "../operation.ts"

export type Standing =
  | { readonly kind: "none"; readonly reason: Reason; readonly candidate: Candidate }
  | { readonly kind: "unsettled"; readonly reason: Reason; readonly candidate: Candidate }
  | { readonly kind: "pending"; readonly reason: Reason; readonly candidate: Candidate }
  | { readonly kind: "diverged"; readonly reason: Reason; readonly candidate: Candidate }
  | { readonly kind: "confirmed"; readonly reason: Reason; readonly candidate: Candidate; readonly cause: Cause }

/** What is the same for every object of one judgement. */
export interface Bearing {
  readonly context: JudgeContext
  /** Object ids that a person had before them when saying that nothing was applied. */
  readonly set_aside: ReadonlySet<string>
}

const NOTHING: Expectation = { match: {}, effect: {}, invariant: {} }

export function standingOf(operation: Operation, candidate: Candidate, search: boolean, bearing: Bearing): Standing {
  const expectation = operation.expectation ?? NOTHING
  const owned = ownership(operation, candidate, bearing)
  if (owned.kind === "none") return { kind: "none", reason: owned.reason, candidate }
  const byId = owned.kind === "ours" && owned.cause === "operation"
  const match = compareAll(expectation.match, candidate.state)
  if (match.outcome === "broken") {
    const reason = { code: "other_object", text: `differs in ${match.paths.join(", ")}` }
    return byId && !search
      ? { kind: "diverged", reason, candidate }
      : { kind: byId ? "unsettled" : "none", reason, candidate }
  }
  const unsettled = (code: string, text: string): Standing => ({ kind: "unsettled", reason: { code, text }, candidate })
  if (search) return unsettled("found_by_search", "a search found it; it is re-read by id")
  if (match.outcome === "missing") return unsettled("match_missing", `without ${match.paths.join(", ")}`)
  if (owned.kind === "unsettled") return { kind: "unsettled", reason: owned.reason, candidate }
  if (isEmpty(expectation.effect) || (isEmpty(expectation.match) && !byId)) {
    return unsettled("empty_lists", "the expectation says nothing that could be broken")
  }
  if (byId && !operation.contract.shared && bearing.context.taken.includes(objectKey(candidate))) {
    const reason = { code: "object_taken", text: "it carries our id and confirms another operation already" }
    return { kind: "diverged", reason, candidate }
  }
  return fulfilment(expectation, candidate, owned.cause)
}

function isEmpty(list: Expectation["effect"]): boolean {
  return Object.keys(list).length === 0
}

/** It is ours. A field of `invariant` that the object does not show says nothing: that list can only lower a verdict. */
function fulfilment(expectation: Expectation, candidate: Candidate, cause: Cause): Standing {
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
