/**
 * What a case comes to. The count of the fake decides; what was told is held against it.
 *
 * JC1. A lie is one at the moment it was told.
 * JC2. What no tool could do better is a limit, said once, and no finding.
 */
import { isTerminal, type Operation } from "@invokejs/protocol"
import { explainDuplicate } from "./explain-duplicate.ts"
import { explainLost } from "./explain-lost.ts"
import { explainStuck } from "./explain-stuck.ts"
import { disprovedByWord, evidenceOf, type Evidence, type Finding } from "./finding.ts"
import type { Facts } from "./plan-cases.ts"
import type { Observation, Telling } from "./run-case.ts"

const NOT_DONE: readonly string[] = ["not_executed", "failed"]

/** Null: as it should be. */
export function judgeCase(seen: Observation, facts: Facts): Finding | null {
  // Held before anything was sent: the look before saw what a stranger had made.
  if (seen.planted > 0 && seen.operations.every((one) => one.state === "held")) return null
  if (!seen.hit) {
    return {
      verdict: "not_tried",
      code: "not_hit",
      happened: "the case could not be made to happen: the tool sent no request at that point",
      fix: "",
    }
  }
  const evidence = evidenceOf(seen, facts)
  if (evidence === null) return refusedCall(seen)
  const found = lost(evidence) ?? duplicated(evidence) ?? stuck(evidence)
  if (found === null) return null
  return limitOf(evidence, found) ?? found
}

function refusedCall({ tellings }: Observation): Finding {
  const said = tellings[0]?.error?.message ?? "it was not answered"
  return {
    verdict: "wrong_class",
    code: "call_refused",
    happened: `the call was refused before anything ran: ${said}`,
    fix: "Correct the parameters under `prove`, or the tool's schema and identity.",
  }
}

function lost(evidence: Evidence): Finding | null {
  const { tellings, effects } = evidence.seen
  const toldDone = tellings.find(({ result, effects: by_then }) => result?.ok === true && by_then === 0)
  if (toldDone !== undefined) return explainLost(evidence, "told_done", toldDone)
  const toldNot = tellings.find((one) => deniesEffect(one) && one.effects > 0) ?? finalDenial(tellings, effects)
  return toldNot === undefined ? null : explainLost(evidence, "told_not_done", toldNot)
}

function deniesEffect({ result }: Telling): boolean {
  return result !== null && result.settled && NOT_DONE.includes(result.final_outcome) && result.status !== "refused"
}

function finalDenial(tellings: readonly Telling[], effects: number): Telling | undefined {
  const last = tellings.at(-1)
  return last !== undefined && effects > 0 && deniesEffect(last) ? last : undefined
}

function duplicated(evidence: Evidence): Finding | null {
  return evidence.seen.effects > 1 ? explainDuplicate(evidence) : null
}

function stuck(evidence: Evidence): Finding | null {
  const { seen, facts, operation } = evidence
  const rests = (one: Operation) => isTerminal(one.state) && !one.contradicted
  if (rests(operation)) return null
  // A person's decision before anything was sent, or the class's own way.
  if (operation.state === "held" || (!facts.checkable && operation.state === "needs_review" && !seen.endless))
    return null
  return explainStuck(evidence)
}

/** JC2. */
function limitOf(evidence: Evidence, found: Finding): Finding | null {
  const { seen, facts } = evidence
  if (seen.plan.repeats_requests === true && facts.contract.key === undefined) {
    return {
      verdict: "limit",
      code: "repeated_by_network",
      happened: "whoever stands between may deliver a request twice, and the provider then does it twice",
      fix: "Only a key that the provider dedupes on stops that: declare `contract.key` where the provider has one.",
    }
  }
  const { answers } = seen.plan
  if (answers?.after_effect !== true || answers.status === 500 || answers.status === 502) return null
  if (disprovedByWord(evidence)?.attempt !== 1) return null
  return {
    verdict: "limit",
    code: "believes_status",
    happened: `HTTP ${answers.status} is believed to prove that nothing was done; one that comes after the effect is believed too (${found.verdict.replace("_", " ")})`,
    fix: `If anything between you and the provider can answer ${answers.status} after delivery, throw \`outcome.unknown\` on it.`,
  }
}
