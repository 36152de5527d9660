/**
 * S1: at most one un-evidenced dispatch, seen from the world: how many effects there are, and what was known when a request left.
 *
 * EF1. Not only two effects are a breach: a second request that happened to be lost was sent all the same.
 */
import { groupBy, natureOf, wasForgotten } from "./grouping.ts"
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
  const excused = new Set<number>()
  for (const request of requests) {
    for (const effect of effects) {
      const earlier = requests.find((one) => one.n === effect.request)
      if (!earlier || earlier.n >= request.n || !isBlind(history, earlier, request, effect, nature)) continue
      const excuse = excuseFor(history, earlier, request)
      if (excuse !== null) excused.add(request.n)
      findings.push({
        rule: "unevidenced",
        weight: excuse === null ? "violation" : "info",
        text: `${nameOf(request)} left at ${request.at} although ${nameOf(earlier)} took effect at ${effect.at}${excuse ?? ""}`,
      })
    }
  }
  return [...findings, ...countFindings(history, action, effects, excused)]
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
  const landed = history.requests.flatMap((one) =>
    one.key === request.key && one.landed_at !== null ? [one.landed_at] : [],
  )
  return request.at + max_execution_ms < Math.min(...landed) + remembers.for_ms
}

/** H1: what no journal that forgot it can know. */
function excuseFor(history: RunHistory, earlier: SentRequest, request: SentRequest): string | null {
  return wasForgotten(history, earlier, request.at) ? ", which the restored journal knew nothing of" : null
}

function countFindings(
  history: RunHistory,
  action: string,
  effects: readonly Effect[],
  excused: ReadonlySet<number>,
): readonly Finding[] {
  const kept = effects.filter((one) => one.reversed_at === null)
  const allowed = 1 + history.grants.filter((one) => one.action === action).length
  if (kept.length <= allowed) return []
  const text = `${action} has ${kept.length} effects: ${kept.map((one) => `${one.object_id}@${one.at} by attempt ${one.attempt} of ${one.operation_id}`).join(", ")}`
  const unexcused = kept.filter((one) => !excused.has(one.request)).length
  return [{ rule: "one_effect", weight: unexcused > allowed ? "violation" : "info", text }]
}

function nameOf({ n, operation_id, attempt }: SentRequest): string {
  return `request ${n} (attempt ${attempt} of ${operation_id})`
}
