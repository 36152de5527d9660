/**
 * Brings a journal file to the schema of this program, once, whoever opens it first.
 *
 * Owns: the table `migrations`, the file's application id. Must not: touch a file of another program or a newer schema.
 *
 * MI1. The version is read before anything is written; a newer schema is refused (`journal_newer`), unless every unknown
 *      migration says that older programs may go on: only one that opens with `--! breaking` shuts them out.
 * MI2. A migration that was applied is never edited: its checksum is compared at every open.
 * MI3. All of it happens in the caller's one transaction, so a crash leaves the old schema or the new one.
 */
import { readFileSync, readdirSync } from "node:fs"

import { sha256 } from "./sha256.ts"
import { StoreFailure } from "./store-failure.ts"
import type { StatementCache } from "./statement-cache.ts"

/** "INVK": tells a journal from the SQLite files of other programs. */
const APPLICATION_ID = 0x49_4e_56_4b

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
  readonly breaking: boolean
}

interface AppliedRow {
  readonly version: number
  readonly name: string
  readonly checksum: string
  readonly breaking: number
}

/** The migrations in a folder, in order. */
export function loadMigrations(folder: URL = new URL("../sql/", import.meta.url)): readonly Migration[] {
  const files = readdirSync(folder)
    .filter((file) => /^\d{6}-[a-z0-9-]+\.sql$/.test(file))
    .sort()
  return files.map((file, index) => {
    const version = Number(file.slice(0, 6))
    if (version !== index + 1) throw new Error(`migration ${file} is not number ${index + 1}`)
    const sql = readFileSync(new URL(file, folder), "utf8")
    return { version, name: file.slice(7, -4), sql, checksum: sha256(sql), breaking: /^--! breaking\b/m.test(sql) }
  })
}

/** Refuses a file that this program must not touch (MI1, MI2), and says which migrations it already has. */
export function inspectSchema(db: StatementCache, path: string, known: readonly Migration[]): readonly AppliedRow[] {
  const tables = db.get<{ n: number }>("SELECT count(*) AS n FROM sqlite_schema")?.n ?? 0
  if (tables === 0) return []
  const application = db.get<{ application_id: number }>("PRAGMA application_id")?.application_id
  if (application !== APPLICATION_ID) {
    throw new StoreFailure("journal_corrupt", `${path} is a SQLite file of another program, not a journal`)
  }
  const applied = db.all<AppliedRow>("SELECT version, name, checksum, breaking FROM migrations ORDER BY version")
  for (const row of applied) {
    const migration = known[row.version - 1]
    if (!migration) {
      if (row.breaking === 0) continue
      throw new StoreFailure(
        "journal_newer",
        `${path} has schema ${row.version} (${row.name}), this program knows ${known.length}: use a newer version of it`,
      )
    }
    if (migration.checksum !== row.checksum) {
      throw new StoreFailure(
        "journal_corrupt",
        `${path}: migration ${row.version} (${row.name}) is not the one this program has`,
      )
    }
  }
  return applied
}

/** Applies what is missing, inside the caller's transaction. Answers the schema's version. */
export function migrate(db: StatementCache, path: string, known: readonly Migration[], now: number): number {
  const applied = inspectSchema(db, path, known)
  if (applied.length === 0) {
    db.db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    db.db.exec(
      "CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, " +
        "breaking INTEGER NOT NULL, applied_at INTEGER NOT NULL) STRICT",
    )
  }
  const newest = applied.at(-1)?.version ?? 0
  for (const { version, name, sql, checksum, breaking } of known.slice(newest)) {
    db.run("INSERT INTO migrations VALUES (?, ?, ?, ?, ?)", version, name, checksum, breaking ? 1 : 0, now)
    db.db.exec(sql)
  }
  return Math.max(newest, known.length)
}
