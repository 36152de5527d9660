/**
 * S1: at most one un-evidenced dispatch, seen from the world: how many effects there are, and what was known when a request left.
 *
 * EF1. Not only two effects are a breach: a second request that happened to be lost was sent all the same.
 */
import { clockExcuse } from "./clock-excuse.ts"
import { denialExcuse } from "./denial-excuse.ts"
import { groupBy, natureOf, wasForgotten, wasForgottenByOthers } from "./grouping.ts"
import type { Finding } from "./oracle.ts"
import type { Effect, Nature, RunHistory, SentRequest } from "../history.ts"

export function effectFindings(history: RunHistory): readonly Finding[] {
  const byAction = groupBy(history.requests, (one) => one.action)
  return [...byAction].flatMap(([action, requests]) => {
    const [first] = requests
    const nature = first && natureOf(history, first.tool)
    if (nature?.makes !== "object") return []
    return judgeAction(history, action, requests, nature)
  })
}

function judgeAction(
  history: RunHistory,
  action: string,
  requests: readonly SentRequest[],
  nature: Nature,
): readonly Finding[] {
  const effects = history.effects.filter((one) => one.action === action && !one.repeated)
  const findings: Finding[] = []
  for (const request of requests) {
    for (const effect of effects) {
      const earlier = requests.find((one) => one.n === effect.request)
      if (!earlier || earlier.n >= request.n || !isBlind(history, earlier, request, effect, nature)) continue
      const excuse = excuseFor(history, earlier, request, effect)
      findings.push({
        rule: "unevidenced",
        weight: excuse === null ? "violation" : "info",
        text: `${nameOf(request)} left at ${request.at} although ${nameOf(earlier)} took effect at ${effect.at}${excuse ?? ""}`,
      })
    }
  }
  return [...findings, ...countFindings(history, action, requests, effects)]
}

/** Whether nothing but luck keeps the two from being two effects. */
function isBlind(
  history: RunHistory,
  earlier: SentRequest,
  request: SentRequest,
  effect: Effect,
  nature: Nature,
): boolean {
  if (effect.reversed_at !== null && effect.reversed_at <= request.at) return false
  const granted = history.grants.some((one) => one.action === request.action && one.at <= request.at)
  if (granted && earlier.operation_id !== request.operation_id) return false
  return !isProtected(history, earlier, request, effect, nature)
}

function isProtected(
  history: RunHistory,
  earlier: SentRequest,
  request: SentRequest,
  effect: Effect,
  { remembers, max_execution_ms }: Nature,
): boolean {
  if (remembers === null || earlier.key !== request.key) return false
  if (remembers.races && effect.at > request.at) return false
  return (
    request.at + max_execution_ms < rememberedFrom(history, request.key, effect.at, remembers.for_ms) + remembers.for_ms
  )
}

/** When the memory of the key began that held at that moment: a request that comes after its end begins another. */
function rememberedFrom(history: RunHistory, key: string, moment: number, for_ms: number): number {
  const landings = history.requests.flatMap((one) => (one.key === key && one.landed_at !== null ? [one.landed_at] : []))
  let from = Number.NEGATIVE_INFINITY
  for (const at of landings.toSorted((a, b) => a - b)) {
    if (at <= moment && at >= from + for_ms) from = at
  }
  return from
}

/** H1: what no journal that forgot it can know, and a trusted refusal of a request that somebody repeated. */
function excuseFor(history: RunHistory, earlier: SentRequest, request: SentRequest, effect: Effect): string | null {
  const byOther = earlier.operation_id !== request.operation_id && wasForgottenByOthers(history, earlier, request.at)
  if (byOther || wasForgotten(history, earlier, request.at)) return ", which the restored journal knew nothing of"
  if (clockExcuse(history, earlier, request.at)) return ", which a step of the clock hid"
  return denialExcuse(history, effect) === "repeated" ? ", which was refused when somebody sent it again" : null
}

function countFindings(
  history: RunHistory,
  action: string,
  requests: readonly SentRequest[],
  effects: readonly Effect[],
): readonly Finding[] {
  const kept = effects.filter((one) => one.reversed_at === null)
  const allowed = 1 + history.grants.filter((one) => one.action === action).length
  if (kept.length <= allowed) return []
  const requestOf = (effect: Effect) => requests.find((one) => one.n === effect.request)
  const isExcused = (effect: Effect) => {
    const request = requestOf(effect)
    return kept.some((other) => {
      const earlier = requestOf(other)
      return request && earlier && earlier.n < request.n && excuseFor(history, earlier, request, other) !== null
    })
  }
  const unexcused = kept.filter((one) => !isExcused(one)).length
  const made = kept.map((one) => `${one.object_id}@${one.at} by attempt ${one.attempt} of ${one.operation_id}`)
  const text = `${action} has ${kept.length} effects: ${made.join(", ")}`
  return [{ rule: "one_effect", weight: unexcused > allowed ? "violation" : "info", text }]
}

function nameOf({ n, operation_id, attempt }: SentRequest): string {
  return `request ${n} (attempt ${attempt} of ${operation_id})`
}
