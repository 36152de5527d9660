/**
 * Opens the two connections of a process: one that writes, one that reads.
 *
 * Owns: the settings, each read back. Must not: open the files in any other way (R25).
 *
 * CN1. `synchronous` is FULL on the writer: drivers differ in what they fall back to in WAL, and some fall back to NORMAL.
 * CN2. `locking_mode` is NORMAL: several processes share the file.
 */

import type { Database, Driver } from "./driver.ts"
import { sqliteCode } from "./sqlite-error.ts"
import { StoreFailure } from "./store-failure.ts"
import { StatementCache } from "./statement-cache.ts"

/** How long one process waits for the write lock of another: longer than a slow disk's flush, shorter than a lease. */
export const BUSY_MS = 5_000
/** Between tries to switch the mode of a file that several processes open at once; SQLite does not wait there itself. */
const MODE_RETRY_MS = 20
/** The write-ahead log is cut back to this after a burst; below it the file is reused, which makes a flush cheaper. */
const WAL_KEPT_BYTES = 32 * 1024 * 1024

const SESSION = [
  `PRAGMA busy_timeout = ${BUSY_MS}`,
  "PRAGMA trusted_schema = OFF",
  "PRAGMA foreign_keys = OFF",
  "PRAGMA recursive_triggers = ON",
  "PRAGMA cell_size_check = ON",
  "PRAGMA temp_store = MEMORY",
]

/** A writing connection whose session is set, but whose file is still as it was found. */
export function connectWriter(driver: Driver, path: string): StatementCache {
  const db = driver.open(path, { readOnly: false })
  try {
    for (const sql of SESSION) db.exec(sql)
    return new StatementCache(db)
  } catch (error) {
    db.close()
    throw error
  }
}

/** Sets what the file needs and reads it back (CN1, CN2). */
export function setDurable(db: StatementCache, path: string): void {
  switchToWal(db.db)
  // `fullfsync` makes macOS flush the drive's own cache; elsewhere it changes nothing.
  for (const sql of [
    "PRAGMA synchronous = FULL",
    "PRAGMA locking_mode = NORMAL",
    "PRAGMA fullfsync = ON",
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA wal_autocheckpoint = 0",
    `PRAGMA journal_size_limit = ${WAL_KEPT_BYTES}`,
  ]) {
    db.db.exec(sql)
  }
  const expected = { journal_mode: "wal", synchronous: 2, locking_mode: "normal", trusted_schema: 0 }
  for (const [name, value] of Object.entries(expected)) {
    const found = pragma(db, name)
    if (found !== value) {
      throw new StoreFailure("journal_unavailable", `${path}: ${name} is ${String(found)}, it must be ${String(value)}`)
    }
  }
}

export function connectReader(driver: Driver, path: string): StatementCache {
  const db = driver.open(path, { readOnly: true })
  try {
    for (const sql of SESSION) db.exec(sql)
    return new StatementCache(db)
  } catch (error) {
    db.close()
    throw error
  }
}

export function pragma(db: StatementCache, name: string): unknown {
  const row = db.get<Record<string, unknown>>(`PRAGMA ${name}`)
  return row === undefined ? undefined : Object.values(row)[0]
}

const SQLITE_BUSY = 5

function switchToWal(db: Database): void {
  // Waits here, since SQLite may give up at once or wait in full each time, depending on what it waits for.
  db.exec("PRAGMA busy_timeout = 0")
  setWal(db)
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
}

function setWal(db: Database): void {
  for (let waited = 0; ; waited += MODE_RETRY_MS) {
    try {
      db.exec("PRAGMA journal_mode = WAL")
      return
    } catch (error) {
      if (((sqliteCode(error) ?? 0) & 0xff) !== SQLITE_BUSY || waited >= BUSY_MS) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MODE_RETRY_MS)
    }
  }
}
