/** The port's error for whatever the journal's parts throw, on the caller's side. */
import { JournalError } from "@invokejs/engine"

import { storeErrorCode } from "./sqlite-error.ts"
import { StoreFailure, storeFailure } from "./store-failure.ts"

/** `doing` completes "cannot …". */
export function journalError(error: unknown, path: string, doing: string): JournalError {
  if (error instanceof JournalError) return error
  const { code, message } = storeFailure(error, path, doing)
  return new JournalError(code, message, { cause: error })
}

/** As `journalError`, but what is no failure of the store (a mistake in the call) stays what it is. */
export function readError(error: unknown, path: string): unknown {
  const ofTheStore = error instanceof StoreFailure || storeErrorCode(error) !== null
  return ofTheStore ? journalError(error, path, "read") : error
}
