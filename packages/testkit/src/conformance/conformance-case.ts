/** One case of the journal conformance suite, and the room it runs in. */
import type { Journal } from "@invokejs/engine"

import type { ChildProcess } from "./child-process.ts"
import type { Capability, JournalStore } from "./journal-store.ts"

export interface Room {
  readonly store: JournalStore
  /** The store's first journal. */
  readonly journal: Journal
  /** Another journal on the same store; closed after the case. */
  readonly open: (options?: { readonly wall_offset_ms?: number }) => Promise<Journal>
  /** A process that opens the store and follows one of the child's scripts; killed after the case. */
  readonly spawn: (script: string, ...words: readonly string[]) => ChildProcess
}

export interface ConformanceCase {
  /** The fact, with the ids of the requirements it stands for in brackets. */
  readonly name: string
  readonly needs?: Capability
  readonly run: (room: Room) => Promise<void>
}
