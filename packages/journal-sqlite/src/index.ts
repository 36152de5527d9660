export { openSqliteJournal } from "./open-sqlite-journal.ts"
export type { SqliteJournalOptions } from "./open-sqlite-journal.ts"
export { DRIVER_NAMES } from "./driver.ts"
export type { DriverName } from "./driver.ts"
