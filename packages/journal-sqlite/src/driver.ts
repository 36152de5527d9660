/**
 * The door to SQLite: `node:sqlite` where Node has it (22.13 and later), else `@photostructure/sqlite`, which has the same
 * API and brings its binary with it.
 *
 * Owns: which library is loaded. Must not: let two libraries open one file in one process. Each keeps its own list of
 * POSIX locks, and closing a file in one drops the locks of the other (R25).
 */
export const DRIVER_NAMES = ["node:sqlite", "@photostructure/sqlite"] as const
export type DriverName = (typeof DRIVER_NAMES)[number]

export type SqlValue = null | number | bigint | string | Uint8Array
export type Row = { readonly [column: string]: SqlValue }

export interface Statement {
  run(...parameters: SqlValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  get(...parameters: SqlValue[]): unknown
  all(...parameters: SqlValue[]): unknown[]
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

interface Library {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean }) => Database
}

export interface Driver {
  readonly name: DriverName
  open(path: string, options: { readonly readOnly: boolean }): Database
}

/** Loads the named driver, or the first one this Node has. null: this Node does not have the one that was asked for. */
export async function loadDriver(name?: DriverName): Promise<Driver | null> {
  for (const candidate of name === undefined ? DRIVER_NAMES : [name]) {
    const library = await loadLibrary(candidate)
    if (library === null) continue
    return { name: candidate, open: (path, { readOnly }) => new library.DatabaseSync(path, { readOnly }) }
  }
  return null
}

async function loadLibrary(name: DriverName): Promise<Library | null> {
  if (name === "@photostructure/sqlite") return await import("@photostructure/sqlite")
  // Answers undefined where Node has no such module, so nothing is thrown and no bundler follows the name.
  return (process.getBuiltinModule(name) as unknown as Library | undefined) ?? null
}
