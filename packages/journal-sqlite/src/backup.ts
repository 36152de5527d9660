/**
 * Copies the journal while it is in use, into one file that knows it is a copy.
 *
 * BA1. The copy carries another incarnation and a quarantine of its own: wherever it is opened, nothing dispatches until a
 *      person has said what was lost since.
 * BA2. The copy is as private as the journal: payloads are nobody else's to read.
 * BA3. A copy that fails leaves no transaction behind on the connection that every commit needs.
 */
import { closeSync, openSync, rmSync } from "node:fs"

import { StoreFailure, storeFailure } from "./store-failure.ts"
import type { StatementCache } from "./statement-cache.ts"

export interface CopyOrder {
  readonly target: string
  readonly incarnation: string
  readonly now: number
}

export function copyJournal({ db }: StatementCache, { target, incarnation, now }: CopyOrder): void {
  createPrivately(target)
  try {
    db.prepare("VACUUM INTO ?").run(target)
    db.prepare("ATTACH ? AS copy").run(target)
    try {
      // The commit's flush covers what VACUUM INTO wrote as well: it is the same file.
      db.exec("PRAGMA copy.synchronous = FULL; BEGIN")
      db.prepare(
        "INSERT INTO copy.quarantines (since, reason, detail, incarnation_before) " +
          "SELECT ?, 'backup', 'this file is a copy made while the journal went on', incarnation FROM copy.meta WHERE quarantined = 0",
      ).run(now)
      db.prepare("UPDATE copy.meta SET quarantined = 1, incarnation = ?, commits = commits + 1").run(incarnation)
      db.exec("COMMIT")
    } finally {
      endTransaction(db)
      db.exec("DETACH copy")
    }
  } catch (error) {
    rmSync(target, { force: true })
    throw storeFailure(error, target, "copy to")
  }
}

/** `VACUUM INTO` takes an empty file for a new one, and leaves its mode as it is (BA2). */
function createPrivately(target: string): void {
  try {
    closeSync(openSync(target, "wx", 0o600))
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw storeFailure(error, target, "copy to")
    throw new StoreFailure("journal_unavailable", `${target} exists: a copy is written to a new place`)
  }
}

function endTransaction(db: StatementCache["db"]): void {
  try {
    db.exec("ROLLBACK")
  } catch {
    // It was committed, or SQLite ended it.
  }
}
