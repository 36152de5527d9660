/**
 * Attempt n of an operation: the dispatch record, then the tool (protocol §5).
 *
 * DS1. The record is durable before the tool is called; a tool whose record did not commit is never called (S2).
 * DS2. A lease that was refused is renounced; the next decision is made with a new one.
 * DS3. A record whose commit stays in doubt starts nothing; once it is found, that its tool never started is recorded (R23).
 * DS4. A process that closes writes no dispatch record.
 */
import { DEFAULTS, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent, isInDoubt } from "../operation-writer.ts"
import { startAttempt } from "./attempt.ts"
import { clockAnchor, dispatchEvent } from "./dispatch-record.ts"
import { tellNeverStarted } from "./never-started.ts"
import type { CompiledTool } from "../tool/compiled-tool.ts"

/** Writes the next dispatch record and starts its attempt. The attempt goes on in the background. */
export function dispatchOperation(
  context: EngineContext,
  operation: Operation,
  tool: CompiledTool,
): Promise<Operation> {
  return context.admissions.run([operation.operation_id], () => dispatchNow(context, operation, tool))
}

async function dispatchNow(context: EngineContext, operation: Operation, tool: CompiledTool): Promise<Operation> {
  for (let registration = 0; registration < 3; registration += 1) {
    const lease = await context.worker.lease(context.journal.now())
    const event_id = context.ids.event()
    let anchor = clockAnchor(context.clock)
    const applied = await applyEvent(
      context,
      operation.operation_id,
      (row) => {
        if (row.version !== operation.version || context.draining()) return null
        anchor = clockAnchor(context.clock)
        return dispatchEvent(context, row, tool, lease)
      },
      { actor: `worker:${lease.worker_id}`, lease, known: operation, event_id },
    ).catch((error: unknown) => {
      const attempt = operation.attempts.length + 1
      if (isInDoubt(error)) tellNeverStarted(context, { operation_id: operation.operation_id, attempt, event_id })
      throw error
    })
    if (applied.ok) {
      context.worker.granted(lease)
      const attempt = operation.attempts.length + 1
      startAttempt(context, applied.operation, tool, { attempt, anchor, committed_at: applied.committed_at })
      return applied.operation
    }
    if (applied.illegal !== null) return putOff(context, applied.operation, applied.illegal.text)
    if (applied.conflict !== "lease") return applied.operation
    context.worker.renounce(lease)
  }
  return operation
}

/** A dispatch that the protocol refuses is refused again a moment later: the row waits instead of staying due. */
async function putOff(context: EngineContext, refused: Operation, text: string): Promise<Operation> {
  const until = context.journal.now() + DEFAULTS.backoff_max_ms
  const reason = { code: "dispatch_refused", text }
  const applied = await applyEvent(
    context,
    refused.operation_id,
    (row) => (row.version === refused.version && row.state === "ready" ? { type: "postpone", until, reason } : null),
    { actor: "engine", known: refused },
  )
  return applied.operation
}
