/**
 * Why an object would be ours: it carries our id, it was made by our dispatch, or it is the resource the tool sets (R4).
 *
 * Must not: look at what the object says of the effect. That is its standing.
 *
 * OW1. `operation`: it carries our operation id or a provider key of ours.
 * OW2. `created`: not seen before attempt 1, not another operation's, and made no earlier than our first dispatch (item 1b).
 * OW3. `state`: the resource is the resource, whoever wrote it last.
 * OW4. Where a restored journal may have forgotten an attempt, what could be of that one has no settled cause (R24).
 */
import { DEFAULTS } from "../defaults.ts"
import { objectKey } from "./context.ts"
import type { Bearing } from "./standing.ts"
import type { Candidate, Cause } from "../evidence.ts"
import type { Operation, Reason } from "../operation.ts"

export type Ownership =
  | { readonly kind: "ours"; readonly cause: Cause }
  | { readonly kind: "none"; readonly reason: Reason }
  | { readonly kind: "unsettled"; readonly reason: Reason }

/**
 * How far the database's own clock may be off, beside the provider's `skew`. The lease margin is there for the same error.
 */
const CLOCK_ERROR_MS = DEFAULTS.lease_margin_ms

export function ownership(operation: Operation, candidate: Candidate, bearing: Bearing): Ownership {
  const correlates = operation.contract.lookup?.correlates ?? "operation"
  if (correlates === "state") return { kind: "ours", cause: "state_holds" }
  if (bearing.set_aside.has(candidate.object_id))
    return none("a person knew of it when saying that nothing was applied")
  if (carriesOurs(operation, candidate, bearing)) return { kind: "ours", cause: "operation" }
  if (candidate.operation_id !== undefined) return none("carries another operation's id")
  if (correlates === "created") return createdOwnership(operation, candidate, bearing)
  if (candidate.provider_key === undefined) return none("carries no operation id")
  // The forgotten attempt's key may be one that this record never held.
  return operation.restored !== null && bearing.context.own_keys === undefined
    ? unsettled("key_of_forgotten_attempt", "carries a key that an attempt forgotten by the journal may have had")
    : none("carries another provider key")
}

function carriesOurs(operation: Operation, candidate: Candidate, { context }: Bearing): boolean {
  if (candidate.operation_id === operation.operation_id) return true
  const key = candidate.provider_key
  if (key === undefined) return false
  return operation.attempts.some((attempt) => attempt.provider_key === key) || context.own_keys?.includes(key) === true
}

/**
 * OW2. The provider's clock and ours cannot order what happened within `skew` of each other, so an object made that little
 * before our dispatch is not thereby a stranger's: it is ours, unless it was seen before or is another operation's. What is older
 * than the error of both clocks allows is surely not ours. Between the two nobody can say, and nothing is concluded.
 */
function createdOwnership(operation: Operation, candidate: Candidate, { context }: Bearing): Ownership {
  if (context.taken.includes(objectKey(candidate))) return none("confirms another operation")
  if (operation.seen.includes(candidate.object_id)) return none("was there before attempt 1")
  if (operation.contract.shared) return unsettled("shared_object", "a shared object is ours only by our id")
  const first = operation.attempts[0]?.dispatched_at ?? null
  if (first === null && operation.restored === null) return none("nothing was dispatched")
  const lookup = operation.contract.lookup
  if (candidate.created_at === undefined) {
    return operation.looked_before && first !== null
      ? { kind: "ours", cause: "created" }
      : unsettled("no_creation_time", "no creation time, and no look before attempt 1")
  }
  const resolution = Math.max(1, lookup?.resolution_ms ?? 1)
  const floor = (time: number) => Math.floor(time / resolution) * resolution
  const age = floor(first ?? operation.created_at) - floor(candidate.created_at) - (lookup?.skew_ms ?? 0)
  if (age > CLOCK_ERROR_MS) return none("made before our first dispatch")
  if (first === null) return unsettled("forgotten_attempt", "an attempt that the journal forgot may have made it")
  if (age > 0) return unsettled("created_near_dispatch", "made within clock error of our first dispatch")
  return { kind: "ours", cause: "created" }
}

function none(text: string): Ownership {
  return { kind: "none", reason: { code: "not_ours", text } }
}

function unsettled(code: string, text: string): Ownership {
  return { kind: "unsettled", reason: { code, text } }
}
