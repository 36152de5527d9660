/**
 * Everything that a shared commit may hold: the engine's writes, and the journal's own small ones. Each entry is plain
 * data, so that it can be handed to the writer's thread, and runs in a savepoint of its own.
 */
import type { Lease } from "@invokejs/engine"

import { applyWrite, compareAndSet, insertIncident } from "./apply-write.ts"
import type { WriteReply } from "./apply-write.ts"
import { noteDuplicate } from "./duplicates.ts"
import { renewLease } from "./leases.ts"
import type { PreparedIncident, PreparedWrite } from "./prepared-write.ts"
import { purgePayloads } from "./purge.ts"
import type { PurgeEntry, PurgeReply } from "./purge.ts"
import type { Outcome, Transaction } from "./transaction.ts"
import { closeWorker, markWorkerGone, registerWorker } from "./worker-rows.ts"
import type { RegisteredWorker } from "./worker-rows.ts"

export interface CheckpointReply {
  readonly version: number
  readonly at: number
}

/** What each kind of entry carries, and what it is answered with. */
export interface EntryKinds {
  write: { entry: { readonly write: PreparedWrite }; reply: WriteReply }
  settled: { entry: { readonly event_id: string; readonly operation_id: string }; reply: boolean }
  duplicate: { entry: { readonly operation_id: string; readonly count: number; readonly actor: string }; reply: null }
  register: { entry: { readonly worker: RegisteredWorker; readonly fresh: boolean }; reply: boolean }
  renew: { entry: { readonly lease: Lease; readonly now: number }; reply: boolean }
  close_worker: { entry: { readonly worker_id: string }; reply: boolean }
  mark_gone: { entry: { readonly worker_id: string; readonly proof: string }; reply: null }
  open_incident: { entry: { readonly incident: PreparedIncident }; reply: null }
  close_incident: {
    entry: { readonly incident_id: string; readonly by: string; readonly resolution: string }
    reply: null
  }
  checkpoint: {
    entry: {
      readonly tenant: string
      readonly id: string
      readonly expect_version: number
      readonly value: string | null
    }
    reply: CheckpointReply
  }
  lift: { entry: { readonly by: string; readonly statement: string }; reply: null }
  purge: { entry: PurgeEntry; reply: PurgeReply }
}

export type EntryKind = keyof EntryKinds
export type EntryOf<K extends EntryKind> = { readonly kind: K } & EntryKinds[K]["entry"]
export type Entry = { [K in EntryKind]: EntryOf<K> }[EntryKind]
export type ReplyOf<K extends EntryKind> = EntryKinds[K]["reply"]

const wrote = <T>(value: T): Outcome<T> => ({ wrote: true, value })

export function applyEntry(txn: Transaction, entry: Entry): Outcome<ReplyOf<EntryKind>> {
  switch (entry.kind) {
    case "write":
      return applyWrite(txn, entry.write)
    case "settled":
      // Counts as a write: its commit overwrites what a commit that failed half-way may have left in the log, so that
      // "it did not take place" stays true after a crash.
      return wrote(isSettled(txn, entry.event_id))
    case "duplicate":
      return noteDuplicate(txn, entry)
    case "register":
      return registerWorker(txn, entry.worker, entry.fresh)
    case "renew": {
      const renewed = renewLease(txn, entry.lease, entry.now)
      return { wrote: renewed, value: renewed }
    }
    case "close_worker":
      return closeWorker(txn, entry.worker_id)
    case "mark_gone":
      return markWorkerGone(txn, entry.worker_id, entry.proof)
    case "open_incident":
      insertIncident(txn, entry.incident)
      return wrote(null)
    case "close_incident":
      return closeIncident(txn, entry)
    case "checkpoint": {
      const version = compareAndSet(txn, { ...entry, table: "checkpoint" })
      return wrote({ version, at: txn.now })
    }
    case "lift":
      return liftQuarantine(txn, entry)
    case "purge":
      return purgePayloads(txn, entry)
  }
}

function isSettled({ db }: Transaction, event_id: string): boolean {
  return db.get("SELECT 1 FROM writes WHERE event_id = ?", event_id) !== undefined
}

function closeIncident({ db, now }: Transaction, entry: EntryOf<"close_incident">): Outcome<null> {
  const changed = db.run(
    "UPDATE incidents SET closed_at = ?, closed_by = ?, resolution = ? WHERE incident_id = ? AND closed_at IS NULL",
    ...[now, entry.by, entry.resolution, entry.incident_id],
  )
  return { wrote: changed > 0, value: null }
}

function liftQuarantine({ db, now }: Transaction, { by, statement }: EntryOf<"lift">): Outcome<null> {
  const changed = db.run(
    "UPDATE quarantines SET lifted_at = ?, lifted_by = ?, statement = ? WHERE lifted_at IS NULL",
    ...[now, by, statement],
  )
  db.run("UPDATE meta SET quarantined = 0 WHERE id = 1")
  return { wrote: changed > 0, value: null }
}
