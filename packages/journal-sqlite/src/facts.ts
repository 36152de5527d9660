/** What `doctor` shows about a journal: settings as they are, versions, sizes, warnings. */
import type { Json } from "@invokejs/protocol"
import { statSync } from "node:fs"

import { pragma } from "./connection.ts"
import type { FileSystem } from "./file-system-kind.ts"
import { inodeOf } from "./file-inode.ts"
import { readMeta } from "./incarnation.ts"
import { findQuarantine } from "./read-timeline.ts"
import type { StatementCache } from "./statement-cache.ts"

export interface FactsSetup {
  readonly path: string
  readonly driver: string
  readonly mode: string
  readonly fileSystem: FileSystem
  readonly warnings: readonly string[]
}

export function readFacts(db: StatementCache, setup: FactsSetup): { readonly [name: string]: Json } {
  const { path, driver, mode, fileSystem, warnings } = setup
  const meta = readMeta(db)
  const quarantine = findQuarantine(db)
  const migrations = db.all<{ version: number; name: string }>("SELECT version, name FROM migrations ORDER BY version")
  return {
    location: path,
    driver,
    mode,
    sqlite: db.get<{ version: string }>("SELECT sqlite_version() AS version")?.version ?? "",
    journal_mode: String(pragma(db, "journal_mode")),
    // Read back on the writing connection when it was opened: anything else refuses to open.
    synchronous: "full",
    page_size: Number(pragma(db, "page_size")),
    bytes: sizeOf(path),
    log_bytes: sizeOf(`${path}-wal`),
    inode: inodeOf(path) ?? "",
    file_system: fileSystem.name,
    schema: migrations.map(({ version, name }) => `${version} ${name}`),
    journal_id: meta?.journal_id ?? "",
    name: meta?.name ?? "",
    incarnation: meta?.incarnation ?? "",
    commits: meta?.commits ?? 0,
    high_water: meta?.high_water ?? 0,
    operations: newest(db, "operations"),
    events: newest(db, "events"),
    quarantine: quarantine && { ...quarantine },
    warnings,
  }
}

/** Rows are never deleted, so the newest number is the count, without a scan. */
function newest(db: StatementCache, table: "operations" | "events"): number {
  return db.get<{ n: number | null }>(`SELECT max(n) AS n FROM ${table}`)?.n ?? 0
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
