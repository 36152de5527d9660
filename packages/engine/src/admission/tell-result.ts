/**
 * Telling a row to a caller: which telling it is, and what else the row does not say itself.
 *
 * TE1. The first telling of a settled fact is told once: to the call that admitted it, or, where that call was told `unknown`
 *      or died, to the next one that asks. Everybody else is told a replay (item 27).
 * TE2. Telling never fails: what the journal cannot say now is told from the row in hand.
 * TE3. An operator who looks takes nobody's first telling.
 */
import { buildResult, type Circumstances, type Operation, type Result } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"

/** In process the caller is the application itself: it may retry and supersede. */
export const CALLER = { retry: true, supersede: true } as const

export type Telling = "first" | "later" | "joiner"

export async function tellResult(context: EngineContext, operation: Operation, telling: Telling): Promise<Result> {
  return buildResult(operation, {
    telling: await tellingOf(context, operation, telling),
    ...(await circumstances(context, operation)),
  })
}

/** The row as it is, for those who were not the call (TE3). */
export async function showResult(context: EngineContext, operation: Operation): Promise<Result> {
  return buildResult(operation, {
    telling: operation.told ? "later" : "first",
    ...(await circumstances(context, operation)),
  })
}

async function circumstances(context: EngineContext, operation: Operation): Promise<Omit<Circumstances, "telling">> {
  const quarantine = await context.journal.quarantine().catch(() => null)
  return {
    now: context.journal.now(),
    quarantine: quarantine !== null,
    rights: CALLER,
    waiting_for_tool: context.tools.of(operation) === null,
    unrecorded: context.running.isUnrecorded(operation.operation_id),
    lease_lapsed: await leaseLapsed(context, operation),
  }
}

/** Only a dispatched operation of a worker that this process is not running needs to be asked about. */
async function leaseLapsed(context: EngineContext, operation: Operation): Promise<boolean> {
  const running = operation.state === "dispatched" ? operation.attempts.at(-1) : undefined
  if (!running || context.running.has(operation.operation_id)) return false
  const workers = await context.journal.workers.list().catch(() => null)
  const worker = workers?.find((one) => one.worker_id === running.worker_id)
  if (!worker) return false
  const held = worker.lease_token === running.lease_token && worker.gone === null && worker.closed_at === null
  return !held || worker.lease_until <= context.journal.now()
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
