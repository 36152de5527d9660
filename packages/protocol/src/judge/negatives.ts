/**
 * When silence means "not applied": enough complete looks, far enough apart, each begun after every settle window.
 *
 * NE1. Every attempt that is not disproved must be covered by enough looks (R2): one alone proves nothing for another.
 * NE2. An opaque attempt that is still open is never covered.
 * NE3. A definite refusal that waits for one look needs exactly that one.
 */
import { inconclusive, type Judgement } from "./judgement.ts"
import type { JudgeContext } from "./context.ts"
import { restoredSettledFrom, settledFrom } from "../windows.ts"
import type { Evidence } from "../evidence.ts"
import type { Attempt, Operation } from "../operation.ts"

export function negativeVerdict(
  operation: Operation,
  looks: readonly Evidence[],
  context: JudgeContext,
): Judgement {
  const pending = operation.attempts.filter((attempt) => attempt.status !== "disproved")
  const lookup = operation.contract.lookup
  if (pending.length === 0 && operation.restored === null) return refuted("every attempt is disproved")
  if (!lookup) return inconclusive({ code: "no_lookup", text: "the tool has no lookup" })
  if (lookup.consistency === "search") {
    return inconclusive({ code: "search_only", text: "a search never proves absence" })
  }
  const complete = looks.filter((look) => look.finding.kind === "look" && look.finding.complete && !look.finding.search)
  if (complete.length === 0) return inconclusive({ code: "no_look", text: "no complete look has been answered yet" })
  for (const attempt of pending) {
    const lacking = uncovered(operation, attempt, complete, context)
    if (lacking) return inconclusive(lacking)
  }
  const restored = restoredSettledFrom(operation)
  if (restored !== null && spacedCount(complete, restored, context, lookup.spacing_ms) < lookup.negatives) {
    return inconclusive({ code: "settle_window", text: "the window after the restore is not over" })
  }
  return refuted("no object of ours, looked for often enough after the settle window")
}

function uncovered(
  operation: Operation,
  attempt: Attempt,
  looks: readonly Evidence[],
  context: JudgeContext,
): { code: string; text: string } | null {
  const lookup = operation.contract.lookup
  if (!lookup) return { code: "no_lookup", text: "the tool has no lookup" }
  const speaking = looks.filter(
    (look) => look.finding.kind === "look" && look.finding.generations.includes(attempt.generation),
  )
  if (attempt.refused && attempt.settled_at !== null) {
    const after = attempt.settled_at
    return speaking.some((look) => look.observed_from >= after)
      ? null
      : { code: "look_first", text: "a refusal is believed after one look" }
  }
  const from = settledFrom(operation, attempt)
  if (from === null) return { code: "attempt_open", text: `attempt ${attempt.attempt} may still be running` }
  const counted = spacedCount(speaking, from, context, lookup.spacing_ms)
  if (counted >= lookup.negatives) return null
  return {
    code: "settle_window",
    text: `${counted} of ${lookup.negatives} looks count for attempt ${attempt.attempt}`,
  }
}

/** How many looks begun at or after `from` lie at least `spacing` apart. */
function spacedCount(looks: readonly Evidence[], from: number, context: JudgeContext, spacing: number): number {
  const stepped = context.clock_stepped_at
  const start = stepped === null ? from : Math.max(from, stepped)
  let count = 0
  let last = Number.NEGATIVE_INFINITY
  for (const look of looks.toSorted((a, b) => a.observed_from - b.observed_from)) {
    if (look.observed_from < start || look.observed_from - last < spacing) continue
    count += 1
    last = look.observed_from
  }
  return count
}

function refuted(text: string): Judgement {
  return { verdict: "refuted", reason: { code: "refuted", text }, cause: null, candidate: null }
}
