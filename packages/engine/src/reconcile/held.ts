/**
 * Held operations, judged afresh when the one that fills their slot moves (protocol §2, "Intent slot").
 *
 * HE1. A held operation takes the slot by compare-and-set in the write that makes it `ready`: two never hold one.
 * HE2. Only the holder's end releases or refuses it; the end of `repeatWindow` releases nothing held.
 */
import { fillsSlot, isTerminal, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"

const HELD_AT_ONCE = 100

/** The ones this operation holds back; without one, every held operation. */
export async function judgeHeld(context: EngineContext, holder?: Operation): Promise<void> {
  const held = holder
    ? await context.journal.heldBy(holder.operation_id)
    : (await context.journal.operations({ states: ["held"] }, { limit: HELD_AT_ONCE })).items
  for (const operation of held) await judgeOne(context, operation)
}

async function judgeOne(context: EngineContext, operation: Operation): Promise<void> {
  if (operation.held_by === null || operation.intent_digest === null) return
  const name = { tenant: operation.tenant, namespace: operation.namespace, intent_digest: operation.intent_digest }
  const window = context.tools.of(operation)?.repeat_window_ms
  let version = 0
  await applyEvent(
    context,
    operation.operation_id,
    async (row) => {
      if (row.state !== "held") return null
      const slot = await context.journal.slot(name)
      version = slot?.version ?? 0
      const holder = slot?.operation_id ? await context.journal.operation(slot.operation_id) : null
      if (holder && !isTerminal(holder.state)) return null
      const filled = holder !== null && fillsSlot(holder, context.journal.now(), window)
      return { type: "slot", free: !filled, held_by: holder?.operation_id ?? null }
    },
    {
      actor: "engine",
      slots: (next) =>
        next.state === "ready" ? [{ ...name, expect_version: version, operation_id: next.operation_id }] : [],
    },
  )
  context.wake()
}
