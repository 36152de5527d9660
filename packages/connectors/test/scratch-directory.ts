import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"

/** A directory of the running test's own, gone when the test is over. */
export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "invoke-connectors-"))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
