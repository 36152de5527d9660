/** The history by action and by operation, as the rules read it. */
import type { DispatchRecord, Effect, Forgotten, Nature, RunHistory, SentRequest } from "../history.ts"

export function groupBy<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group) group.push(item)
    else groups.set(key(item), [item])
  }
  return groups
}

export function natureOf(history: RunHistory, tool: string): Nature {
  const nature = history.natures.find((one) => one.tool === tool)
  if (!nature) throw new Error(`the history does not say what ${tool} is`)
  return nature
}

/** Effects of the action that stood at `moment`; a reversed one stands until it is taken back. */
export function standing(effects: readonly Effect[], moment: number): readonly Effect[] {
  return effects.filter((one) => one.at <= moment && (one.reversed_at === null || one.reversed_at > moment))
}

/**
 * Whether an object that somebody between us and the provider made, by sending a request again, may have been taken for the
 * operation's own: it looks like any other, and nobody can count it (H1).
 */
export function mayBeRepetition(
  history: RunHistory,
  {
    tool,
    operation_id,
    object_id,
  }: { readonly tool: string; readonly operation_id: string | null; readonly object_id: string | null },
): boolean {
  const made = history.effects.find((one) => one.tool === tool && one.object_id === object_id)
  const rivals = history.endings.some((one) => one.operation_id === operation_id && one.rivals)
  return history.effects.some((one) => one.repeated && one.tool === tool && (rivals || one.request === made?.request))
}

/**
 * Whether the journal forgot that attempt after it took it down, by then, so that nobody could reckon with it. Numbers can be given
 * again after a restore.
 */
export function wasForgotten(
  history: RunHistory,
  sent: Pick<SentRequest, "operation_id" | "attempt" | "at">,
  by: number = Number.POSITIVE_INFINITY,
): boolean {
  return forgottenOf(history, sent, by).some(({ accounted }) => !accounted)
}

/** The same, where a known operation's attempt counts too: its rows beside it were forgotten with it. */
export function wasForgottenByOthers(history: RunHistory, sent: SentRequest, by: number): boolean {
  return forgottenOf(history, sent, by).length > 0
}

function forgottenOf(
  history: RunHistory,
  { operation_id, attempt, at }: Pick<SentRequest, "operation_id" | "attempt" | "at">,
  by: number,
): readonly Forgotten[] {
  const recorded_at = recordAt(history, operation_id, attempt, at)?.committed_at ?? at
  return history.restores
    .filter((restore) => restore.at >= recorded_at && restore.at <= by)
    .flatMap(({ forgotten }) => forgotten)
    .filter((one) => one.operation_id === operation_id && one.attempt === attempt)
}

/** The record under which that attempt was made at that moment. */
export function recordAt(
  history: RunHistory,
  operation_id: string,
  attempt: number,
  at: number = Number.POSITIVE_INFINITY,
): DispatchRecord | undefined {
  return history.records.findLast(
    (one) => one.operation_id === operation_id && one.attempt === attempt && one.committed_at <= at,
  )
}
