/**
 * A write of a state that a later write of the same resource has overtaken is not sent any more (R15, item 3).
 *
 * OV1. After an attempt, any later admitted write bars another one: sending ours again would undo it.
 *      What is unknown about it is still looked up, and answered with by nobody's second sending.
 * OV2. Before the first attempt only a later write that is in place does: two that wait side by side may go in either order.
 */
import { isTerminal, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"

export async function overwritten(context: EngineContext, operation: Operation): Promise<boolean> {
  const { resource, tenant, operation_id, attempts } = operation
  if (resource === null || operation.contract.lookup?.correlates !== "state") return false
  const later = await context.journal.resourceWriter(tenant, resource)
  if (later === null || later === operation_id) return false
  const writer = await context.journal.operation(later)
  if (!writer || !counts(writer, attempts.length > 0)) return false
  await applyEvent(
    context,
    operation_id,
    (row) =>
      row.state === "ready"
        ? {
            type: "policy_refused",
            reason: { code: "overwritten", text: `a later write of ${resource} was admitted: ${later}` },
          }
        : null,
    { actor: "engine", known: operation },
  )
  return true
}

/** One that succeeded wrote, also where a restored journal knows no attempt of it; one that ended unsent wrote nothing. */
function counts(writer: Operation, sent: boolean): boolean {
  if (writer.state === "succeeded") return true
  return sent && !(writer.attempts.length === 0 && isTerminal(writer.state))
}
