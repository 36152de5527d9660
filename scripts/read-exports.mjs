// @ts-check
// Reads what every package promises: the names that each entry of its `exports` gives out, from the built declarations.
//
// Entries hold named exports and nothing else (a tidy rule), so the names stand in the declaration file itself.
// `./internal` is the test seam and promises nothing.

import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { parseSync } from "vite"

/** @typedef {{ values: string[], types: string[] }} EntryExports */

/**
 * @param {string} root of the repository, built
 * @returns {Record<string, EntryExports>} by the name under which the entry is imported
 */
export function readExports(root) {
  const entries = readdirSync(join(root, "packages")).flatMap((folder) => entriesOf(join(root, "packages", folder)))
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** @param {string} folder @returns {[string, EntryExports][]} */
function entriesOf(folder) {
  /** @type {{ name: string, exports?: Record<string, string | { types?: string }> }} */
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  return Object.entries(manifest.exports ?? {}).flatMap(([door, target]) => {
    const types = typeof target === "string" ? undefined : target.types
    if (types === undefined || door === "./internal") return []
    /** @type {[string, EntryExports]} */
    const entry = [manifest.name + door.slice(1), namesIn(readFileSync(join(folder, types), "utf8"))]
    return [entry]
  })
}

/** @param {string} declaration text of a `.d.ts` @returns {EntryExports} */
export function namesIn(declaration) {
  const entries = parseSync("entry.d.ts", declaration).module.staticExports.flatMap((statement) => statement.entries)
  /** @param {boolean} isType */
  const names = (isType) =>
    entries
      .filter((entry) => entry.isType === isType)
      .flatMap((entry) => entry.exportName.name ?? [])
      .toSorted()
  return { values: names(false), types: names(true) }
}
