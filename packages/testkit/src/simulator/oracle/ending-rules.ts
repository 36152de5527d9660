/** What the journal says when everything is over, held against the world. */
import { denialExcuse } from "./denial-excuse.ts"
import { groupBy, mayBeRepetition, natureOf, standing } from "./grouping.ts"
import type { Finding } from "./oracle.ts"
import type { Effect, Ending, RunHistory } from "../history.ts"

const NOT_IN_PLACE = ["failed", "not_applied", "refused", "denied", "expired", "cancelled", "replan"]

export function endingFindings(history: RunHistory): readonly Finding[] {
  const byAction = groupBy(history.effects, (one) => one.action)
  return [
    ...history.endings.flatMap((ending) => judgeEnding(history, ending, byAction.get(ending.action) ?? [])),
    ...succeededCounts(history, byAction),
    ...objectFindings(history),
  ]
}

function judgeEnding(history: RunHistory, ending: Ending, effects: readonly Effect[]): readonly Finding[] {
  const mine = effects.filter((one) => one.operation_id === ending.operation_id)
  const name = `${ending.action} (${ending.operation_id})`
  const isObject = natureOf(history, ending.tool).makes === "object"
  const findings: Finding[] = []
  const excused = mine.some((one) => denialExcuse(history, one) !== null)
  const found = (rule: Finding["rule"], text: string, info = false) =>
    findings.push({ rule, weight: info ? "info" : "violation", text })
  if (ending.contradicted) found("ending", `${name} ended contradicted`, excused)
  if (ending.state === "succeeded" && isObject && effects.length === 0)
    found("ending", `${name} succeeded without an effect`, mayBeRepetition(history, ending))
  const stands = standing(mine, Number.POSITIVE_INFINITY)
  if (NOT_IN_PLACE.includes(ending.state) && !ending.contradicted && isObject && stands.length > 0)
    found("ending", `${name} ended ${ending.state}, and ${stands[0]?.object_id ?? ""} is there`, excused)
  if (ending.state === "undone" && mine.length > 0 && stands.length > 0)
    found("ending", `${name} ended undone, and ${stands[0]?.object_id ?? ""} is there`)
  if (!ending.terminal && mustSettle(history, ending, effects))
    found("settles", `${name} is ${ending.state} 48 hours after the faults ended`)
  return findings
}

function mustSettle(history: RunHistory, ending: Ending, effects: readonly Effect[]): boolean {
  if (ending.attempt_open) return false
  if (history.attended) return true
  if (ending.rivals) return false
  // More objects than one, or a journal that nobody lets dispatch again, wait for a person.
  const several = effects.length > 1 || effects.some((one) => one.reversed_at !== null)
  return natureOf(history, ending.tool).settles === "itself" && !several && history.restores.length === 0
}

function succeededCounts(history: RunHistory, byAction: ReadonlyMap<string, readonly Effect[]>): readonly Finding[] {
  const succeeded = groupBy(
    history.endings.filter((one) => one.state === "succeeded" && natureOf(history, one.tool).makes === "object"),
    (one) => one.action,
  )
  return [...succeeded].flatMap(([action, endings]) => {
    const count = byAction.get(action)?.length ?? 0
    if (endings.length <= count || count === 0) return []
    const text = `${endings.length} operations of ${action} succeeded, of ${count} effects: ${endings.map((one) => one.operation_id).join(", ")}`
    const repeated = endings.some((one) => mayBeRepetition(history, one))
    return [{ rule: "ending" as const, weight: repeated ? ("info" as const) : ("violation" as const), text }]
  })
}

function objectFindings(history: RunHistory): readonly Finding[] {
  const findings: Finding[] = []
  const named = history.endings.filter((one) => one.state === "succeeded" && one.object_id !== null)
  for (const [object, endings] of groupBy(named, (one) => `${one.tool} ${one.object_id ?? ""}`)) {
    const [first] = endings
    if (!first || natureOf(history, first.tool).makes === "state") continue
    if (endings.length > 1)
      findings.push({
        rule: "one_object",
        weight: "violation",
        text: `${object} confirms ${endings.map((one) => one.operation_id).join(" and ")}`,
      })
    const effect = history.effects.find((one) => one.tool === first.tool && one.object_id === first.object_id)
    if (!effect)
      findings.push({
        rule: "one_object",
        weight: "violation",
        text: `${object} confirms ${first.operation_id} and is no request's`,
      })
  }
  return findings
}
