/**
 * Forgets the ids of old writes, so that the table is bounded by age.
 *
 * EX1. Runs only in a transaction whose sibling was just sealed, and keeps the write that the sibling names and everything
 *      after it: else a crash would leave a sibling that names a write the file does not know.
 */
import type { Transaction } from "./transaction.ts"

/** Far beyond any doubt about a commit, far below the life of a journal. */
const KEPT_MS = 7 * 24 * 3_600_000
/** At most once a second, so this bounds one commit's extra work and still outruns any writer. */
const STEP = 20_000

export function expireWrites({ db, now }: Transaction, last_event_id: string | null): void {
  const cutoff = now - KEPT_MS
  // Asked first, since a table with nothing old must not be walked through.
  const oldest = db.get<{ n: number; at: number }>("SELECT n, at FROM writes ORDER BY n LIMIT 1")
  if (!oldest || oldest.at >= cutoff || last_event_id === null) return
  db.run(
    "DELETE FROM writes WHERE n < ? AND at < ? AND n < (SELECT n FROM writes WHERE event_id = ?)",
    ...[oldest.n + STEP, cutoff, last_event_id],
  )
}
