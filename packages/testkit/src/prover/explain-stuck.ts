/** Why a tool that can be looked up ended at a person, or did not end. */
import { judge, type Finding as Fact } from "@invokejs/protocol"
import { causeProblem } from "./cause-problem.ts"
import type { Evidence, Finding } from "./finding.ts"

export function explainStuck(evidence: Evidence): Finding {
  const { operation, seen } = evidence
  const { reason, state, verdict } = operation
  const ended = state === "needs_review" ? "it ended at a person" : `it stayed \`${state}\``
  const code = reason?.code ?? ""
  if (code === "attempt_open") return neverEnds(ended)
  const looks = operation.evidence.filter((one) => one.source === "probe").map((one) => one.finding)
  if (verdict === "diverged") return diverged(ended, reason?.text ?? "")
  return (
    causeProblem(evidence, "missing_cause", ended) ??
    notMet(evidence, ended) ??
    withoutCompleteness(evidence, looks, ended) ??
    withoutAnswer(evidence, looks, ended) ?? {
      verdict: "stuck",
      code: "not_settled",
      happened: `${ended}${code === "" ? "" : ` (${code}: ${reason?.text ?? ""})`}, with ${seen.effects} effects at the provider`,
      fix: "Read the schedule: the last looks say what was missing.",
    }
  )
}

function neverEnds(ended: string): Finding {
  return {
    verdict: "stuck",
    code: "attempt_never_ends",
    happened: `your function did not end when its time was over, so nobody could say what it may still do: ${ended}`,
    fix: "Hand the context's `signal` to your client, or give the client a timeout of its own.",
  }
}

function diverged(ended: string, why: string): Finding {
  return {
    verdict: "stuck",
    code: "expects_something_else",
    happened: `the probe found this call's object, and \`expect\` says that it is another (${why}): ${ended}`,
    fix: "Let `expect` compare the values as the provider shows them: same unit, same spelling, typed (`minor`, `decimal`, `id`).",
  }
}

/** Looks that saw nothing of this call's, and do not count. */
function withoutCompleteness({ facts, seen }: Evidence, looks: readonly Fact[], ended: string): Finding | null {
  const silent = looks
    .filter((one) => one.kind === "look")
    .filter((one) => one.candidates.length === 0 || seen.effects === 0)
  const last = silent.at(-1)
  if (last === undefined || (last.complete && !last.search)) return null
  const search = silent.some((one) => one.search) || facts.contract.lookup?.consistency === "search"
  const others = silent.some((one) => one.candidates.length > 0)
  const why = search ? "a search never proves absence" : "the probe never says `complete: true`"
  return {
    verdict: "never_complete",
    code: "never_complete",
    happened: `looks found nothing of this call's, and that does not count, because ${why}: ${ended}`,
    fix: search
      ? "Look by id, or in a list that shows what was written, and answer `absent({ complete: true })` there."
      : others
        ? "Leave objects of others out of `found`, or say that these are all there are: `found(objects, { complete: true })`."
        : "Answer `absent({ complete: true })` when everything that could be this object was looked at: every page, every state.",
  }
}

function withoutAnswer({ seen, operation }: Evidence, looks: readonly Fact[], ended: string): Finding | null {
  const failed = seen.events.filter((one) => one.type === "evidence" && one.data["finding"] === "unanswered")
  const last = looks.at(-1)
  if (last?.kind !== "unsure" && (operation.probes.failed === 0 || looks.length > 0)) return null
  const text = last?.kind === "unsure" ? last.reason : JSON.stringify(failed.at(-1)?.data["text"] ?? "")
  return {
    verdict: "stuck",
    code: "probe_fails",
    happened: `the probe gave no answer that counts (${text}): ${ended}`,
    fix: "Let the probe throw where the provider does not answer, and answer `found` or `absent` where it does. A 404 for an object that was never made is `absent`.",
  }
}

function notMet({ operation }: Evidence, ended: string): Finding | null {
  const { reason } = judge(operation, { now: operation.updated_at, taken: [], rivals: 0, clock_stepped_at: null })
  if (reason.code !== "effect_not_met") return null
  return {
    verdict: "stuck",
    code: "effect_not_met",
    happened: `the probe found this call's object, and \`expect.effect\` is not what it shows (${reason.text}): ${ended}`,
    fix: "Let `state` hold the fields that `expect.effect` names, as the call makes them true.",
  }
}
