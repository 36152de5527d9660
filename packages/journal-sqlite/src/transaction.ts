/** What every entry of a shared commit sees: the connection, the transaction's database time, the journal's row. */
import type { Conflict } from "@invokejs/engine"

import type { StatementCache } from "./statement-cache.ts"

export interface Transaction {
  readonly db: StatementCache
  /** Database time of this transaction: never earlier than any time committed before. */
  readonly now: number
  readonly quarantined: boolean
  /** How far a write's own time may be from `now`. */
  readonly clock_tolerance_ms: number
}

/** An entry's answer. `wrote` false: the entry's savepoint is rolled back, whatever it did. */
export interface Outcome<T> {
  readonly wrote: boolean
  readonly value: T
  /** Client-made id of the write, where the entry is one. */
  readonly event_id?: string
}

/** Thrown inside an entry to roll it back and answer with what had moved. */
export class Moved extends Error {
  readonly conflict: Conflict
  constructor(conflict: Conflict) {
    super(`conflict on ${conflict.on}`)
    this.conflict = conflict
  }
}
