// @ts-check
// `npm run pins:write`: writes test/pins/export-pins.ts from what the built packages export now.
//
// Run it when a public name is meant to come or go, read the difference, and say in CHANGELOG.md what it means for users.

import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { readExports } from "./read-exports.mjs"

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const PINS = join(ROOT, "test/pins/export-pins.ts")

const HEADER = `// The public names of every package, written out. A name is a promise: it comes and goes on purpose.
// After a deliberate change: \`npm run build && npm run pins:write\`, read the difference, and write CHANGELOG.md.

export interface EntryPins {
  readonly values: readonly string[]
  readonly types: readonly string[]
}

export const exportPins: Readonly<Record<string, EntryPins>> = `

writeFileSync(PINS, `${HEADER}${JSON.stringify(readExports(ROOT), null, 2)}\n`)
const formatted = spawnSync(process.execPath, [join(ROOT, "node_modules/oxfmt/bin/oxfmt"), PINS], { stdio: "inherit" })
process.exitCode = formatted.status ?? 1
console.log("test/pins/export-pins.ts is written. Read the difference, and say in CHANGELOG.md what changed for users.")
