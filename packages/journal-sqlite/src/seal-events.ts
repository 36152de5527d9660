/**
 * Seals events into an operation's chain: sequence, time, hashes (protocol §12).
 *
 * SE1. The chain goes on from the head stored in the row, read in the same transaction; (operation_id, seq) is unique.
 * SE2. All events of one transaction bear its database time.
 */
import { GENESIS_HASH, auditPreimage } from "@invokejs/protocol"
import type { AuditEvent } from "@invokejs/protocol"

import type { PreparedEvent } from "./prepared-write.ts"
import { sha256 } from "./sha256.ts"
import type { StatementCache } from "./statement-cache.ts"

export interface ChainHead {
  readonly seq: number
  readonly head_hash: string
}

export const EMPTY_CHAIN: ChainHead = { seq: 0, head_hash: GENESIS_HASH }

const INSERT_EVENT =
  "INSERT INTO events (operation_id, tenant, seq, at, type, from_state, to_state, actor, data, data_digest, prev_hash, hash) " +
  "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

export function sealEvents(
  db: StatementCache,
  owner: { readonly operation_id: string; readonly tenant: string },
  head: ChainHead,
  events: readonly PreparedEvent[],
  at: number,
): ChainHead {
  const { operation_id, tenant } = owner
  let { seq, head_hash } = head
  for (const event of events) {
    const sealed = {
      operation_id,
      tenant,
      seq: seq + 1,
      at,
      type: event.type as AuditEvent["type"],
      from: event.from as AuditEvent["from"],
      to: event.to as AuditEvent["to"],
      actor: event.actor,
      data_digest: event.data_digest,
      prev_hash: head_hash,
    }
    const hash = sha256(auditPreimage(sealed))
    db.run(
      INSERT_EVENT,
      ...[operation_id, tenant, sealed.seq, at, event.type, event.from, event.to],
      ...[event.actor, event.data, event.data_digest, head_hash, hash],
    )
    seq = sealed.seq
    head_hash = hash
  }
  return { seq, head_hash }
}
