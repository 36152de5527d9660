/**
 * Attempt n of an operation: the dispatch record, then the tool (protocol §5).
 *
 * DS1. The record is durable before the tool is called; a tool whose record did not commit is never called (S2).
 * DS2. A lease that was refused is renounced; the next decision is made with a new one.
 */
import type { Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import { startAttempt } from "./attempt.ts"
import { clockAnchor, dispatchEvent } from "./dispatch-record.ts"
import type { CompiledTool } from "../tool/compiled-tool.ts"

/** Writes the next dispatch record and starts its attempt. The attempt goes on in the background. */
export async function dispatchOperation(
  context: EngineContext,
  operation: Operation,
  tool: CompiledTool,
): Promise<Operation> {
  if (context.draining()) return operation
  for (let registration = 0; registration < 3; registration += 1) {
    const lease = await context.worker.lease(context.journal.now())
    let anchor = clockAnchor(context.clock)
    const applied = await applyEvent(
      context,
      operation.operation_id,
      (row) => {
        if (row.version !== operation.version) return null
        anchor = clockAnchor(context.clock)
        return dispatchEvent(context, row, tool, lease)
      },
      { actor: `worker:${lease.worker_id}`, lease, known: operation },
    )
    if (applied.ok) {
      context.worker.granted(lease)
      startAttempt(context, applied.operation, tool, { anchor, committed_at: applied.committed_at })
      return applied.operation
    }
    if (applied.conflict !== "lease") return applied.operation
    context.worker.renounce()
  }
  return operation
}
