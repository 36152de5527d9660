// Stores for tests: a folder with one journal file, opened with any driver and in either mode, and falsified from outside.

import type { Clock, Journal } from "@invokejs/engine"
import { systemClock, systemIds } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import type { DriverName, SqliteJournalOptions } from "@invokejs/journal-sqlite"
import { loadDriver, openJournalWith, siblingPath } from "@invokejs/journal-sqlite/internal"
import type { Database, Driver, JournalSeams } from "@invokejs/journal-sqlite/internal"
import type { JournalStore, JournalSubject, Tampering } from "@invokejs/testkit"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export type Mode = SqliteJournalOptions["mode"]

/** The clock of a process whose wall clock is off by so much. */
export function shiftedClock(offset_ms: number): Clock {
  return { ...systemClock, wall: () => systemClock.wall() + offset_ms }
}

export function optionsFor(path: string, mode: Mode, driver?: DriverName, offset_ms = 0): SqliteJournalOptions {
  const clock = shiftedClock(offset_ms)
  return { path, mode, clock, ids: systemIds, ...(driver === undefined ? {} : { driver }) }
}

export interface TestFolder {
  readonly folder: string
  readonly path: string
  open(mode?: Mode, seams?: JournalSeams, offset_ms?: number): Promise<Journal>
  dispose(): Promise<void>
}

/** A folder of its own for one test, or the one given, with the first driver that this Node has. */
export function testFolder(given?: string): TestFolder {
  const folder = given ?? mkdtempSync(join(tmpdir(), "invoke-journal-"))
  const path = join(folder, "invoke.db")
  const opened: Journal[] = []
  return {
    folder,
    path,
    open: async (mode = "inline", seams = {}, offset_ms = 0) => {
      const journal = await openJournalWith(optionsFor(path, mode, undefined, offset_ms), seams)
      opened.push(journal)
      return journal
    },
    dispose: async () => {
      await Promise.allSettled(opened.map((journal) => journal.close()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Opens the file as a program that knows nothing of journals would; no journal of this process may have it open. */
export function withFile<T>(driver: Driver, path: string, use: (db: Database) => T): T {
  const db = driver.open(path, { readOnly: false })
  try {
    return use(db)
  } finally {
    db.close()
  }
}

/** SQL that falsifies the timeline of the operation `:id`, once the triggers are gone. */
const TAMPERINGS: Readonly<Record<Tampering, string>> = {
  edit_event: "UPDATE events SET to_state = 'failed' WHERE operation_id = :id AND seq = 2",
  edit_data: `UPDATE events SET data = '{"amount":1}' WHERE operation_id = :id AND seq = 2`,
  edit_actor: "UPDATE events SET actor = 'operator:eve' WHERE operation_id = :id AND seq = 3",
  drop_event: "DELETE FROM events WHERE operation_id = :id AND seq = 2",
  drop_last_event: "DELETE FROM events WHERE operation_id = :id AND seq = 4",
}

export function sqliteSubject(mode: Mode, driver: Driver): JournalSubject {
  return {
    name: `SQLite, ${mode}, ${driver.name}`,
    create: async (): Promise<JournalStore> => {
      const folder = mkdtempSync(join(tmpdir(), "invoke-journal-"))
      const path = join(folder, "invoke.db")
      return {
        open: ({ wall_offset_ms = 0 } = {}) => openSqliteJournal(optionsFor(path, mode, driver.name, wall_offset_ms)),
        child: {
          module: new URL("./open-for-child.mjs", import.meta.url).href,
          argument: JSON.stringify({ path, mode, driver: driver.name }),
        },
        tamper: (operation_id, how) =>
          withFile(driver, path, (db) => {
            db.exec("DROP TRIGGER events_are_not_edited; DROP TRIGGER events_are_not_deleted")
            const { changes } = db.prepare(TAMPERINGS[how].replace(":id", "?")).run(operation_id)
            if (Number(changes) !== 1) throw new Error(`${how} changed ${changes} rows`)
          }),
        forgetIncarnation: () => rmSync(siblingPath(path)),
        dispose: () => rmSync(folder, { recursive: true, force: true }),
      }
    },
  }
}

/** The drivers that this Node has. */
export async function presentDrivers(): Promise<readonly Driver[]> {
  const drivers = await Promise.all(
    (["node:sqlite", "@photostructure/sqlite"] as const).map((name) => loadDriver(name)),
  )
  return drivers.filter((driver) => driver !== null)
}
