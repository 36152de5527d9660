/**
 * A failure of the store, as the writer tells it. The writer's side does without the engine's `JournalError`, so that its
 * thread does not load the engine.
 */
import type { JournalErrorCode } from "@invokejs/engine"

import { messageOf, storeErrorCode } from "./sqlite-error.ts"

export class StoreFailure extends Error {
  override readonly name = "StoreFailure"
  readonly code: JournalErrorCode
  constructor(code: JournalErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** A `StoreFailure` for anything thrown while the journal at `path` was used; `doing` completes "cannot …". */
export function storeFailure(error: unknown, path: string, doing: string): StoreFailure {
  if (error instanceof StoreFailure) return error
  const code = storeErrorCode(error) ?? "journal_unavailable"
  return new StoreFailure(code, `cannot ${doing} the journal ${path}: ${messageOf(error)}`, { cause: error })
}
