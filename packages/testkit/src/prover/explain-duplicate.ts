/** Why one action took effect twice. */
import { saidNotApplied } from "./explain-lost.ts"
import { attemptAt, disprovedByWord, type Evidence, type Finding } from "./finding.ts"
import { lookupFinding } from "./lookup-finding.ts"
import { seconds } from "./say-time.ts"
import { sentKey } from "./sent-key.ts"

export function explainDuplicate(evidence: Evidence): Finding {
  const { seen } = evidence
  const when = `the provider counts ${seen.effects} effects of one action`
  return (
    ofIdentity(evidence, when) ??
    ofOneAttempt(evidence) ??
    ofKey(evidence, when) ??
    (disprovedByWord(evidence) === null ? null : saidNotApplied(evidence, "duplicate_effect", when)) ??
    ofLanding(evidence, when) ??
    lookupFinding(evidence, "duplicate_effect", when)
  )
}

/** The same action made two operations. */
function ofIdentity({ seen, operation }: Evidence, when: string): Finding | null {
  const ids = new Set(seen.started.map((one) => one.operation_id))
  if (ids.size < 2) return null
  const { reworded } = seen.plan
  const fields = Object.keys(operation.identity ?? {}).join(", ")
  if (reworded === undefined) {
    return {
      verdict: "duplicate_effect",
      code: "identity_changes",
      happened: `the same parameters made ${ids.size} operations: ${when}`,
      fix: `\`identity\` (${fields}) gives another key for the same call. Leave out of it what changes from call to call: times, counters, ids of the request.`,
    }
  }
  return {
    verdict: "duplicate_effect",
    code: "identity_from_words",
    happened: `other words in \`${reworded}\` made another operation of the same action: ${when}`,
    fix: `Take \`${reworded}\` out of \`identity\` (${fields}): a model phrases it anew each time. Use what the business calls the action by: an invoice, an order. If it is no free text, say so: \`words: []\` under \`prove\`.`,
  }
}

function ofOneAttempt(evidence: Evidence): Finding | null {
  const { effects, seen } = evidence
  if (seen.plan.repeats_requests === true) return null
  const [first, second] = effects
  const doubled = first !== undefined && first.made > 1
  const both = first !== undefined && second !== undefined && attemptAt(evidence, first) === attemptAt(evidence, second)
  if (!doubled && !both) return null
  const requests = doubled ? [first] : [first, second]
  const named = requests.map((one) => `${one?.request.method} ${one?.request.path}`).join(" and ")
  return {
    verdict: "duplicate_effect",
    code: "second_effect",
    happened: `one attempt made ${seen.effects} effects (${named})`,
    fix: "Several effects are several tools, each called by itself: an answer lost between them leaves a half that nobody can tell. If the second one is no effect of its own, do not count it in `effects()`.",
  }
}

function ofKey(evidence: Evidence, when: string): Finding | null {
  const { facts, effects, seen } = evidence
  const { key } = facts.contract
  const [first, second] = effects
  if (key === undefined || first === undefined || second === undefined) return null
  const same_generation = new Set(seen.started.map((one) => one.provider_key)).size === 1
  const keys = [first, second].map((one) => sentKey(key.sent_as, one.request))
  if (!same_generation || keys.includes(null)) return null
  if (keys[0] !== keys[1] || keys[0] === undefined) {
    return {
      verdict: "duplicate_effect",
      code: "key_not_the_providers",
      happened: `the two requests carried ${keys[0] === undefined ? "no key" : "different keys"} at ${key.sent_as}: ${when}`,
      fix: "Send `providerKey` of the context as it is: it stays the same for every attempt that may be the same request.",
    }
  }
  return {
    verdict: "wrong_class",
    code: "key_executes_again",
    happened: `the provider did the same request again under the same key: ${when}`,
    fix: "The provider does not keep what `contract.key` says (`replay`, `retention`, `inFlight`). Declare what it keeps, or remove the key and let the probe decide.",
  }
}

function ofLanding(evidence: Evidence, when: string): Finding | null {
  const { effects, seen, facts } = evidence
  const late = effects.find((one) => one.handed_at !== null && one.handed_at > one.at + 1_000)
  const second = seen.started[1]
  if (late?.handed_at === undefined || late.handed_at === null || second === undefined) return null
  if (late.handed_at < second.at) return null
  const claimed = seconds(facts.contract.lookup?.max_execution_ms ?? 0)
  const took = seconds(late.handed_at - late.at)
  return {
    verdict: "duplicate_effect",
    code: "acts_later_than_declared",
    happened: `the provider acted on the first request ${took} after it was sent, when a second one had left: ${when}`,
    fix: `\`contract.lookup.maxExecution\` says ${claimed}. Declare the longest time for which the provider may still act on a request: "${took}" at least.`,
  }
}
