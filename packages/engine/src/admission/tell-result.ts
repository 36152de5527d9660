/**
 * Telling a row to a caller: which telling it is, and what else the row does not say itself.
 *
 * TE1. The first telling of a settled fact is told once: to the call that admitted it, or, where that call was told `unknown`
 *      or died, to the next one that asks. Everybody else is told a replay (item 27).
 */
import { buildResult, type Operation, type Result } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"

/** In process the caller is the application itself: it may retry and supersede. */
export const CALLER = { retry: true, supersede: true } as const

export type Telling = "first" | "later" | "joiner"

export async function tellResult(context: EngineContext, operation: Operation, telling: Telling): Promise<Result> {
  const quarantine = (await context.journal.quarantine()) !== null
  const tool = context.tools.of(operation)
  return buildResult(operation, {
    telling: await tellingOf(context, operation, telling),
    now: context.journal.now(),
    quarantine,
    rights: CALLER,
    waiting_for_tool: tool === null,
  })
}

/** Facts found by reconciliation are owed to whoever asks first; an acknowledged one was told by its own call. */
async function tellingOf(context: EngineContext, operation: Operation, telling: Telling): Promise<Telling> {
  const owed = operation.state === "succeeded" && operation.cause !== "acknowledged" && !operation.told
  if (!owed) return telling === "first" && operation.told && operation.state === "succeeded" ? "later" : telling
  const told = await applyEvent(context, operation.operation_id, (row) => (row.told ? null : { type: "told" }), {
    actor: "engine",
  }).catch(() => null)
  return told?.ok ? "first" : telling === "first" ? "later" : telling
}
