/** Duplicates that wait to be counted on the timeline: once a second at most. Nobody waits for them. */
import type { Link } from "./link.ts"
import type { MemoryStore } from "./memory-store.ts"
import { preparedEvents, sealEvents } from "./seal-events.ts"

const ONCE_EVERY_MS = 1_000

export class DuplicateCounts {
  readonly #store: MemoryStore
  readonly #link: Link
  readonly #now: () => number
  readonly #waiting = new Map<string, { count: number; actor: string }>()
  #cancel: (() => void) | null = null

  constructor(store: MemoryStore, link: Link, now: () => number) {
    this.#store = store
    this.#link = link
    this.#now = now
  }

  note(operation_id: string, actor: string): void {
    this.#waiting.set(operation_id, { count: (this.#waiting.get(operation_id)?.count ?? 0) + 1, actor })
    this.#cancel ??= this.#link.after(ONCE_EVERY_MS, () => this.flush())
  }

  flush(): void {
    this.#cancel?.()
    this.#cancel = null
    for (const [operation_id, { count, actor }] of this.#waiting) this.#count(operation_id, count, actor)
    this.#waiting.clear()
  }

  /** It moves `seq` and the head, never the version: no compare-and-set fails because somebody asked again. */
  #count(operation_id: string, count: number, actor: string): void {
    const { operations } = this.#store.rows
    const known = operations.get(operation_id)
    if (!known) return
    const at = this.#now()
    const { state: from, duplicates } = known
    const draft = { type: "duplicate_retry_blocked", from, to: from, actor, data: { count } } as const
    const head = sealEvents(this.#store, known, known, preparedEvents(this.#store, { events: [draft] }), at)
    operations.set(operation_id, { ...known, ...head, duplicates: { count: duplicates.count + count, last_at: at } })
  }
}
