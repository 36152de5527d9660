/**
 * Keeps two SQLite libraries of one process off the same file. Each tracks its own POSIX locks: when one closes the file,
 * the kernel drops the locks that the other believes it holds, and a commit that returned can be lost (R25).
 */
import { JournalError } from "@invokejs/engine"

import type { DriverName } from "./driver.ts"

/** One for the process, whichever copy of this package asks. A claim is kept for good: a library may keep files open. */
function claims(): Map<string, DriverName> {
  const key = Symbol.for("invokejs.journal-sqlite.libraries")
  const shared = globalThis as unknown as { [key]?: Map<string, DriverName> }
  shared[key] ??= new Map()
  return shared[key]
}

/** Answers a function that takes the claim back, for an open that failed. */
export function claimLibrary(path: string, driver: DriverName): () => void {
  const holder = claims().get(path)
  if (holder !== undefined && holder !== driver) {
    throw new JournalError("journal_unsafe_location", `${path} is open in this process through ${holder} already`)
  }
  claims().set(path, driver)
  return () => {
    if (holder === undefined) claims().delete(path)
  }
}
