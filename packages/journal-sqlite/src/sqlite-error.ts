/** Turns what SQLite throws into the journal's own errors. Knows nothing about where in a transaction it was thrown. */
import type { JournalErrorCode } from "@invokejs/engine"

const PRIMARY: Readonly<Record<number, JournalErrorCode>> = {
  8: "journal_read_only",
  11: "journal_corrupt",
  13: "journal_full",
  26: "journal_corrupt",
}
/** Failures of the machine or of a neighbour: nothing was written, trying again may help. */
const UNAVAILABLE = new Set([3, 4, 5, 6, 7, 10, 14, 15, 22, 23])
/** Failures of the file calls around SQLite. */
const SYSTEM: Readonly<Record<string, JournalErrorCode>> = {
  ENOSPC: "journal_full",
  EDQUOT: "journal_full",
  EROFS: "journal_read_only",
  EACCES: "journal_read_only",
  EPERM: "journal_read_only",
}
const READONLY_DBMOVED = 1032
const IOERR_SHORT_READ = 522

/** SQLite's extended result code, where `error` is one of SQLite's. */
export function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode
  return typeof code === "number" ? code : undefined
}

/** null: not a failure of the store but of the row or of the code that made it. */
export function storeErrorCode(error: unknown): JournalErrorCode | null {
  const code = sqliteCode(error)
  if (code === undefined) {
    const system = (error as { code?: unknown; syscall?: unknown } | null)?.code
    return typeof system === "string" ? (SYSTEM[system] ?? null) : null
  }
  if (code === READONLY_DBMOVED) return "journal_replaced"
  if (code === IOERR_SHORT_READ) return "journal_corrupt"
  const primary = code & 0xff
  return PRIMARY[primary] ?? (UNAVAILABLE.has(primary) ? "journal_unavailable" : null)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
