/**
 * One write of the engine, inside a shared transaction and its own savepoint: everything it names is compared, then all
 * of it is written, or nothing (JN1).
 *
 * AW1. Every row the decision rests on is compared in this transaction: nothing is taken from an earlier read.
 * AW2. An attempt enters the journal only by a write that brings a lease (S2); `advance` cannot add one.
 * AW3. The same `event_id` changes nothing; it answers with the first time and the operation as it is now (JN3).
 */
import type { ObjectRow, SlotChange } from "@invokejs/engine"

import { takeLease } from "./leases.ts"
import type { PreparedChange, PreparedIncident, PreparedSet, PreparedWrite } from "./prepared-write.ts"
import { EMPTY_CHAIN, sealEvents } from "./seal-events.ts"
import type { ChainHead } from "./seal-events.ts"
import { Moved } from "./transaction.ts"
import type { Outcome, Transaction } from "./transaction.ts"

export interface Sealed extends ChainHead {
  readonly duplicates: number
  readonly duplicated_at: number | null
}

export type WriteReply =
  | { readonly first: true; readonly committed_at: number; readonly sealed: Sealed }
  /** The write had taken place before; its operation is to be read. */
  | { readonly first: false; readonly committed_at: number }

interface StoredHead extends Sealed {
  readonly version: number
  readonly tenant: string
  readonly attempts: number
}

export function applyWrite(txn: Transaction, write: PreparedWrite): Outcome<WriteReply> {
  const { db, now } = txn
  const { change, event_id } = write
  const prior = db.get<{ at: number }>("SELECT at FROM writes WHERE event_id = ?", event_id)
  if (prior) return { wrote: false, value: { first: false, committed_at: prior.at } }

  if (Math.abs(write.at - now) > txn.clock_tolerance_ms) throw new Moved({ on: "clock" })
  if (write.write_kind === "dispatch" || write.lease !== null) {
    if (txn.quarantined) throw new Moved({ on: "quarantine" })
    if (write.lease === null) throw new Error(`dispatch of ${change.operation_id} without a lease`)
    takeLease(txn, write.lease)
  }

  if (write.write_kind === "admit") takeKeys(txn, write)
  const sealed = applyChange(txn, change, write.lease !== null)
  for (const other of [...write.also].sort((a, b) => (a.operation_id < b.operation_id ? -1 : 1))) {
    if (other.tenant !== change.tenant) throw new Error(`${other.operation_id} is of another tenant`)
    applyChange(txn, other, false)
  }
  for (const slot of write.slots) moveSlot(txn, slot)
  for (const object of write.objects) claimObject(txn, object)
  for (const set of write.sets) compareAndSet(txn, set)
  for (const incident of write.incidents) insertIncident(txn, incident)
  db.run("INSERT INTO writes (event_id, operation_id, at) VALUES (?, ?, ?)", event_id, change.operation_id, now)
  return { wrote: true, event_id, value: { first: true, committed_at: now, sealed } }
}

/** Keys, revision and resource of an admission. */
function takeKeys({ db, now }: Transaction, write: PreparedWrite): void {
  const { change } = write
  for (const { tenant, key, chain, kind } of write.keys) {
    const row = db.get<{ chain: string }>("SELECT chain FROM chain_keys WHERE tenant = ? AND key = ?", tenant, key)
    if (row && row.chain !== chain) throw new Moved({ on: "key", key })
    if (!row)
      db.run(
        "INSERT INTO chain_keys (tenant, key, chain, kind, at) VALUES (?, ?, ?, ?, ?)",
        tenant,
        key,
        chain,
        kind,
        now,
      )
  }
  const newest = db.get<{ revision: number | null }>(
    "SELECT max(revision) AS revision FROM operations WHERE tenant = ? AND chain = ?",
    change.tenant,
    change.chain,
  )
  if ((newest?.revision ?? 0) !== write.expect_revision) throw new Moved({ on: "revision" })
  if (write.resource === null) return
  const { resource, expect_operation_id } = write.resource
  const holder = db.get<{ operation_id: string }>(
    "SELECT operation_id FROM resources WHERE tenant = ? AND resource = ?",
    change.tenant,
    resource,
  )
  if ((holder?.operation_id ?? null) !== expect_operation_id) throw new Moved({ on: "resource" })
  db.run(
    "INSERT INTO resources (tenant, resource, operation_id) VALUES (?, ?, ?) " +
      "ON CONFLICT (tenant, resource) DO UPDATE SET operation_id = excluded.operation_id",
    change.tenant,
    resource,
    change.operation_id,
  )
}

function applyChange(txn: Transaction, change: PreparedChange, mayDispatch: boolean): Sealed {
  const { db, now } = txn
  const { operation_id, expect_version } = change
  const stored = db.get<StoredHead>(
    "SELECT version, tenant, attempts, seq, head_hash, duplicates, duplicated_at FROM operations WHERE operation_id = ?",
    operation_id,
  )
  if ((stored?.version ?? 0) !== expect_version) throw new Moved({ on: "operation", operation_id })
  if (change.version <= expect_version) throw new Error(`${operation_id}: version ${change.version} does not grow`)
  if (stored && stored.tenant !== change.tenant) throw new Error(`${operation_id} is of another tenant`)
  if (change.attempts > (stored?.attempts ?? 0) && !mayDispatch) {
    throw new Error(`${operation_id}: an attempt is added without a lease`)
  }
  const head = sealEvents(db, change, stored ?? EMPTY_CHAIN, change.events, now)
  if (stored) updateOperation(txn, change, head)
  else insertOperation(txn, change, head)
  return { ...head, duplicates: stored?.duplicates ?? 0, duplicated_at: stored?.duplicated_at ?? null }
}

function insertOperation({ db }: Transaction, change: PreparedChange, head: ChainHead): void {
  db.run(
    "INSERT INTO operations (operation_id, tenant, chain, revision, version, state, terminal, contradicted, tool, " +
      "namespace, agent_id, run_id, held_by, match_digest, object_id, attempts, worker_id, lease_token, created_at, " +
      "settled_at, due_at, seq, head_hash, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ...[change.operation_id, change.tenant, change.chain, change.revision, change.version, change.state],
    ...[change.terminal, change.contradicted, change.tool, change.namespace, change.agent_id, change.run_id],
    ...[change.held_by, change.match_digest, change.object_id, change.attempts, change.worker_id, change.lease_token],
    ...[change.created_at, change.settled_at, change.due_at, head.seq, head.head_hash, change.body],
  )
  for (const [field, value] of change.fields) {
    db.run(
      "INSERT INTO operation_fields (field, value, operation_id) VALUES (?, ?, ?)",
      ...[field, value, change.operation_id],
    )
  }
}

function updateOperation({ db }: Transaction, change: PreparedChange, head: ChainHead): void {
  db.run(
    "UPDATE operations SET version = ?, state = ?, terminal = ?, contradicted = ?, held_by = ?, object_id = ?, " +
      "attempts = ?, worker_id = ?, lease_token = ?, settled_at = ?, due_at = ?, seq = ?, head_hash = ?, body = ? " +
      "WHERE operation_id = ?",
    ...[change.version, change.state, change.terminal, change.contradicted, change.held_by, change.object_id],
    ...[change.attempts, change.worker_id, change.lease_token, change.settled_at, change.due_at],
    ...[head.seq, head.head_hash, change.body, change.operation_id],
  )
}

function moveSlot({ db }: Transaction, slot: SlotChange): void {
  const { tenant, namespace, intent_digest, expect_version, operation_id } = slot
  const row = db.get<{ version: number }>(
    "SELECT version FROM slots WHERE tenant = ? AND namespace = ? AND intent_digest = ?",
    ...[tenant, namespace, intent_digest],
  )
  if ((row?.version ?? 0) !== expect_version) throw new Moved({ on: "slot" })
  db.run(
    "INSERT INTO slots (tenant, namespace, intent_digest, operation_id, version) VALUES (?, ?, ?, ?, ?) " +
      "ON CONFLICT DO UPDATE SET operation_id = excluded.operation_id, version = excluded.version",
    ...[tenant, namespace, intent_digest, operation_id, expect_version + 1],
  )
}

function claimObject({ db }: Transaction, object: ObjectRow): void {
  const { tenant, account, object_id, kind, operation_id } = object
  const row = db.get<{ operation_id: string }>(
    "SELECT operation_id FROM objects WHERE tenant = ? AND account = ? AND object_id = ? AND kind = ?",
    ...[tenant, account, object_id, kind],
  )
  if (row && row.operation_id !== operation_id) {
    throw new Moved({ on: "object", object_id, operation_id: row.operation_id })
  }
  if (row) return
  db.run(
    "INSERT INTO objects (tenant, account, object_id, kind, operation_id) VALUES (?, ?, ?, ?, ?)",
    ...[tenant, account, object_id, kind, operation_id],
  )
}

/** Answers the row's new version. A deleted row counts as absent (version 0) and keeps counting where it was. */
export function compareAndSet({ db, now }: Transaction, set: PreparedSet): number {
  const { table, tenant, id, expect_version, value } = set
  const row = db.get<{ version: number; value: string | null }>(
    "SELECT version, value FROM sets WHERE kind = ? AND tenant = ? AND id = ?",
    ...[table, tenant, id],
  )
  const version = row === undefined || row.value === null ? 0 : row.version
  if (version !== expect_version) throw new Moved({ on: "set", table, id })
  if (row === undefined && value === null) return 0
  const next = (row?.version ?? 0) + 1
  db.run(
    "INSERT INTO sets (kind, tenant, id, version, at, value) VALUES (?, ?, ?, ?, ?, ?) " +
      "ON CONFLICT DO UPDATE SET version = excluded.version, at = excluded.at, value = excluded.value",
    ...[table, tenant, id, next, now, value],
  )
  return next
}

export function insertIncident({ db, now }: Transaction, incident: PreparedIncident): void {
  const { incident_id, tenant, kind, operation_id, detail } = incident
  db.run(
    "INSERT INTO incidents (incident_id, tenant, kind, operation_id, detail, opened_at) VALUES (?, ?, ?, ?, ?, ?)",
    ...[incident_id, tenant, kind, operation_id, detail, now],
  )
}
