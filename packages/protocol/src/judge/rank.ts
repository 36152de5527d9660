/**
 * Which evidence decides, and which positive an operation already holds (protocol §6).
 *
 * RK1. A claim decides nothing (R9).
 * RK2. What a caller reports decides only as an acknowledgement of an attempt that it was granted (R30, item 19).
 * RK3. A positive that a person's later word denied is no positive any more; it stays on record.
 */
import type { Candidate, Cause, Evidence } from "../evidence.ts"
import type { Operation } from "../operation.ts"

export function decides(operation: Operation, evidence: Evidence): boolean {
  if (evidence.rank === "claimed") return false
  if (evidence.rank !== "reported") return true
  const positive = evidence.finding.kind === "applied" || evidence.finding.kind === "accepted"
  return positive && operation.attempts.some((one) => one.attempt === evidence.attempt && one.caller_executed === true)
}

export interface KeptPositive {
  readonly cause: Cause
  readonly attempt: number | null
  readonly evidence: Evidence
  readonly candidate: Candidate | null
}

/** The last time a person said that nothing was applied: what was known until then was known to that person. */
export function lastDenialByPerson(operation: Operation): Evidence | null {
  return operation.evidence.findLast((one) => one.source === "operator" && one.finding.kind === "not_applied") ?? null
}

/** Acknowledgements and signed or attested positives on record, oldest first. */
export function keptPositives(operation: Operation): readonly KeptPositive[] {
  const kept: KeptPositive[] = []
  const denial = lastDenialByPerson(operation)
  const since = denial === null ? 0 : operation.evidence.indexOf(denial)
  for (const evidence of operation.evidence.slice(since)) {
    const { finding } = evidence
    if (finding.kind !== "applied" || !decides(operation, evidence)) continue
    kept.push({ cause: causeOf(evidence), attempt: evidence.attempt, evidence, candidate: finding.candidate ?? null })
  }
  return kept
}

export function causeOf(evidence: Evidence): Cause {
  switch (evidence.rank) {
    case "signed":
      return "signed"
    case "attested":
      return "attested"
    case "reported":
      return "reported"
    default:
      return evidence.source === "answer" || evidence.source === "transport" ? "acknowledged" : "operation"
  }
}
