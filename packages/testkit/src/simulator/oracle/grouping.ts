/** The history by action and by operation, as the rules read it. */
import type { Effect, Nature, RunHistory } from "../history.ts"

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

/** Whether the journal had forgotten that attempt by then. */
export function wasForgotten(
  history: RunHistory,
  { operation_id, attempt }: { readonly operation_id: string; readonly attempt: number },
  by: number = Number.POSITIVE_INFINITY,
): boolean {
  return history.restores.some(
    (restore) =>
      restore.at <= by && restore.forgotten.some((one) => one.operation_id === operation_id && one.attempt === attempt),
  )
}
