/** Prepared statements of one connection, prepared once. */
import type { Database, SqlValue, Statement } from "./driver.ts"

export class StatementCache {
  readonly db: Database
  readonly #statements = new Map<string, Statement>()

  constructor(db: Database) {
    this.db = db
  }

  /** Runs a change and says how many rows it changed. */
  run(sql: string, ...parameters: readonly SqlValue[]): number {
    return Number(this.#prepared(sql).run(...parameters).changes)
  }

  get<T>(sql: string, ...parameters: readonly SqlValue[]): T | undefined {
    return this.#prepared(sql).get(...parameters) as T | undefined
  }

  all<T>(sql: string, ...parameters: readonly SqlValue[]): T[] {
    return this.#prepared(sql).all(...parameters) as T[]
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
