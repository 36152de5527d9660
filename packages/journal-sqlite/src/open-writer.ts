/**
 * Opens a journal file for writing: looks before it touches, migrates, and settles which life of the journal this is.
 *
 * OW1. Nothing is written to a file that is newer, foreign, damaged or out of reach: the error comes first.
 * OW2. Schema, first row and quarantine are decided in one transaction, so that several processes may open at once.
 */

import { accessSync, closeSync, constants, openSync } from "node:fs"
import { dirname } from "node:path"

import { connectWriter, setDurable } from "./connection.ts"
import type { Driver } from "./driver.ts"
import { inodeOf } from "./file-inode.ts"
import { judgeIncarnation, readMeta, readSibling, siblingOf, writeSibling } from "./incarnation.ts"
import type { Break, Meta, Sibling } from "./incarnation.ts"
import { JournalWriter } from "./journal-writer.ts"
import { inspectSchema, loadMigrations, migrate } from "./migrations.ts"
import { WatchedFile } from "./watched-file.ts"
import type { Migration } from "./migrations.ts"
import { StoreFailure, storeFailure } from "./store-failure.ts"
import type { StatementCache } from "./statement-cache.ts"

/** What the caller decides; plain data, so that it reaches the writer's thread. */
export interface WriterSpec {
  readonly path: string
  readonly name: string | null
  /** How far a write's time may be from the journal's clock. */
  readonly clock_tolerance_ms: number
  /** Used where the journal is new, or turns out to live another life. */
  readonly fresh: { readonly journal_id: string; readonly incarnation: string; readonly digest_key: string }
}

export interface OpenedWriter {
  readonly writer: JournalWriter
  readonly facts: WriterFacts
}

export interface WriterFacts {
  readonly journal_id: string
  readonly name: string
  readonly incarnation: string
  readonly schema_version: number
  readonly high_water: number
  readonly commits: number
  readonly inode: string
}

export function openWriter(
  driver: Driver,
  spec: WriterSpec,
  wall: () => number,
  migrations: readonly Migration[] = loadMigrations(),
): OpenedWriter {
  let db: StatementCache | undefined
  try {
    createPrivately(spec.path)
    db = connectWriter(driver, spec.path)
    inspectSchema(db, spec.path, migrations)
    setDurable(db, spec.path)
    const file = fileAt(spec.path)
    const { meta, schema_version } = settleLife(db, spec, file, migrations, wall)
    const writer = new JournalWriter({ db, file, wall, clock_tolerance_ms: spec.clock_tolerance_ms }, meta)
    writer.seal()
    const { journal_id, name, incarnation, high_water, commits } = meta
    const facts = { journal_id, name, incarnation, schema_version, high_water, commits, inode: file.inode }
    return { writer, facts }
  } catch (error) {
    db?.close()
    throw storeFailure(error, spec.path, "open")
  }
}

/**
 * Payloads are nobody else's to read. Only a file that is not there is opened here: it has no locks to lose (R25). One that
 * is there, and its folder, are asked whether they may be written, since SQLite would open it for reading instead.
 */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600))
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw error
    accessSync(path, constants.R_OK | constants.W_OK)
    accessSync(dirname(path), constants.W_OK)
  }
}

function fileAt(path: string): WatchedFile {
  const inode = inodeOf(path)
  if (inode === null) throw new StoreFailure("journal_replaced", `${path} was deleted while it was being opened`)
  return new WatchedFile(path, inode)
}

/** One transaction: schema, first row, and whether the file went back in time since somebody last knew it (OW2). */
function settleLife(
  db: StatementCache,
  spec: WriterSpec,
  file: WatchedFile,
  migrations: readonly Migration[],
  wall: () => number,
): { readonly meta: Meta; readonly schema_version: number } {
  db.db.exec("BEGIN IMMEDIATE")
  try {
    const now = Math.floor(wall())
    const schema_version = migrate(db, spec.path, migrations, now)
    const sibling = readSibling(spec.path)
    const known = readMeta(db)
    const broken = known
      ? judgeIncarnation(
          sibling,
          known,
          file.inode,
          (id) => db.get("SELECT 1 FROM writes WHERE event_id = ?", id) !== undefined,
        )
      : judgeEmpty(sibling)
    if (!known) createMeta(db, spec, file, sibling, now)
    if (broken) quarantine(db, spec, broken, now)
    const meta = readMeta(db)
    if (!meta) throw new StoreFailure("journal_corrupt", `${spec.path} does not keep its first row`)
    refuseOtherName(spec, meta)
    db.db.exec("COMMIT")
    return { meta, schema_version }
  } catch (error) {
    try {
      db.db.exec("ROLLBACK")
    } catch {
      // SQLite rolled it back by itself.
    }
    throw error
  }
}

/** A file without a first row is new, unless somebody remembers a journal here. */
function judgeEmpty(sibling: Sibling | "missing" | "unreadable"): Break | null {
  if (sibling === "missing" || sibling === "unreadable" || sibling.state === "new") return null
  const detail = `the file is empty, but its sibling has seen ${sibling.commits} commits up to ${sibling.high_water}`
  return { reason: "journal_lost", detail }
}

function createMeta(
  db: StatementCache,
  spec: WriterSpec,
  file: WatchedFile,
  sibling: Sibling | "missing" | "unreadable",
  now: number,
): void {
  const remembered = typeof sibling === "string" ? null : sibling
  const { fresh } = spec
  const journal_id = remembered?.journal_id ?? fresh.journal_id
  // The name is part of every provider key, so a lost journal's successor must present the same keys.
  const name = remembered?.name ?? spec.name ?? journal_id
  const incarnation = remembered?.incarnation ?? fresh.incarnation
  const high_water = Math.max(now, remembered?.high_water ?? 0)
  db.run(
    "INSERT INTO meta (id, journal_id, name, incarnation, digest_key, high_water, commits, created_at) VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
    ...[journal_id, name, incarnation, fresh.digest_key, high_water, remembered?.commits ?? 0, now],
  )
  const meta = readMeta(db)
  // IN3: the sibling first, so that a crash before this transaction's commit is not taken for a lost file.
  if (meta && remembered === null) writeSibling(spec.path, { ...siblingOf(meta, file.inode), state: "new" })
}

function quarantine(db: StatementCache, spec: WriterSpec, broken: Break, now: number): void {
  const meta = readMeta(db)
  if (!meta) return
  if (meta.quarantined === 0) {
    db.run(
      "INSERT INTO quarantines (since, reason, detail, incarnation_before) VALUES (?, ?, ?, ?)",
      ...[Math.max(now, meta.high_water), broken.reason, broken.detail, meta.incarnation],
    )
  }
  db.run(
    "UPDATE meta SET quarantined = 1, incarnation = ?, high_water = max(high_water, ?), commits = commits + 1 WHERE id = 1",
    ...[spec.fresh.incarnation, now],
  )
}

function refuseOtherName(spec: WriterSpec, meta: Meta): void {
  if (spec.name === null || spec.name === meta.name) return
  throw new StoreFailure("journal_replaced", `${spec.path} is the journal "${meta.name}", not "${spec.name}"`)
}
