/** Opens the journal at a path: place, driver, writer, reader. */
import { CLOCK_TOLERANCE_MS, JournalError } from "@invokejs/engine"
import type { Clock, Ids, Journal } from "@invokejs/engine"
import { realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"

import { loadDriver } from "./driver.ts"
import type { Driver, DriverName } from "./driver.ts"
import { classifyFileSystem, fileSystemType } from "./file-system-kind.ts"
import type { FileSystem } from "./file-system-kind.ts"
import type { WriterLink } from "./group-commit.ts"
import { inlineLink } from "./inline-link.ts"
import { thisMachine } from "./machine.ts"
import type { Machine } from "./machine.ts"
import { claimLibrary } from "./library-claims.ts"
import { openWriter } from "./open-writer.ts"
import type { WriterFacts, WriterSpec } from "./open-writer.ts"
import { journalError } from "./journal-error.ts"
import { SqliteJournal } from "./sqlite-journal.ts"
import { systemWall } from "./system-wall.ts"
import { openThread } from "./thread-link.ts"

export interface SqliteJournalOptions {
  /** The journal's file; made if it is not there, its folder is not. There is no default. */
  readonly path: string
  /** Part of every provider key. Kept in the file from the first open on; another name is refused then. Default: the journal's id. */
  readonly name?: string
  /** `thread`: commits in a worker thread, shared by concurrent callers. `inline`: on the calling thread, for short programs. */
  readonly mode: "thread" | "inline"
  readonly driver?: DriverName
  readonly clock: Clock
  readonly ids: Pick<Ids, "event" | "token">
  /** The caller knows that the file system does not outlive the container or machine: no warning. */
  readonly allowEphemeral?: boolean
}

/** What tests replace: the parts of the machine that cannot be arranged in a test. */
export interface JournalSeams {
  readonly driver?: Driver
  readonly machine?: Machine
  readonly fileSystemType?: (folder: string) => number | null
  /** Told how to end the writer's thread, as its crash would. */
  readonly onThread?: (terminate: () => Promise<void>) => void
}

export async function openSqliteJournal(options: SqliteJournalOptions): Promise<Journal> {
  return openJournalWith(options, {})
}

export async function openJournalWith(options: SqliteJournalOptions, seams: JournalSeams): Promise<Journal> {
  const path = placeOf(options.path)
  const fileSystem = inspectFileSystem(path, seams)
  const driver = seams.driver ?? (await loadDriver(options.driver))
  if (driver === null) throw new JournalError("journal_unavailable", `this Node has no ${options.driver ?? "SQLite"}`)
  const release = claimLibrary(path, driver.name)
  try {
    return await connect(options, seams, path, fileSystem, driver)
  } catch (error) {
    release()
    throw journalError(error, path, "open")
  }
}

async function connect(
  options: SqliteJournalOptions,
  seams: JournalSeams,
  path: string,
  fileSystem: FileSystem,
  driver: Driver,
): Promise<Journal> {
  const { clock, ids, mode } = options
  const spec: WriterSpec = {
    path,
    name: options.name ?? null,
    clock_tolerance_ms: CLOCK_TOLERANCE_MS,
    fresh: { journal_id: ids.event(), incarnation: ids.event(), digest_key: ids.token() },
  }
  const open = async (): Promise<{ readonly link: WriterLink; readonly facts: WriterFacts }> => {
    if (mode === "inline") {
      const { writer, facts } = openWriter(driver, spec, () => clock.wall())
      return { link: inlineLink(writer), facts }
    }
    const opened = await openThread({ spec, driver: driver.name }, () => clock.wall() - systemWall())
    seams.onThread?.(opened.terminate)
    return opened
  }
  const { link, facts } = await open()
  try {
    return new SqliteJournal({
      path,
      driver,
      mode,
      clock,
      newId: () => ids.event(),
      machine: seams.machine ?? thisMachine(),
      fileSystem,
      warnings: warningsFor(fileSystem, options.allowEphemeral ?? false),
      facts,
      link,
      reconnect: () =>
        open().then(
          (opened) => opened.link,
          (error: unknown) => {
            throw journalError(error, path, "open")
          },
        ),
    })
  } catch (error) {
    await link.close()
    throw error
  }
}

/** The real path: SQLite keeps its log beside the file that a link leads to, and so must everything else. */
function placeOf(path: string): string {
  if (path === "" || path === ":memory:") {
    throw new JournalError("journal_unsafe_location", "a journal needs a file: what is kept in memory is not a journal")
  }
  const absolute = resolve(path)
  try {
    return realpathSync(absolute)
  } catch {
    // Not there yet; the folder must be.
  }
  try {
    return join(realpathSync(dirname(absolute)), basename(absolute))
  } catch (error) {
    throw new JournalError("journal_unavailable", `the folder ${dirname(absolute)} is not there`, { cause: error })
  }
}

function inspectFileSystem(path: string, seams: JournalSeams): FileSystem {
  const folder = dirname(path)
  const fileSystem = classifyFileSystem((seams.fileSystemType ?? fileSystemType)(folder))
  if (fileSystem.kind === "network") {
    throw new JournalError(
      "journal_unsafe_location",
      `${folder} is on ${fileSystem.name}: locks are not reliable there, put the journal on a local file system`,
    )
  }
  return fileSystem
}

function warningsFor({ kind, name }: FileSystem, allowEphemeral: boolean): readonly string[] {
  if (kind !== "ephemeral" || allowEphemeral) return []
  return [`the file system is ${name}: the journal is lost with the container or machine`]
}
