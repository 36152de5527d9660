/**
 * Workers whose processes are proved gone: their open attempts can end (protocol §0, item 10).
 *
 * GW1. A proof is a kernel-released lock found free, a new boot of the same host, or somebody's word. Silence proves nothing.
 */
import { isTerminal, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"

const PAGE = 200

export async function closeGoneWorkers(context: EngineContext): Promise<void> {
  const own = context.worker.worker_id
  for (const worker of await context.journal.workers.list()) {
    if (worker.worker_id === own || worker.closed_at !== null || worker.gone !== null) continue
    const proof = await context.journal.workers.gone(worker.worker_id)
    if (proof === null) continue
    await context.journal.workers.markGone(worker.worker_id, proof)
    await endAttemptsOf(context, worker.worker_id, proof)
  }
}

/** Ends every open attempt of a worker that is gone. Safe to repeat. */
export async function endAttemptsOf(context: EngineContext, worker_id: string, proof: string): Promise<void> {
  let cursor: string | null = null
  do {
    const page: { items: readonly Operation[]; next_cursor: string | null } = await context.journal.operations(
      { states: ["dispatched", "unknown", "needs_review", "accepted"] },
      cursor === null ? { limit: PAGE } : { limit: PAGE, cursor },
    )
    for (const operation of page.items) {
      if (
        !operation.attempts.some(
          (one) => one.worker_id === worker_id && one.settled_at === null && one.gone_at === null,
        )
      )
        continue
      await applyEvent(
        context,
        operation.operation_id,
        (row) => (isTerminal(row.state) ? null : { type: "worker_gone", worker_id, proof }),
        { actor: "engine" },
      )
    }
    cursor = page.next_cursor
  } while (cursor !== null)
  context.wake()
}
