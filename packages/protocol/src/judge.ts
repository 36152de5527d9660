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
 * JU6. The verdict is a function of the set of evidence: order and repetition do not matter. Positives are sticky.
 * JU7. What is acknowledged or accepted is not refuted (item 5).
 */
import { stricter } from "./contract.ts"
import { objectKey, type JudgeContext } from "./judge/context.ts"
import { diverged, inconclusive, type Judgement } from "./judge/judgement.ts"
import { lackingSilence } from "./judge/negatives.ts"
import { decides, keptPositives, lastDenialByPerson } from "./judge/rank.ts"
import { standingOf, type Bearing, type Standing } from "./judge/standing.ts"
import type { Candidate, Evidence } from "./evidence.ts"
import type { Operation } from "./operation.ts"

export function judge(recorded: Operation, context: JudgeContext): Judgement {
  const operation = context.contract
    ? { ...recorded, contract: stricter(recorded.contract, context.contract) }
    : recorded
  const sent = operation.attempts.length > 0 || operation.restored !== null
  if (!sent) return inconclusive({ code: "nothing_sent", text: "nothing was dispatched" })
  const looks = looksOf(operation)
  const bearing: Bearing = { context, set_aside: setAside(operation, looks) }
  const standings = standingsOf(operation, looks, bearing)
  return operation.contract.lookup?.correlates === "state"
    ? judgeState(operation, looks, standings, context)
    : judgeObjects(operation, looks, standings, context)
}

/** Every look that decides, once, in the order of their starts (JU6). */
function looksOf(operation: Operation): Evidence[] {
  const looks = operation.evidence.filter((one) => one.finding.kind === "look" && decides(operation, one))
  const once = [...new Map(looks.map((look) => [look.evidence_id, look])).values()]
  const first = operation.attempts[0]?.dispatched_at ?? Number.NEGATIVE_INFINITY
  // A state that held before anything was sent says nothing about what we sent (R4c).
  const byState = operation.contract.lookup?.correlates === "state" && operation.restored === null
  return once
    .filter((look) => !byState || look.observed_from >= first)
    .toSorted((a, b) => a.observed_from - b.observed_from || (a.evidence_id < b.evidence_id ? -1 : 1))
}

function candidatesOf(look: Evidence): readonly Candidate[] {
  return look.finding.kind === "look" ? look.finding.candidates : []
}

function setAside(operation: Operation, looks: readonly Evidence[]): ReadonlySet<string> {
  const denial = lastDenialByPerson(operation)
  if (!denial) return new Set()
  const known = looks.filter((look) => look.observed_from < denial.observed_from)
  return new Set(known.flatMap((look) => candidatesOf(look).map((candidate) => candidate.object_id)))
}

/** One standing for each object: once it is seen confirmed it stays so; else the newest sighting, by id before by search. */
function standingsOf(operation: Operation, looks: readonly Evidence[], bearing: Bearing): Standing[] {
  const sightings = new Map<string, { standing: Standing; search: boolean }>()
  for (const look of looks) {
    const search = look.finding.kind === "look" && look.finding.search
    for (const candidate of candidatesOf(look)) {
      // Our own tombstone is not the original (R13).
      if (candidate.tombstone) continue
      const known = sightings.get(objectKey(candidate))
      if (known && (known.standing.kind === "confirmed" || (search && !known.search))) continue
      sightings.set(objectKey(candidate), { standing: standingOf(operation, candidate, search, bearing), search })
    }
  }
  return [...sightings.values()].map(({ standing }) => standing)
}

function judgeObjects(
  operation: Operation,
  looks: readonly Evidence[],
  standings: readonly Standing[],
  context: JudgeContext,
): Judgement {
  const byCreation = operation.contract.lookup?.correlates === "created"
  const claimants = byCreation ? context.rivals + 1 : 1
  const own = standings.filter((one) => one.kind !== "unsettled" && one.kind !== "none")
  const unsettled = standings.find((one) => one.kind === "unsettled")
  const kept = keptPositives(operation).findLast((one) => one.candidate !== null)?.candidate ?? null
  const objects = new Set([...own.map((one) => objectKey(one.candidate)), ...(kept ? [objectKey(kept)] : [])])
  if (objects.size > claimants) {
    return diverged("several_objects", `${objects.size} objects where ${claimants} can be ours`, own[0]?.candidate)
  }
  if (unsettled && (own.length === 0 || byCreation)) return inconclusive(unsettled.reason)
  if (own.length === 0) return judgeSilence(operation, looks, context)
  if (own.length < claimants) {
    return inconclusive({ code: "rivals", text: "other operations could own the object that was found" })
  }
  return judgeOwn(claimants === 1 ? own : ourShare(own))
}

/**
 * Of several objects and as many claimants each takes the oldest that can be its own: an operation that was dispatched later
 * cannot own an older one, and would be left without its own (item 7). What tells no time cannot be shared.
 */
function ourShare(own: readonly Standing[]): readonly Standing[] {
  const made = (one: Standing) => one.candidate.created_at ?? Number.POSITIVE_INFINITY
  const oldest = own.reduce((first, one) => (made(one) < made(first) ? one : first))
  if (made(oldest) < Number.POSITIVE_INFINITY) return [oldest]
  const reason = { code: "rivals", text: "without creation times nobody can say which object is whose" }
  return [{ kind: "unsettled", reason, candidate: oldest.candidate }]
}

function judgeOwn(own: readonly Standing[]): Judgement {
  const broken = own.find((one) => one.kind === "diverged")
  if (broken) return diverged(broken.reason.code, broken.reason.text, broken.candidate)
  const confirmed = own.find((one) => one.kind === "confirmed")
  if (confirmed?.kind === "confirmed") {
    return { verdict: "confirmed", reason: confirmed.reason, cause: confirmed.cause, candidate: confirmed.candidate }
  }
  return inconclusive(own[0]?.reason)
}

/** Nothing of ours was seen. Beside an acknowledgement, silence about the others leaves that one standing. */
function judgeSilence(operation: Operation, looks: readonly Evidence[], context: JudgeContext): Judgement {
  const lacking = lackingSilence(operation, looks, context)
  if (lacking) return inconclusive(lacking)
  const kept = keptPositives(operation).at(-1)
  if (kept) {
    const reason = { code: kept.cause, text: "it was acknowledged, and nothing else of ours is there" }
    return { verdict: "confirmed", reason, cause: kept.cause, candidate: kept.candidate }
  }
  if (operation.attempts.some((one) => one.status === "accepted" || one.status === "acknowledged")) {
    return inconclusive({ code: "accepted", text: "an acceptance is not refuted by a lookup" })
  }
  return REFUTED
}

const REFUTED: Judgement = {
  verdict: "refuted",
  reason: { code: "refuted", text: "no object of ours, looked for often enough after every settle window" },
  cause: null,
  candidate: null,
}

/** State setters: only an unchanged provider version, or exclusiveness, refutes (R15, item 3). */
function judgeState(
  operation: Operation,
  looks: readonly Evidence[],
  standings: readonly Standing[],
  context: JudgeContext,
): Judgement {
  const matching = standings.filter((one) => one.kind !== "none")
  if (matching.length > 1) return diverged("several_objects", "several objects match the resource")
  const [only] = matching
  if (only && only.kind !== "pending") return only.kind === "unsettled" ? inconclusive(only.reason) : judgeOwn([only])
  const silence = judgeSilence(operation, looks, context)
  if (silence.verdict !== "refuted") return silence
  const seen = operation.seen_version
  const unchanged = only !== undefined && seen !== null && only.candidate.version === seen
  if (operation.contract.exclusive || unchanged) return silence
  return diverged("state_moved", "the resource is not as the call sets it, and somebody may have written since")
}
