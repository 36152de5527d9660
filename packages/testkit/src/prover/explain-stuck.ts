/** Why a tool that can be looked up ended at a person, or did not end. */
import type { Finding as Fact } from "@invokejs/protocol"
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
    withoutCause(evidence, looks, ended) ??
    withoutCompleteness(evidence, looks, ended) ??
    withoutAnswer(evidence, looks, ended) ??
    notMet(code, reason?.text ?? "", ended) ?? {
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

const CAUSELESS = /without operationId, providerKey or createdAt/

function withoutCause({ operation, seen }: Evidence, looks: readonly Fact[], ended: string): Finding | null {
  const last = looks.at(-1)
  const { code = "", text = "" } = operation.reason ?? {}
  const blind = last?.kind === "unsure" && CAUSELESS.test(last.reason)
  const unowned = last?.kind === "look" && last.candidates.length > 0 && UNOWNED.includes(code)
  const unheld = last?.kind === "look" && last.candidates.length > 0 && seen.effects > 0 && code !== "effect_not_met"
  if (!blind && !unowned && !unheld) return null
  if (/before our first dispatch/.test(text)) return otherClock(ended)
  return {
    verdict: "missing_cause",
    code: "no_cause",
    happened: `the probe found an object and does not say why it is this call's${text === "" || blind ? "" : ` (${text})`}: ${ended}`,
    fix: "Give `found` the operation id or the provider key that the object carries, or the provider's creation time: found({ id, operationId: object.metadata.operation_id, state }).",
  }
}

const UNOWNED: readonly string[] = ["not_ours", "no_creation_time", "created_near_dispatch", "match_missing"]

function otherClock(ended: string): Finding {
  return {
    verdict: "missing_cause",
    code: "other_clock",
    happened: `the object is dated before the request that made it: ${ended}`,
    fix: "Let the fake date what it makes by the `now` that `provider` is given. If the real provider's clock is that far off, declare `skew`.",
  }
}

function withoutCompleteness({ facts }: Evidence, looks: readonly Fact[], ended: string): Finding | null {
  const silent = looks.filter((one) => one.kind === "look").filter((one) => one.candidates.length === 0)
  if (silent.length === 0 || silent.some((one) => one.complete && !one.search)) return null
  const search = silent.some((one) => one.search) || facts.contract.lookup?.consistency === "search"
  return {
    verdict: "never_complete",
    code: "never_complete",
    happened: `${silent.length} looks found nothing, and none of them counts, because ${search ? "a search never proves absence" : "the probe never says `complete: true`"}: ${ended}`,
    fix: search
      ? "Look by id, or in a list that shows what was written, and answer `absent({ complete: true })` there."
      : "Answer `absent({ complete: true })` when everything that could be this object was looked at: every page, every state.",
  }
}

function withoutAnswer({ seen, operation }: Evidence, looks: readonly Fact[], ended: string): Finding | null {
  const failed = seen.events.filter((one) => one.type === "evidence" && one.data["finding"] === "unanswered")
  const last = looks.at(-1)
  if (last?.kind !== "unsure" && (operation.probes.failed === 0 || looks.length > 0)) return null
  const text = last?.kind === "unsure" ? last.reason : String(failed.at(-1)?.data["text"] ?? "")
  return {
    verdict: "stuck",
    code: "probe_fails",
    happened: `the probe gave no answer that counts (${text}): ${ended}`,
    fix: "Let the probe throw where the provider does not answer, and answer `found` or `absent` where it does. A 404 for an object that was never made is `absent`.",
  }
}

function notMet(code: string, text: string, ended: string): Finding | null {
  if (code !== "effect_not_met") return null
  return {
    verdict: "stuck",
    code: "effect_not_met",
    happened: `the probe found this call's object, and \`expect.effect\` is not what it shows (${text}): ${ended}`,
    fix: "Let `state` hold the fields that `expect.effect` names, as the call makes them true.",
  }
}
