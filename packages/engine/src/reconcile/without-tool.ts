/**
 * Operations that wait to be sent and that no live process can run (protocol §4: no worker → incident).
 *
 * NT1. Nobody is accused early: the operation is overdue, and no registered process that may live has the tool.
 */
import { DEFAULTS } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"

/** A process with the tool takes a due operation within seconds, whether it is registered yet or not. */
const GRACE_MS = 30_000
const AT_ONCE = 100

export async function postponeWithoutTool(context: EngineContext): Promise<void> {
  const now = context.journal.now()
  const ready = await context.journal.operations({ states: ["ready"] }, { limit: AT_ONCE })
  const overdue = ready.items.filter(
    (one) => context.tools.of(one) === null && one.due_at !== null && one.due_at + GRACE_MS <= now,
  )
  if (overdue.length === 0) return
  const workers = await context.journal.workers.list()
  const alive = new Set(workers.flatMap((one) => (one.gone === null && one.closed_at === null ? one.tools : [])))
  for (const operation of overdue) {
    if (alive.has(operation.tool)) continue
    const reason = { code: "waiting_for_tool", text: `no live process has the tool ${operation.tool}` }
    await applyEvent(
      context,
      operation.operation_id,
      (row) =>
        row.version === operation.version ? { type: "postpone", until: now + DEFAULTS.backoff_max_ms, reason } : null,
      { actor: "engine", known: operation },
    )
  }
}
