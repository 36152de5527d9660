/** What callers were told, held against the world of that moment and of the end. */
import { denialExcuse } from "./denial-excuse.ts"
import { groupBy, mayBeRepetition, natureOf, standing } from "./grouping.ts"
import type { Finding } from "./oracle.ts"
import type { Answer, Effect, RunHistory } from "../history.ts"

export function answerFindings(history: RunHistory): readonly Finding[] {
  const effects = groupBy(history.effects, (one) => one.action)
  return [
    ...history.answers.flatMap((answer) => judgeAnswer(history, answer, effects.get(answer.action) ?? [])),
    ...yesCounts(history, effects),
    ...oneWord(history),
    ...errors(history),
  ]
}

function judgeAnswer(history: RunHistory, answer: Answer, effects: readonly Effect[]): readonly Finding[] {
  if (answer.ok) return yes(history, answer, effects)
  const denies = answer.settled && (answer.outcome === "not_executed" || answer.outcome === "failed")
  return denies ? no(history, answer, effects) : []
}

function yes(history: RunHistory, answer: Answer, effects: readonly Effect[]): readonly Finding[] {
  // A state can hold without a write of ours: that is judged with the resource.
  if (natureOf(history, answer.tool).makes === "state" || standing(effects, answer.at).length > 0) return []
  return [
    {
      rule: "true_yes",
      weight: mayBeRepetition(history, answer) ? "info" : "violation",
      text: `${answer.action} (${answer.operation_id}) was told as done at ${answer.at} and was not`,
    },
  ]
}

function no(history: RunHistory, answer: Answer, effects: readonly Effect[]): readonly Finding[] {
  const mine = effects.filter(
    (one) =>
      one.operation_id === answer.operation_id &&
      one.attempt <= answer.attempt &&
      (one.reversed_at === null || one.reversed_at > answer.at),
  )
  return mine.map((effect) => ({
    rule: "true_no",
    weight: denialExcuse(history, effect) === null ? "violation" : "info",
    text: `${answer.action} (${answer.operation_id}) was told as ${answer.outcome} at ${answer.at}, and attempt ${effect.attempt} took effect at ${effect.at}`,
  }))
}

/** One effect confirms one operation: as many as were told that they are done, so many effects there are. */
function yesCounts(history: RunHistory, effects: ReadonlyMap<string, readonly Effect[]>): readonly Finding[] {
  const yeses = groupBy(
    history.answers.filter((one) => one.ok && natureOf(history, one.tool).makes === "object"),
    (one) => one.action,
  )
  return [...yeses].flatMap(([action, answers]) => {
    const operations = new Set(answers.map((one) => one.operation_id))
    const count = effects.get(action)?.length ?? 0
    if (operations.size <= count) return []
    const forgotten = history.restores.some((restore) =>
      restore.forgotten.some((one) => operations.has(one.operation_id)),
    )
    return [
      {
        rule: "true_yes" as const,
        weight:
          forgotten || answers.some((one) => mayBeRepetition(history, one))
            ? ("info" as const)
            : ("violation" as const),
        text: `${operations.size} operations of ${action} were told as done, of ${count} effects: ${[...operations].join(", ")}`,
      },
    ]
  })
}

function oneWord(history: RunHistory): readonly Finding[] {
  const findings: Finding[] = []
  for (const [operation_id, answers] of groupBy(history.answers, (one) => one.operation_id ?? "")) {
    const first = answers.find((one) => one.ok)
    if (operation_id === "" || !first) continue
    const back = answers.find(
      (one) => one.called_at > first.at && !one.ok && one.outcome !== "undone" && one.error === null,
    )
    const forgot = history.restores.some((restore) => restore.at > first.at)
    if (back)
      findings.push({
        rule: "one_word",
        weight: forgot ? "info" : "violation",
        text: `${operation_id} was told as done at ${first.at} and as ${back.outcome} at ${back.at}`,
      })
    const named = new Set(answers.flatMap((one) => (one.ok && one.object_id !== null ? [one.object_id] : [])))
    if (named.size > 1)
      findings.push({
        rule: "one_word",
        weight: forgot ? "info" : "violation",
        text: `${operation_id} was told as done by ${[...named].join(" and ")}`,
      })
  }
  return findings
}

function errors(history: RunHistory): readonly Finding[] {
  const findings: Finding[] = history.answers.flatMap(({ error, action, verb, at }) =>
    error === null || error.foreseen
      ? []
      : [
          {
            rule: "unforeseen" as const,
            weight: "violation" as const,
            text: `${verb} of ${action} at ${at}: ${error.code}`,
          },
        ],
  )
  for (const text of history.alarms) findings.push({ rule: "unforeseen", weight: "violation", text })
  for (const [action, answers] of groupBy(history.answers, (one) => one.action)) {
    const effect = history.effects.find((one) => one.action === action)
    const everyoneGotErrors =
      answers.every((one) => one.error !== null) && history.unanswered.every((one) => one !== action)
    if (effect && everyoneGotErrors)
      findings.push({
        rule: "nothing_ran",
        weight: "violation",
        text: `every caller of ${action} was told that nothing ran, and ${effect.object_id} is there`,
      })
  }
  return findings
}
