/** Why somebody was told something that the provider's own count contradicts. */
import { disprovedByWord, type Evidence, type Finding } from "./finding.ts"
import { lookupFinding } from "./lookup-finding.ts"
import { seconds } from "./say-time.ts"
import type { Telling } from "./run-case.ts"

export function explainLost(evidence: Evidence, lie: "told_done" | "told_not_done", telling: Telling): Finding {
  return lie === "told_done" ? toldDone(evidence, telling) : toldNotDone(evidence, telling)
}

function toldDone(evidence: Evidence, { result, at }: Telling): Finding {
  const { seen, facts } = evidence
  const when = `after ${seconds(at)} the caller was told \`${result?.status ?? ""}\`, and the provider counts no effect`
  if (result?.cause !== "acknowledged") {
    return {
      verdict: "lost_effect",
      code: seen.planted > 0 ? "found_a_strangers_object" : "found_what_is_not_there",
      happened: `${when}: the probe took ${seen.planted > 0 ? "somebody else's object" : "something"} for this call's (cause: ${result?.cause ?? "none"})`,
      fix: strangersFix(facts.contract.lookup?.correlates),
    }
  }
  const status = seen.plan.answers?.status ?? null
  if (status !== null) {
    return {
      verdict: "lost_effect",
      code: "returns_on_error",
      happened: `your tool returns on HTTP ${status}: ${when}`,
      fix: 'Throw unless the provider said yes (`if (!answer.ok) throw new Error(String(answer.status))`), or send through the context\'s `fetch` with `transport: "invoke"` and `applied: "2xx"`.',
    }
  }
  return {
    verdict: "lost_effect",
    code: "returns_without_answer",
    happened: `your tool returns although its request got no whole answer: ${when}`,
    fix: "Let the error of the client through. Whatever is caught there makes a success of a broken connection.",
  }
}

function strangersFix(correlates: string | undefined): string {
  if (correlates === "created") {
    return "Give `found` the provider's own creation time (`createdAt`), never the time of the look, and compare every field that makes the object this call's in `expect.match`."
  }
  if (correlates === "state") return "Name the resource exactly, and give `found` the provider's `version` of it."
  return "Write the operation id or the provider key onto the object when it is made, and give `found` what the object carries (`operationId: object.metadata.operation_id`), not the context's own id."
}

function toldNotDone(evidence: Evidence, { result, at }: Telling): Finding {
  const when = `after ${seconds(at)} the caller was told \`${result?.status ?? ""}\`, and the provider counts an effect`
  const word = disprovedByWord(evidence)
  if (word !== null) return saidNotApplied(evidence, "lost_effect", when)
  return lookupFinding(evidence, "lost_effect", when)
}

export function saidNotApplied(evidence: Evidence, verdict: Finding["verdict"], when: string): Finding {
  const { seen } = evidence
  const attempt = disprovedByWord(evidence)
  const why = attempt?.reason === undefined ? "" : ` (${attempt.reason.code})`
  const status = seen.plan.answers?.status ?? null
  const about = status === null ? "its request got no whole answer" : `it was answered HTTP ${status}`
  return {
    verdict,
    code: "says_not_applied",
    happened: `your tool said that nothing was applied${why} although ${about}: ${when}`,
    fix: "`outcome.notApplied` and `outcome.rejected` are for answers in which the provider itself says no. Let every other error through: it is unknown, and the probe finds out.",
  }
}
