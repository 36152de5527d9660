/**
 * An attempt whose dispatch record is durable, or may be, and whose tool this process never called (R23).
 *
 * NV1. Only the process that would have called the tool can say so; it says so until the journal has heard it.
 * NV2. Where the record itself is in doubt, the truth is learned by a locking read first: it may be nobody's, or another's.
 */
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import { keepWriting } from "./keep-writing.ts"

export interface NeverStarted {
  readonly operation_id: string
  readonly attempt: number
  /** Of the dispatch record, where its commit is in doubt. */
  readonly event_id: string | null
}

/** Says so in the background; closing waits for it as it does for an attempt. */
export function tellNeverStarted(context: EngineContext, about: NeverStarted): void {
  const told = recordNeverStarted(context, about).catch(() => undefined)
  context.running.add(about.operation_id, about.attempt, told)
}

export async function recordNeverStarted(
  context: EngineContext,
  { operation_id, attempt, event_id }: NeverStarted,
): Promise<void> {
  const evidence_id = context.ids.event()
  const what = "an attempt that never started cannot be recorded yet"
  await keepWriting(context, { what, operation_id, attempt }, async () => {
    if (event_id !== null && (await context.journal.settled(event_id, operation_id)) === null) return
    await applyEvent(context, operation_id, () => ({ type: "never_started", attempt, evidence_id }), {
      actor: `worker:${context.worker.worker_id ?? ""}`,
    })
    context.wake()
  })
}
