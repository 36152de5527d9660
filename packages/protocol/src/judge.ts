/**
 * What the evidence says about an operation: the verdict (protocol §6).
 *
 * Owns: the order of verdicts, cause, the count of negatives. Pure: evidence in, verdict out.
 * Must not: write, schedule, or compare things because their names are equal.
 *
 * JU1. A positive needs cause, not only state (R4).
 * JU2. A negative counts only if its look began after the settle window of every attempt it speaks for (R6, R28).
 * JU3. A search never refutes, and what it finds is re-read by id.
 * JU4. A claim decides nothing (R9).
 * JU5. An object with cause that is not yet what the call makes true is inconclusive, never refuted (item 1).
 */
import { objectKey, type JudgeContext } from "./judge/context.ts"
import { diverged, inconclusive, type Judgement } from "./judge/judgement.ts"
import { negativeVerdict } from "./judge/negatives.ts"
import { standingOf, type Standing } from "./judge/standing.ts"
import type { Candidate, Evidence } from "./evidence.ts"
import type { Operation } from "./operation.ts"

/** Evidence that may decide: everything but claims (JU4). */
export function decides(evidence: Evidence): boolean {
  return evidence.rank !== "claimed"
}

export function judge(operation: Operation, context: JudgeContext): Judgement {
  const looks = operation.evidence.filter((one) => decides(one) && one.finding.kind === "look")
  const standings = newestStandings(operation, looks, context)
  const byState = operation.contract.lookup?.correlates === "state"
  if (byState) return judgeState(operation, looks, standings, context)

  const unsettled = standings.filter((one) => one.kind === "unsettled")
  const own = standings.filter((one) => one.kind !== "unsettled" && one.kind !== "none")
  if (unsettled.length > 0 && (own.length === 0 || operation.contract.lookup?.correlates !== "operation")) {
    return inconclusive(unsettled[0]?.reason)
  }
  if (own.length === 0) return negativeVerdict(operation, looks, context)
  return judgeOwn(operation, own, context)
}

/** Last look at each object wins; an object once seen stays seen (positives are sticky). */
function newestStandings(operation: Operation, looks: readonly Evidence[], context: JudgeContext): Standing[] {
  const newest = new Map<string, { candidate: Candidate; search: boolean }>()
  for (const look of looks.toSorted((a, b) => a.observed_from - b.observed_from)) {
    if (look.finding.kind !== "look") continue
    for (const candidate of look.finding.candidates) {
      if (candidate.tombstone) continue
      const known = newest.get(objectKey(candidate))
      if (look.finding.search && known && !known.search) continue
      newest.set(objectKey(candidate), { candidate, search: look.finding.search })
    }
  }
  return [...newest.values()].map(({ candidate, search }) => standingOf(operation, candidate, search, context))
}

function judgeOwn(operation: Operation, own: readonly Standing[], context: JudgeContext): Judgement {
  const byCreation = operation.contract.lookup?.correlates === "created"
  const claimants = byCreation ? context.rivals + 1 : 1
  if (own.length > claimants) {
    return diverged("several_objects", `${own.length} objects where ${claimants} can be ours`)
  }
  if (own.length < claimants) {
    return inconclusive({ code: "rivals", text: "other open operations could own the object that was found" })
  }
  const broken = own.find((one) => one.kind === "diverged")
  if (broken) return diverged(broken.reason.code, broken.reason.text, broken.candidate)
  const confirmed = own.find((one) => one.kind === "confirmed")
  if (confirmed?.kind === "confirmed") {
    return { verdict: "confirmed", reason: confirmed.reason, cause: confirmed.cause, candidate: confirmed.candidate }
  }
  return inconclusive(own[0]?.reason)
}

/** State setters: the newest look decides; only an unchanged provider version, or exclusiveness, refutes (item 3). */
function judgeState(
  operation: Operation,
  looks: readonly Evidence[],
  standings: readonly Standing[],
  context: JudgeContext,
): Judgement {
  const confirmed = standings.find((one) => one.kind === "confirmed")
  if (confirmed?.kind === "confirmed") {
    return { verdict: "confirmed", reason: confirmed.reason, cause: "state_holds", candidate: confirmed.candidate }
  }
  const several = standings.filter((one) => one.kind !== "none")
  if (several.length > 1) return diverged("several_objects", "several objects match the resource")
  const unsettled = standings.find((one) => one.kind === "unsettled")
  if (unsettled) return inconclusive(unsettled.reason)
  const negative = negativeVerdict(operation, looks, context)
  if (negative.verdict !== "refuted") return negative
  const only = several[0]
  const unchanged =
    only !== undefined && operation.seen_version !== null && only.candidate.version === operation.seen_version
  if (operation.contract.exclusive || unchanged) return negative
  return diverged("state_moved", "the resource is not as the call sets it, and somebody may have written since")
}
