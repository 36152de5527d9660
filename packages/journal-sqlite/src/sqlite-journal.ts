/**
 * The journal on one SQLite file: `ports/journal.ts` on a writer (in a thread or inline) and a reading connection.
 *
 * Owns: nothing but the wiring; invariants JN1-JN7 are kept by the files it calls.
 * Must not: decide, or open the file in any third way (R25).
 */
import { JournalError } from "@invokejs/engine"
import type { Clock, Journal, JournalIdentity, JournalWorkers, JournalWrite, WriteResult } from "@invokejs/engine"
import type { Json } from "@invokejs/protocol"
import { statSync } from "node:fs"
import { resolve } from "node:path"

import { connectReader } from "./connection.ts"
import { DuplicateNotes } from "./duplicate-notes.ts"
import type { Driver } from "./driver.ts"
import type { Entry, EntryKind, EntryOf, ReplyOf } from "./entries.ts"
import { readFacts } from "./facts.ts"
import type { FileSystem } from "./file-system-kind.ts"
import { GroupCommit } from "./group-commit.ts"
import type { WriterLink } from "./group-commit.ts"
import { SEAL_AFTER_MS, readMeta } from "./incarnation.ts"
import type { BatchReply, EntryReply } from "./journal-writer.ts"
import { openWorkers } from "./journal-workers.ts"
import type { Machine } from "./machine.ts"
import { Notifier } from "./notifier.ts"
import type { WriterFacts } from "./open-writer.ts"
import { withSealed } from "./operation-row.ts"
import { prepareIncident, prepareWrite } from "./prepared-write.ts"
import * as operations from "./read-operations.ts"
import * as timeline from "./read-timeline.ts"
import { journalError, readError } from "./journal-error.ts"
import { WatchedFile } from "./watched-file.ts"
import type { StatementCache } from "./statement-cache.ts"

/** Operations purged in one commit: some ms of work. */
const PURGE_STEP = 100

export interface JournalSetup {
  readonly path: string
  readonly driver: Driver
  readonly mode: "thread" | "inline"
  readonly clock: Clock
  readonly newId: () => string
  readonly machine: Machine
  readonly fileSystem: FileSystem
  readonly warnings: readonly string[]
  readonly facts: WriterFacts
  readonly link: WriterLink
  /** Opens another writer after one ended. */
  readonly reconnect: () => Promise<WriterLink>
}

export class SqliteJournal implements Journal {
  readonly workers: JournalWorkers
  readonly #setup: JournalSetup
  readonly #reader: StatementCache
  readonly #file: WatchedFile
  readonly #commits: GroupCommit
  readonly #notifier: Notifier
  readonly #duplicates: DuplicateNotes
  #incarnation: string
  #high_water: number
  #cancelSeal: (() => void) | null = null

  constructor(setup: JournalSetup) {
    this.#setup = setup
    this.#incarnation = setup.facts.incarnation
    this.#high_water = setup.facts.high_water
    this.#reader = connectReader(setup.driver, setup.path)
    this.#file = new WatchedFile(setup.path, setup.facts.inode)
    this.#commits = new GroupCommit(setup.link, setup.reconnect, (reply, entries) => this.#heard(reply, entries))
    this.#notifier = new Notifier(
      setup.clock,
      () => this.#reader.get<{ data_version: number }>("PRAGMA data_version")?.data_version ?? 0,
      () => readMeta(this.#reader)?.commits ?? 0,
    )
    this.#duplicates = new DuplicateNotes(setup.clock, (entries) => {
      // Nobody waits for a count (DN1).
      for (const entry of entries) this.#commits.submit(entry).catch(() => undefined)
    })
    this.workers = openWorkers({
      driver: setup.driver,
      path: setup.path,
      machine: setup.machine,
      submit: (entry) => this.#submit(entry),
      read: (query) => this.#read(query),
    })
  }

  get identity(): JournalIdentity {
    const { facts, path, driver } = this.#setup
    return {
      name: facts.name,
      journal_id: facts.journal_id,
      incarnation: this.#incarnation,
      location: path,
      driver: driver.name,
      schema_version: facts.schema_version,
    }
  }

  now(): number {
    return Math.max(Math.floor(this.#setup.clock.wall()), this.#high_water)
  }

  quarantine: Journal["quarantine"] = async () => this.#read(timeline.findQuarantine)

  liftQuarantine: Journal["liftQuarantine"] = async (by, statement) => {
    if (statement.trim() === "") throw new Error("a quarantine is lifted by a statement of what was lost")
    await this.#submit<"lift">({ kind: "lift", by, statement })
  }

  view: Journal["view"] = async (query) =>
    this.#read((db) => {
      const meta = readMeta(db)
      this.#high_water = Math.max(this.#high_water, meta?.high_water ?? 0)
      return operations.readView(db, query, this.now())
    })

  admit: Journal["admit"] = (write) => this.#write(write)
  dispatch: Journal["dispatch"] = (write) => this.#write(write)
  advance: Journal["advance"] = (write) => this.#write(write)

  settled: Journal["settled"] = async (event_id, operation_id) => {
    const tookPlace = await this.#submit<"settled">({ kind: "settled", event_id, operation_id })
    return tookPlace ? this.operation(operation_id) : null
  }

  noteDuplicate: Journal["noteDuplicate"] = (operation_id, actor) => {
    if (!this.#commits.closed) this.#duplicates.note(operation_id, actor)
  }

  operation: Journal["operation"] = async (id) => this.#read((db) => operations.findOperation(db, id))

  revision: Journal["revision"] = async (tenant, chain, revision) =>
    this.#read((db) => operations.findRevision(db, tenant, chain, revision))

  operations: Journal["operations"] = async (filter, page) =>
    this.#read((db) => operations.listOperations(db, filter, page))

  slot: Journal["slot"] = async (name) => this.#read((db) => operations.findSlot(db, name))

  heldBy: Journal["heldBy"] = async (id) => this.#read((db) => operations.findHeldBy(db, id))

  resourceWriter: Journal["resourceWriter"] = async (tenant, resource) =>
    this.#read((db) => operations.findResourceWriter(db, tenant, resource))

  confirmations: Journal["confirmations"] = async (tenant, objects, except) =>
    this.#read((db) => operations.findConfirmations(db, tenant, objects, except))

  rivals: Journal["rivals"] = async (operation) => this.#read((db) => operations.countRivals(db, operation))

  due: Journal["due"] = async (query) => this.#read((db) => operations.readDue(db, query))

  events: Journal["events"] = async (operation_id, after_seq, limit) =>
    this.#read((db) => timeline.listEvents(db, operation_id, after_seq, limit))

  stream: Journal["stream"] = async (after, limit) => this.#read((db) => timeline.streamEvents(db, after, limit))

  subscribe: Journal["subscribe"] = (listener) => this.#read(() => this.#notifier.subscribe(listener))

  incidents: Journal["incidents"] = async (filter) => this.#read((db) => timeline.listIncidents(db, filter))

  openIncident: Journal["openIncident"] = async (tenant, draft) => {
    const incident = prepareIncident(tenant, draft, this.#setup.newId())
    await this.#submit<"open_incident">({ kind: "open_incident", incident })
  }

  closeIncident: Journal["closeIncident"] = async (incident_id, by, resolution) => {
    await this.#submit<"close_incident">({ kind: "close_incident", incident_id, by, resolution })
  }

  checkpoint: Journal["checkpoint"] = async (tenant, id) => this.#read((db) => timeline.findCheckpoint(db, tenant, id))

  putCheckpoint: Journal["putCheckpoint"] = async (tenant, checkpoint_id, expect_version, value) => {
    const entry = {
      kind: "checkpoint",
      tenant,
      id: checkpoint_id,
      expect_version,
      value: JSON.stringify(value),
    } as const
    const { reply } = await this.#ask(entry)
    if ("conflict" in reply) {
      const stored = await this.checkpoint(tenant, checkpoint_id)
      return { conflict: true, version: stored?.version ?? 0 }
    }
    return { checkpoint_id, value, ...this.#valueOf<"checkpoint">(reply) }
  }

  purge: Journal["purge"] = async ({ before, tenant, limit }) => {
    let purged = 0
    for (;;) {
      // In steps, so that no commit holds the lock for long.
      const step = Math.min(PURGE_STEP, limit - purged)
      const entry = { kind: "purge", before, tenant: tenant ?? null, limit: step } as const
      const reply = await this.#submit<"purge">(entry)
      purged += reply.purged
      if (reply.purged < step || purged >= limit) return { purged, refused: reply.refused }
    }
  }

  backup: Journal["backup"] = async (target) => {
    const place = resolve(target)
    try {
      await this.#commits.copyTo({ target: place, incarnation: this.#setup.newId(), now: this.now() })
      return { location: place, bytes: statSync(place).size }
    } catch (error) {
      throw journalError(error, place, "back up to")
    }
  }

  facts: Journal["facts"] = async () => {
    const { path, driver, mode, fileSystem, warnings } = this.#setup
    return this.#read((db): { readonly [name: string]: Json } =>
      readFacts(db, { path, driver: driver.name, mode, fileSystem, warnings }),
    )
  }

  close: Journal["close"] = async () => {
    if (this.#commits.closed) return
    this.#duplicates.flush(true)
    this.#duplicates.stop()
    this.#cancelSeal?.()
    this.#notifier.stop()
    // The writer closes last: a connection that only reads cannot put the log away.
    await this.#commits.close(() => this.#reader.close())
  }

  async #write(write: JournalWrite): Promise<WriteResult> {
    this.#refuseClosed()
    const entry = { kind: "write", write: prepareWrite(write, this.#setup.newId) } as const
    this.#duplicates.flush()
    const { reply, now } = await this.#ask(entry)
    if ("conflict" in reply) return { ok: false, conflict: reply.conflict, now }
    const { next } = write.operation
    const value = this.#valueOf<"write">(reply)
    if (value.first) return { ok: true, committed_at: value.committed_at, operation: withSealed(next, value.sealed) }
    const operation = await this.operation(next.operation_id)
    if (!operation) throw new JournalError("journal_corrupt", `operation ${next.operation_id} has a write and no row`)
    return { ok: true, committed_at: value.committed_at, operation }
  }

  async #submit<K extends EntryKind>(entry: EntryOf<K>): Promise<ReplyOf<K>> {
    const { reply } = await this.#ask(entry as Entry)
    if ("conflict" in reply) throw new Error(`${entry.kind}: conflict on ${reply.conflict.on}`)
    return this.#valueOf<K>(reply)
  }

  #ask(entry: Entry): Promise<{ readonly reply: EntryReply; readonly now: number }> {
    return this.#commits.submit(entry)
  }

  #valueOf<K extends EntryKind>(reply: EntryReply): ReplyOf<K> {
    // The writer answers an entry of kind K with a reply of kind K.
    if (reply.ok) return reply.value
    if ("conflict" in reply) throw new Error(`conflict on ${reply.conflict.on}`)
    if (reply.code === null) throw new Error(`the journal refused the row: ${reply.message}`)
    throw new JournalError(reply.code, reply.message)
  }

  #heard(reply: BatchReply, entries: readonly Entry[]): void {
    this.#high_water = Math.max(this.#high_water, reply.now)
    this.#incarnation = reply.incarnation
    if (reply.commit === null) return
    const touched = new Set<string>()
    for (const [index, answer] of reply.replies.entries()) {
      const entry = entries[index]
      if (answer.ok && entry) for (const id of operationsOf(entry, answer.value)) touched.add(id)
    }
    this.#notifier.committed(reply.commit, [...touched])
    this.#cancelSeal ??= this.#setup.clock.after(SEAL_AFTER_MS, () => {
      this.#cancelSeal = null
      this.#commits.seal()
    })
  }

  #read<T>(query: (db: StatementCache) => T): T {
    this.#refuseClosed()
    const { db } = this.#reader
    try {
      this.#file.check()
      db.exec("BEGIN")
      const answer = query(this.#reader)
      db.exec("ROLLBACK")
      return answer
    } catch (error) {
      this.#endRead()
      throw readError(error, this.#setup.path)
    }
  }

  #endRead(): void {
    try {
      this.#reader.db.exec("ROLLBACK")
    } catch {
      // It had not begun, or SQLite ended it.
    }
  }

  #refuseClosed(): void {
    if (this.#commits.closed) throw new JournalError("journal_closed", `the journal ${this.#setup.path} is closed`)
  }
}

function operationsOf(entry: Entry, value: ReplyOf<EntryKind>): readonly string[] {
  switch (entry.kind) {
    case "write":
      return [entry.write.change.operation_id, ...entry.write.also.map((change) => change.operation_id)]
    case "duplicate":
      return [entry.operation_id]
    case "purge":
      return (value as ReplyOf<"purge">).operation_ids
    default:
      return []
  }
}
