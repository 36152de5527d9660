/**
 * Prepared statements of one connection, prepared once.
 *
 * SC1. A text that SQLite would not keep as it is (a NUL ends it in one of the drivers, half of a surrogate pair becomes
 *      the same replacement as any other) is refused: two names must not become one.
 */
import type { Database, SqlValue, Statement } from "./driver.ts"

const NOT_KEPT = /[\0\p{Surrogate}]/u
/** Longer texts are JSON of our own making, which escapes both. */
const NAME_LENGTH_MAX = 4_096

function kept(parameters: readonly SqlValue[]): readonly SqlValue[] {
  for (const value of parameters) {
    if (typeof value === "string" && value.length <= NAME_LENGTH_MAX && NOT_KEPT.test(value)) {
      throw new Error("a name holds a NUL or half of a surrogate pair")
    }
  }
  return parameters
}

export class StatementCache {
  readonly db: Database
  readonly #statements = new Map<string, Statement>()

  constructor(db: Database) {
    this.db = db
  }

  /** Runs a change and says how many rows it changed. */
  run(sql: string, ...parameters: readonly SqlValue[]): number {
    return Number(this.#prepared(sql).run(...kept(parameters)).changes)
  }

  get<T>(sql: string, ...parameters: readonly SqlValue[]): T | undefined {
    return this.#prepared(sql).get(...kept(parameters)) as T | undefined
  }

  all<T>(sql: string, ...parameters: readonly SqlValue[]): T[] {
    return this.#prepared(sql).all(...kept(parameters)) as T[]
  }

  /**
   * Closes the connection. One of the drivers cannot end prepared statements: there SQLite keeps the connection until they
   * are collected, so they are let go first.
   */
  close(): void {
    this.#statements.clear()
    this.db.close()
  }

  #prepared(sql: string): Statement {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.db.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}
