/**
 * Workers whose processes are proved gone: their open attempts can end (protocol §0, item 10).
 *
 * GW1. A proof is a kernel-released lock found free, a new boot of the same host, or somebody's word. Silence proves nothing.
 * GW2. The proof is on record before its attempts end, so that no late record of it is missed. Each process ends them once for
 *      every worker that is gone, whoever recorded that: what one could not finish, another does, or itself at its next look.
 */
import { isTerminal, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import type { Page } from "../ports/journal.ts"

const PAGE = 200

/** What each process of this journal has been proved to be. */
export async function closeGoneWorkers(context: EngineContext): Promise<void> {
  const gone = new Map<string, string>()
  for (const worker of await context.journal.workers.list()) {
    if (worker.gone !== null) {
      if (!context.ended_workers.has(worker.worker_id)) gone.set(worker.worker_id, worker.gone.proof)
      continue
    }
    if (worker.closed_at !== null || context.worker.owns(worker.worker_id)) continue
    const proof = await context.journal.workers.gone(worker.worker_id)
    if (proof === null) continue
    await context.journal.workers.markGone(worker.worker_id, proof)
    gone.set(worker.worker_id, proof)
  }
  if (gone.size === 0) return
  await endAttemptsOf(context, gone)
  for (const worker_id of gone.keys()) context.ended_workers.add(worker_id)
}

/** Ends every open attempt of the workers that are gone. Safe to repeat. */
export async function endAttemptsOf(context: EngineContext, gone: ReadonlyMap<string, string>): Promise<void> {
  let cursor: string | null = null
  do {
    const page: Page<Operation> = await context.journal.operations(
      { states: ["dispatched", "unknown", "needs_review", "accepted"] },
      cursor === null ? { limit: PAGE } : { limit: PAGE, cursor },
    )
    for (const operation of page.items) {
      for (const [worker_id, proof] of gone) {
        if (hasOpenAttempt(operation, worker_id)) await endAttempts(context, operation.operation_id, worker_id, proof)
      }
    }
    cursor = page.next_cursor
  } while (cursor !== null)
  context.wake()
}

function hasOpenAttempt(operation: Operation, worker_id: string): boolean {
  return operation.attempts.some(
    (one) => one.worker_id === worker_id && one.settled_at === null && one.gone_at === null,
  )
}

async function endAttempts(
  context: EngineContext,
  operation_id: string,
  worker_id: string,
  proof: string,
): Promise<void> {
  await applyEvent(
    context,
    operation_id,
    (row) => (isTerminal(row.state) ? null : { type: "worker_gone", worker_id, proof }),
    { actor: "engine" },
  )
}
