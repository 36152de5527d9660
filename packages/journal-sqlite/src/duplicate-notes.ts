/**
 * Duplicates that wait to be counted: together per operation, at most once a second, on a commit that runs anyway.
 *
 * DN1. Nobody waits for them, and a journal that cannot take them now loses nothing but a count.
 */
import type { Clock } from "@invokejs/engine"

import type { EntryOf } from "./entries.ts"

const ONCE_EVERY_MS = 1_000

interface Note {
  count: number
  actor: string
}

export class DuplicateNotes {
  readonly #clock: Clock
  readonly #flush: (entries: readonly EntryOf<"duplicate">[]) => void
  readonly #notes = new Map<string, Note>()
  #cancel: (() => void) | null = null

  constructor(clock: Clock, flush: (entries: readonly EntryOf<"duplicate">[]) => void) {
    this.#clock = clock
    this.#flush = flush
  }

  note(operation_id: string, actor: string): void {
    const known = this.#notes.get(operation_id)
    this.#notes.set(operation_id, { count: (known?.count ?? 0) + 1, actor })
    this.#cancel ??= this.#clock.after(ONCE_EVERY_MS, () => this.flush())
  }

  flush(): void {
    this.#cancel?.()
    this.#cancel = null
    if (this.#notes.size === 0) return
    const entries = [...this.#notes].map(
      ([operation_id, note]) => ({ kind: "duplicate", operation_id, ...note }) as const,
    )
    this.#notes.clear()
    this.#flush(entries)
  }
}
