/** What a run did, counted: a run that injects nothing proves nothing. */
import type { Judged } from "../oracle/oracle.ts"
import type { World } from "./world.ts"

export function countRun({ counts, store, history }: World, { infos }: Judged): void {
  counts.add("runs")
  for (const { type, from, to } of store.rows.events) {
    counts.add(`event:${type}`)
    if (from !== to && (from !== null || type === "requested")) counts.add(`arrow:${from ?? "call"}>${to ?? ""}`)
  }
  for (const { attempts } of store.rows.operations.values())
    for (const { reason } of attempts) if (reason) counts.add(`attempt:${reason.code}`)
  for (const { state, tool } of history.endings) {
    counts.add(`ended:${state}`)
    counts.add(`tool:${tool}`)
  }
  for (const { rule } of infos) counts.add(`info:${rule}`)
}
