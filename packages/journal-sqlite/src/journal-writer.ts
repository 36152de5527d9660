/**
 * The one writing connection of a process, on whatever thread it was opened.
 *
 * Owns: transactions, their database time, and what is known after a commit that failed. Must not: be called twice at
 * once, or wait for anything but SQLite.
 *
 * WT1. `BEGIN IMMEDIATE` for every write; each entry in its own savepoint, so that a bad one fails alone (JN4).
 * WT2. In every transaction the path must still name the file that was opened, before the entries and after the commit
 *      (R25): a file that was moved away takes commits that nobody will find.
 * WT3. Database time is the wall clock, but never earlier than the high-water mark, which moves in the same transaction.
 * WT4. Answers leave only after COMMIT returned. A COMMIT that threw is looked up under the lock, and its remains in the
 *      log are overwritten by another commit before it is called "not taken place"; else it stays in doubt.
 */
import type { Conflict, JournalErrorCode } from "@invokejs/engine"

import { copyJournal } from "./backup.ts"
import type { CopyOrder } from "./backup.ts"
import { BUSY_MS } from "./connection.ts"
import { applyEntry } from "./entries.ts"
import type { Entry, EntryKind, ReplyOf } from "./entries.ts"
import { expireWrites } from "./expire-writes.ts"
import { readMeta } from "./incarnation.ts"
import type { Meta } from "./incarnation.ts"
import { SiblingSeal } from "./sibling-seal.ts"
import { messageOf, sqliteCode, storeErrorCode } from "./sqlite-error.ts"
import type { StatementCache } from "./statement-cache.ts"
import { StoreFailure, storeFailure } from "./store-failure.ts"
import { Moved } from "./transaction.ts"
import type { Transaction } from "./transaction.ts"
import type { WatchedFile } from "./watched-file.ts"

export type EntryReply =
  | { readonly ok: true; readonly value: ReplyOf<EntryKind> }
  | { readonly ok: false; readonly conflict: Conflict }
  /** `code` null: the entry itself was refused, not the store. */
  | { readonly ok: false; readonly code: JournalErrorCode | null; readonly message: string }

export interface BatchReply {
  readonly replies: readonly EntryReply[]
  /** Database time of the transaction, and the last one committed. */
  readonly now: number
  /** Number of this commit in the journal's life; null where nothing was committed. */
  readonly commit: number | null
  readonly incarnation: string
}

/** Log written since the last checkpoint after which the next quiet moment is used for one. */
const CHECKPOINT_BYTES = 16 * 1024 * 1024
const PAGE_BYTES = 4_096
/** Pages that a commit touches beside its bodies: the journal's row, indexes, the ends of the tables. */
const PAGES_PER_COMMIT = 10

/** There was no room for the frame that makes the commit valid, or no lock to write it under. */
const NOT_COMMITTED = new Set([13, 5])

export interface WriterParts {
  readonly db: StatementCache
  readonly file: WatchedFile
  readonly wall: () => number
  readonly clock_tolerance_ms: number
}

export class JournalWriter {
  readonly #db: StatementCache
  readonly #file: WatchedFile
  readonly #sibling: SiblingSeal
  readonly #wall: () => number
  readonly #clock_tolerance_ms: number
  #incarnation: string
  #high_water: number
  #commits: number
  #logged = 0

  constructor({ db, file, wall, clock_tolerance_ms }: WriterParts, meta: Meta) {
    this.#db = db
    this.#file = file
    this.#sibling = new SiblingSeal(file)
    this.#wall = wall
    this.#clock_tolerance_ms = clock_tolerance_ms
    this.#incarnation = meta.incarnation
    this.#high_water = meta.high_water
    this.#commits = meta.commits
  }

  commit(entries: readonly Entry[]): BatchReply {
    let meta: Meta
    let txn: Transaction
    try {
      this.#db.db.exec("BEGIN IMMEDIATE")
    } catch (error) {
      return this.#failed(entries, error)
    }
    try {
      meta = this.#checkedMeta()
      txn = this.#transactionOn(meta)
      if (this.#sibling.refresh(meta, txn.now)) expireWrites(txn, meta.last_event_id)
    } catch (error) {
      this.#rollback()
      return this.#failed(entries, error)
    }
    const replies: EntryReply[] = []
    let lastEvent: string | null = null
    let wrote = false
    for (const entry of entries) {
      try {
        const outcome = this.#applyAlone(txn, entry)
        replies.push(outcome.reply)
        wrote ||= outcome.wrote
        lastEvent = outcome.event_id ?? lastEvent
      } catch (error) {
        this.#rollback()
        return this.#failed(entries, error)
      }
    }
    if (!wrote) {
      this.#rollback()
      return { replies, now: txn.now, commit: null, incarnation: this.#incarnation }
    }
    return this.#finish(entries, replies, { ...meta, high_water: txn.now, commits: meta.commits + 1 }, lastEvent)
  }

  /** Brings the sibling up to what is durable (IN1). Does nothing where this process committed nothing since. */
  seal(): void {
    if (this.#sibling.covers(this.#commits)) return
    this.#db.db.exec("BEGIN IMMEDIATE")
    try {
      const meta = this.#checkedMeta()
      this.#sibling.seal(meta, this.#transactionOn(meta).now)
    } finally {
      this.#rollback()
    }
  }

  /** As `seal`, in a quiet moment: does not wait for another process's lock. */
  sealIfFree(): void {
    this.#withoutWaiting(() => this.seal())
  }

  /** Moves the log into the file where enough has gathered. Called between commits, after their answers have left. */
  checkpoint(): void {
    if (this.#logged < CHECKPOINT_BYTES) return
    this.#logged = 0
    try {
      this.#db.get("PRAGMA wal_checkpoint(PASSIVE)")
    } catch {
      // The log stays and goes on growing; every commit in it is as durable as before. The next write says what is wrong.
    }
  }

  /** Writes a consistent copy. The target must not exist. */
  copyTo(order: CopyOrder): void {
    copyJournal(this.#db, order)
  }

  close(): void {
    try {
      this.seal()
      // Leaves the file whole without its log, also where the driver does not end the connection at once.
      this.#withoutWaiting(() => this.#db.get("PRAGMA wal_checkpoint(TRUNCATE)"))
    } catch {
      // The sibling then lags and the log stays, which is safe (IN1); what closes a journal must not fail over it.
    }
    this.#db.close()
  }

  #withoutWaiting(act: () => void): void {
    this.#db.db.exec("PRAGMA busy_timeout = 0")
    try {
      act()
    } finally {
      this.#db.db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    }
  }

  #applyAlone(
    txn: Transaction,
    entry: Entry,
  ): { readonly reply: EntryReply; readonly wrote: boolean; readonly event_id?: string | undefined } {
    const { db } = this.#db
    db.exec("SAVEPOINT entry")
    try {
      const { wrote, value, event_id } = applyEntry(txn, entry)
      db.exec(wrote ? "RELEASE entry" : "ROLLBACK TO entry; RELEASE entry")
      return { reply: { ok: true, value }, wrote, event_id }
    } catch (error) {
      this.#rollbackEntry(error)
      if (error instanceof Moved) return { reply: { ok: false, conflict: error.conflict }, wrote: false }
      return { reply: { ok: false, code: storeErrorCode(error), message: messageOf(error) }, wrote: false }
    }
  }

  #finish(entries: readonly Entry[], replies: readonly EntryReply[], meta: Meta, lastEvent: string | null): BatchReply {
    try {
      this.#db.run(
        "UPDATE meta SET high_water = ?, commits = ?, last_event_id = coalesce(?, last_event_id) WHERE id = 1",
        ...[meta.high_water, meta.commits, lastEvent],
      )
      this.#db.db.exec("COMMIT")
    } catch (error) {
      return this.#afterFailedCommit(entries, replies, { ...meta, last_event_id: lastEvent }, error)
    }
    return this.#committed(entries, replies, meta)
  }

  #committed(entries: readonly Entry[], replies: readonly EntryReply[], meta: Meta): BatchReply {
    this.#commits = meta.commits
    this.#high_water = meta.high_water
    this.#logged += PAGES_PER_COMMIT * PAGE_BYTES
    for (const entry of entries) if (entry.kind === "write") this.#logged += entry.write.change.body.length * 2
    try {
      this.#file.check()
    } catch (error) {
      return this.#failed(entries, error)
    }
    return { replies, now: meta.high_water, commit: meta.commits, incarnation: this.#incarnation }
  }

  #afterFailedCommit(
    entries: readonly Entry[],
    replies: readonly EntryReply[],
    meta: Meta,
    error: unknown,
  ): BatchReply {
    this.#rollback()
    const code = sqliteCode(error) ?? -1
    if (NOT_COMMITTED.has(code & 0xff)) return this.#failed(entries, error)
    try {
      // Only a write of this very batch tells; one that had been told before is there anyway.
      if (meta.last_event_id === null) throw error
      if (this.#tookPlace(meta.last_event_id)) return this.#committed(entries, replies, meta)
      return this.#failed(entries, error)
    } catch (doubt) {
      const message = `the commit was sent and its outcome is not known: ${messageOf(error)}; ${messageOf(doubt)}`
      return this.#refused(entries, "commit_in_doubt", message)
    }
  }

  /** Looks the batch up under the lock and overwrites its remains (WT4). Throws where that cannot be made durable. */
  #tookPlace(event_id: string): boolean {
    this.#db.db.exec("BEGIN IMMEDIATE")
    try {
      const found = this.#db.get("SELECT 1 FROM writes WHERE event_id = ?", event_id) !== undefined
      this.#db.run("UPDATE meta SET commits = commits + 1 WHERE id = 1")
      this.#db.db.exec("COMMIT")
      return found
    } catch (error) {
      this.#rollback()
      throw error
    }
  }

  #checkedMeta(): Meta {
    this.#file.check()
    const meta = readMeta(this.#db)
    if (!meta) throw new StoreFailure("journal_corrupt", `${this.#file.path} has lost its first row`)
    if (meta.commits < this.#commits || meta.high_water < this.#high_water) {
      throw new StoreFailure("journal_replaced", `${this.#file.path} went back in time while it was open`)
    }
    this.#incarnation = meta.incarnation
    return meta
  }

  /** Throws what was thrown where the savepoint went with the whole transaction: the disk is full or failing. */
  #rollbackEntry(error: unknown): void {
    try {
      this.#db.db.exec("ROLLBACK TO entry; RELEASE entry")
    } catch {
      throw error
    }
  }

  #transactionOn(meta: Meta): Transaction {
    const now = Math.max(Math.floor(this.#wall()), meta.high_water)
    const clock_tolerance_ms = this.#clock_tolerance_ms
    return { db: this.#db, now, quarantined: meta.quarantined === 1, clock_tolerance_ms }
  }

  #rollback(): void {
    try {
      this.#db.db.exec("ROLLBACK")
    } catch {
      // SQLite rolled it back by itself.
    }
  }

  #failed(entries: readonly Entry[], error: unknown): BatchReply {
    const failure = storeFailure(error, this.#file.path, "write to")
    return this.#refused(entries, failure.code, failure.message)
  }

  #refused(entries: readonly Entry[], code: JournalErrorCode, message: string): BatchReply {
    const replies = entries.map(() => ({ ok: false, code, message }) as const)
    const now = Math.max(Math.floor(this.#wall()), this.#high_water)
    return { replies, now, commit: null, incarnation: this.#incarnation }
  }
}
