/** The journal in memory as a subject of the conformance suite: several journals on one store, in one process. */
import { systemClock } from "@invokejs/engine"
import type { AuditEvent } from "@invokejs/protocol"
import type { JournalStore, JournalSubject, Tampering } from "../../conformance/journal-store.ts"
import { plainLink } from "./link.ts"
import { openMemoryJournal } from "./memory-journal.ts"
import { MemoryStore } from "./memory-store.ts"

export const memorySubject: JournalSubject = {
  name: "memory",
  without: ["processes"],
  create: async (): Promise<JournalStore> => {
    const store = new MemoryStore()
    return {
      open: async ({ wall_offset_ms = 0 } = {}) =>
        openMemoryJournal(
          store,
          plainLink({
            clock: () => systemClock.wall() + wall_offset_ms,
            after: (ms, fn) => systemClock.after(ms, fn),
            owner: {},
          }),
        ),
      child: { module: "", argument: "" },
      tamper: (operation_id, how) => tamper(store, operation_id, how),
      forgetIncarnation: () => {
        store.suspect = true
      },
      dispose: () => undefined,
    }
  },
}

function tamper(store: MemoryStore, operation_id: string, how: Tampering): void {
  const timeline = store.rows.timelines.get(operation_id) ?? []
  const edit = (seq: number, change: Partial<AuditEvent>) => {
    const known = timeline[seq - 1]
    if (known) timeline[seq - 1] = { ...known, ...change }
  }
  switch (how) {
    case "edit_event":
      return edit(2, { to: "failed" })
    case "edit_data":
      return edit(2, { data: { amount: 1 } })
    case "edit_actor":
      return edit(3, { actor: "operator:eve" })
    case "drop_event":
      return void timeline.splice(1, 1)
    case "drop_last_event":
      return void timeline.splice(3, 1)
  }
}
