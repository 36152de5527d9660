/**
 * Held operations, judged afresh when the one that fills their slot moves (protocol §2, "Intent slot").
 *
 * HE1. A held operation takes the slot by compare-and-set in the write that makes it `ready`: two never hold one.
 * HE2. Only the holder's end releases or refuses it, as it was then; the end of `repeatWindow` releases nothing held.
 * HE3. Where the slot went to another unresolved operation, it waits for that one.
 */
import { fillsSlot, isTerminal, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import type { Page } from "../ports/journal.ts"

const PAGE = 100

/** The ones this operation holds back; without one, every held operation. */
export async function judgeHeld(context: EngineContext, holder?: Operation): Promise<void> {
  if (holder) {
    for (const operation of await context.journal.heldBy(holder.operation_id)) await judgeOne(context, operation)
    return
  }
  let cursor: string | null = null
  do {
    const page: Page<Operation> = await context.journal.operations(
      { states: ["held"] },
      cursor === null ? { limit: PAGE } : { limit: PAGE, cursor },
    )
    for (const operation of page.items) await judgeOne(context, operation)
    cursor = page.next_cursor
  } while (cursor !== null)
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
      const now = context.journal.now()
      // Its own time is over: that timer leads out, whatever became of the slot meanwhile.
      if (row.state !== "held" || (row.due_at !== null && row.due_at <= now)) return null
      const slot = await context.journal.slot(name)
      version = slot?.version ?? 0
      const holder = slot?.operation_id ? await context.journal.operation(slot.operation_id) : null
      if (holder && !isTerminal(holder.state)) {
        if (holder.operation_id === row.held_by || holder.operation_id === row.operation_id) return null
        return { type: "slot", free: false, held_by: holder.operation_id, unresolved: true }
      }
      const filled = holder !== null && fillsSlot(holder, holder.settled_at ?? now, window)
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
