/**
 * Duplicates that wait to be counted: together per operation, on a commit that runs anyway.
 *
 * DN1. Nobody waits for them, and a journal that cannot take them now loses nothing but a count.
 * DN2. An operation gets at most one such event a second, however often it is asked for and however many commits pass.
 */
import type { Clock } from "@invokejs/engine"

import type { EntryOf } from "./entries.ts"

const ONCE_EVERY_MS = 1_000

interface Note {
  readonly count: number
  readonly actor: string
}

export class DuplicateNotes {
  readonly #clock: Clock
  readonly #flush: (entries: readonly EntryOf<"duplicate">[]) => void
  readonly #notes = new Map<string, Note>()
  /** Until when, on the monotonic clock, an operation gets no further event. */
  readonly #quiet = new Map<string, number>()
  #cancel: (() => void) | null = null

  constructor(clock: Clock, flush: (entries: readonly EntryOf<"duplicate">[]) => void) {
    this.#clock = clock
    this.#flush = flush
  }

  note(operation_id: string, actor: string): void {
    const known = this.#notes.get(operation_id)
    this.#notes.set(operation_id, { count: (known?.count ?? 0) + 1, actor })
    this.#wait()
  }

  /** Hands over what may be told now; `all` where there will be no later. */
  flush(all = false): void {
    const now = this.#clock.monotonic()
    const entries: EntryOf<"duplicate">[] = []
    for (const [operation_id, note] of this.#notes) {
      if (!all && (this.#quiet.get(operation_id) ?? now) > now) continue
      this.#notes.delete(operation_id)
      this.#quiet.set(operation_id, now + ONCE_EVERY_MS)
      entries.push({ kind: "duplicate", operation_id, ...note })
    }
    if (entries.length > 0) this.#flush(entries)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  #wait(): void {
    this.#cancel ??= this.#clock.after(ONCE_EVERY_MS, () => {
      this.#cancel = null
      this.flush()
      const now = this.#clock.monotonic()
      for (const [operation_id, until] of this.#quiet) if (until <= now) this.#quiet.delete(operation_id)
      if (this.#notes.size > 0 || this.#quiet.size > 0) this.#wait()
    })
  }
}
