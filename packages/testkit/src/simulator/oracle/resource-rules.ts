/**
 * Tools that set what one thing is: nothing newer is set back by us, and a replayed yes is about what was admitted last.
 *
 * RS1. A first attempt that lands late overwrites what came after it, and nobody can stop it once it left (H1).
 */
import { groupBy, natureOf, recordAt } from "./grouping.ts"
import type { Finding } from "./oracle.ts"
import type { Answer, ResourceWrite, RunHistory } from "../history.ts"

export function resourceFindings(history: RunHistory): readonly Finding[] {
  const byResource = groupBy(
    history.writes.toSorted((a, b) => a.version - b.version),
    (one) => one.resource,
  )
  return [
    ...[...byResource.values()].flatMap((writes) => writes.flatMap((write) => overwriteOf(history, write, writes))),
    ...history.answers.flatMap((answer) => staleReplay(history, answer, byResource)),
  ]
}

function overwriteOf(history: RunHistory, write: ResourceWrite, writes: readonly ResourceWrite[]): readonly Finding[] {
  const { operation_id, attempt } = write
  if (operation_id === null || attempt < 2) return []
  const record = recordAt(history, operation_id, attempt, write.at)
  const first = recordAt(history, operation_id, 1)
  if (!record || !first) return []
  const newer = writes.filter(
    (one) =>
      one.version < write.version &&
      one.value !== write.value &&
      one.operation_id !== operation_id &&
      one.at > first.committed_at,
  )
  const known = newer.find((one) =>
    one.operation_id === null
      ? history.looks.some(
          (look) =>
            look.operation_id === operation_id &&
            look.resource === write.resource &&
            look.version >= one.version &&
            look.at < record.committed_at,
        )
      : admittedLater(history, one.operation_id, operation_id, record.committed_at),
  )
  if (!known) return []
  const text = `attempt ${attempt} of ${operation_id} set ${write.resource} to ${write.value} at ${write.at}, over ${known.value} of ${known.at}, which was known`
  return [{ rule: "no_overwrite", weight: "violation", text }]
}

/** A write that we admitted after this one, and before that moment. */
function admittedLater(history: RunHistory, operation_id: string, than: string, before: number): boolean {
  const times = (id: string) => history.admissions.find((one) => one.operation_id === id)?.at
  const [mine, other] = [times(than), times(operation_id)]
  if (mine === undefined || other === undefined || other <= mine || other >= before) return false
  // A journal that forgot it cannot know of it (H1).
  return !history.restores.some((one) => one.snapshot_at < other && one.at >= other && one.at <= before)
}

function staleReplay(
  history: RunHistory,
  answer: Answer,
  byResource: ReadonlyMap<string, readonly ResourceWrite[]>,
): readonly Finding[] {
  if (!answer.ok || !answer.replayed || natureOf(history, answer.tool).makes !== "state") return []
  const sets = history.endings.find((one) => one.operation_id === answer.operation_id)?.sets
  const writes = sets && byResource.get(sets.resource)
  if (!sets || !writes) return []
  const held = writes.filter((one) => one.at <= answer.at)
  const before = held.findLast((one) => one.at <= answer.called_at)
  const during = held.filter((one) => one.at > answer.called_at)
  if (before === undefined || [before, ...during].some((one) => one.value === sets.value)) return []
  // Two that wait side by side go in either order (OV2): only what was admitted later is known to come after.
  const ours =
    before.operation_id !== null &&
    admittedLater(history, before.operation_id, answer.operation_id ?? "", Number.POSITIVE_INFINITY)
  // Who asked before it was settled waited for its outcome, whatever came after it.
  const settled = history.settlements.some(
    (one) => one.operation_id === answer.operation_id && one.at <= answer.called_at,
  )
  return [
    {
      rule: "stale_replay",
      weight: ours && settled && !history.restores.some((one) => one.at <= answer.at) ? "violation" : "info",
      text: `${answer.operation_id ?? ""} was replayed at ${answer.at} as having set ${sets.resource} to ${sets.value}; it was ${before.value}`,
    },
  ]
}
