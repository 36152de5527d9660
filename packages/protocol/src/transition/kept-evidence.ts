/**
 * The evidence that an operation's record keeps, and what positive it already holds.
 *
 * KE1. Positives and proofs are kept always. Of the rest claims go first, then answers that said nothing, then the oldest silence.
 * KE2. Of an object that was seen the first and the last sighting stay: it does not vanish because much was written after it.
 * KE3. A claim can push out nothing but claims (R9).
 */
import { DEFAULTS } from "../defaults.ts"
import { objectKey } from "../judge/context.ts"
import { decides } from "../judge/rank.ts"
import type { Candidate, Evidence } from "../evidence.ts"
import type { Operation } from "../operation.ts"

export function appendEvidence(operation: Operation, evidence: Evidence): readonly Evidence[] {
  const all = [...operation.evidence, evidence]
  if (all.length <= DEFAULTS.evidence_kept) return all
  const dropped = droppable(operation, all, evidence)
  return dropped < 0 ? all : all.toSpliced(dropped, 1)
}

function droppable(operation: Operation, all: readonly Evidence[], added: Evidence): number {
  const claimed = all.findIndex((one) => !decides(operation, one))
  if (claimed >= 0 || !decides(operation, added)) return claimed
  const unsure = all.findIndex((one) => one.finding.kind === "unsure" && one.source !== "operator")
  if (unsure >= 0) return unsure
  const silent = all.findIndex((one) => one.finding.kind === "look" && one.finding.candidates.length === 0)
  return silent >= 0 ? silent : all.findIndex((_one, at) => repeats(all, at))
}

/** A look all of whose objects were seen before it and after it. */
function repeats(all: readonly Evidence[], at: number): boolean {
  const look = all[at]
  if (look?.finding.kind !== "look") return false
  const seenIn = (others: readonly Evidence[], candidate: Candidate) => others.some((one) => shows(one, candidate))
  return look.finding.candidates.every(
    (candidate) => seenIn(all.slice(0, at), candidate) && seenIn(all.slice(at + 1), candidate),
  )
}

function shows(evidence: Evidence, candidate: Candidate): boolean {
  return (
    evidence.finding.kind === "look" &&
    evidence.finding.candidates.some((one) => objectKey(one) === objectKey(candidate))
  )
}
