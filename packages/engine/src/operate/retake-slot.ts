/**
 * A retry takes its intent slot again, by compare-and-set, or is refused (protocol §2; item 8c).
 *
 * RS1. Two operations never hold one slot: the slot's row is in the write that makes the operation `ready`.
 */
import { fillsSlot, isTerminal, type Operation, type OperationEvent } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent, type Applied, type WriteOptions } from "../operation-writer.ts"

export interface Retake extends Pick<WriteOptions, "actor" | "event_id"> {
  readonly event: (row: Operation) => OperationEvent | null
}

/** A held operation that a person lets go on takes the slot from its holder, whoever that is by now (ID-8). */
export async function takeSlotAllowed(
  context: EngineContext,
  operation: Operation,
  event: (row: Operation) => OperationEvent,
  options: Pick<WriteOptions, "actor" | "event_id">,
): Promise<Applied> {
  const { intent_digest, tenant, namespace, operation_id } = operation
  if (intent_digest === null) return applyEvent(context, operation_id, event, options)
  const name = { tenant, namespace, intent_digest }
  let version = 0
  return applyEvent(
    context,
    operation_id,
    async (row) => {
      version = (await context.journal.slot(name))?.version ?? 0
      return event(row)
    },
    {
      ...options,
      slots: (next) => (next.state === "ready" ? [{ ...name, expect_version: version, operation_id }] : []),
    },
  )
}

export async function retakeSlot(
  context: EngineContext,
  operation: Operation,
  { event, ...options }: Retake,
): Promise<Applied> {
  const { intent_digest } = operation
  const name =
    intent_digest === null ? null : { tenant: operation.tenant, namespace: operation.namespace, intent_digest }
  let version = 0
  let refusal: Applied | null = null
  const applied = await applyEvent(
    context,
    operation.operation_id,
    async (row) => {
      if (!name) return event(row)
      const slot = await context.journal.slot(name)
      version = slot?.version ?? 0
      const other = slot?.operation_id != null && slot.operation_id !== row.operation_id
      const holder = other && slot.operation_id !== null ? await context.journal.operation(slot.operation_id) : null
      const window = context.tools.of(row)?.repeat_window_ms
      if (holder && (!isTerminal(holder.state) || fillsSlot(holder, context.journal.now(), window))) {
        const text = `an equal action took its place: ${holder.operation_id}`
        refusal = {
          ok: false,
          operation: row,
          illegal: { ok: false, code: "retry_refused", text, state: row.state },
          conflict: null,
        }
        return null
      }
      return event(row)
    },
    {
      ...options,
      slots: (next) => (name ? [{ ...name, expect_version: version, operation_id: next.operation_id }] : []),
    },
  )
  return refusal ?? applied
}
