/**
 * When silence means "not applied": enough complete looks, far enough apart, each begun after every settle window.
 *
 * NE1. Every undecided attempt must be covered by enough looks of its own (R2, R28c): one look counts for all it speaks for.
 * NE2. An attempt that may still send is never covered (R6).
 * NE3. A definite refusal that waits for one look needs exactly that one, and any kind of look will do: the refusal is the
 *      proof, and the look only has to find nothing of ours (R28.1).
 * NE4. A look is dated by its start (R28a), and one dated in the future counts for nothing.
 */
import type { JudgeContext } from "./context.ts"
import { restoredSettledFrom, settledFrom } from "../windows.ts"
import type { LookupContract } from "../contract.ts"
import type { Evidence } from "../evidence.ts"
import type { Attempt, Operation, Reason } from "../operation.ts"

/** What is missing before silence disproves every undecided attempt, or null: nothing is. */
export function lackingSilence(operation: Operation, looks: readonly Evidence[], context: JudgeContext): Reason | null {
  const lookup = operation.contract.lookup
  const undecided = operation.attempts.filter((attempt) => attempt.status === "open" || attempt.status === "unknown")
  if (undecided.length === 0 && operation.restored === null) return null
  if (!lookup) return { code: "no_lookup", text: "the tool has no lookup" }
  const begun = looks.filter((look) => look.observed_from <= context.now)
  for (const attempt of undecided) {
    const lacking = uncovered(operation, attempt, begun, context, lookup)
    if (lacking) return lacking
  }
  const restored = restoredSettledFrom(operation, context.clock_stepped_at)
  if (restored === null) return null
  if (lookup.consistency === "search") return SEARCH_ONLY
  const speaking = begun.filter((look) => isSilence(look) && speaksOf(look, operation.generation))
  if (spacedCount(speaking, restored, lookup.spacing_ms) >= lookup.negatives) return null
  return { code: "settle_window", text: "the window after the restore is not over" }
}

const SEARCH_ONLY: Reason = { code: "search_only", text: "a search never proves absence" }

function uncovered(
  operation: Operation,
  attempt: Attempt,
  looks: readonly Evidence[],
  context: JudgeContext,
  lookup: LookupContract,
): Reason | null {
  const { refused, settled_at: refusedAt } = attempt
  const speaking = looks.filter((look) => speaksOf(look, attempt.generation))
  if (refused && refusedAt !== null) {
    return speaking.some((look) => look.observed_from >= refusedAt && (isSilence(look) || isSearch(look)))
      ? null
      : { code: "look_first", text: "a refusal is believed after one look" }
  }
  if (lookup.consistency === "search") return SEARCH_ONLY
  const from = settledFrom(operation, attempt, context.clock_stepped_at)
  if (from === null) return { code: "attempt_open", text: `attempt ${attempt.attempt} may still be running` }
  const counted = spacedCount(speaking.filter(isSilence), from, lookup.spacing_ms)
  if (counted >= lookup.negatives) return null
  return { code: "settle_window", text: `${counted} of ${lookup.negatives} looks count for attempt ${attempt.attempt}` }
}

function speaksOf(look: Evidence, generation: number): boolean {
  return look.finding.kind === "look" && look.finding.generations.includes(generation)
}

function isSilence(look: Evidence): boolean {
  return look.finding.kind === "look" && look.finding.complete && !look.finding.search
}

function isSearch(look: Evidence): boolean {
  return look.finding.kind === "look" && look.finding.search
}

/** How many looks begun at or after `from` lie at least `spacing` apart. They come in the order of their starts. */
function spacedCount(looks: readonly Evidence[], from: number, spacing: number): number {
  let count = 0
  let last = Number.NEGATIVE_INFINITY
  for (const look of looks) {
    if (look.observed_from < from || look.observed_from - last < spacing) continue
    count += 1
    last = look.observed_from
  }
  return count
}
