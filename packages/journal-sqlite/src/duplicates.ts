/**
 * Counts a duplicate that was joined or replayed, on the operation's own timeline.
 *
 * DU1. It moves `seq`, the head and the count, never the version: a compare-and-set of the engine that is under way must
 *      not fail because somebody asked again.
 */
import { canonicalJson } from "@invokejs/protocol"

import { sealEvents } from "./seal-events.ts"
import { sha256 } from "./sha256.ts"
import type { Outcome, Transaction } from "./transaction.ts"

interface Noted {
  readonly tenant: string
  readonly seq: number
  readonly head_hash: string
  readonly state: string
}

export function noteDuplicate(
  { db, now }: Transaction,
  entry: { readonly operation_id: string; readonly count: number; readonly actor: string },
): Outcome<null> {
  const { operation_id, count, actor } = entry
  const row = db.get<Noted>("SELECT tenant, seq, head_hash, state FROM operations WHERE operation_id = ?", operation_id)
  if (!row) return { wrote: false, value: null }
  const data = canonicalJson({ count })
  const event = {
    type: "duplicate_retry_blocked",
    from: row.state,
    to: row.state,
    actor,
    data,
    data_digest: sha256(data),
  }
  const head = sealEvents(db, { operation_id, tenant: row.tenant }, row, [event], now)
  db.run(
    "UPDATE operations SET seq = ?, head_hash = ?, duplicates = duplicates + ?, duplicated_at = ? WHERE operation_id = ?",
    ...[head.seq, head.head_hash, count, now, operation_id],
  )
  return { wrote: true, value: null }
}
