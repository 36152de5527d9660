// The repository's own text files, read once in each test process. Needs no git: what is skipped here is what is ignored there.

import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { SourceFile } from "./finding.ts"

const ROOT = join(import.meta.dirname, "../..")
const SKIPPED_FOLDERS = new Set(["node_modules", "dist", "coverage", ".git", ".tmp"])
const TEXT_FILE = /(\.(ts|tsx|mjs|js|json|md|sql|yaml|yml|sh|css|html)|^\.(npmrc|gitignore)|LICENSE|^run)$/

function readFolder(folder: string): SourceFile[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) ? [] : readFolder(path)
    if (!entry.isFile() || !TEXT_FILE.test(entry.name)) return []
    return [{ path, text: readFileSync(join(ROOT, path), "utf8") }]
  })
}

/** Every text file that belongs to the repository. */
export const tree: readonly SourceFile[] = readFolder("")

/** TypeScript and JavaScript of the repository. */
export const code: readonly SourceFile[] = tree.filter((file) => /\.(ts|tsx|mjs)$/.test(file.path))

/** What is published: the sources of the packages. */
export const sources: readonly SourceFile[] = code.filter((file) => isSource(file.path))

export function isSource(path: string): boolean {
  return /^packages\/[^/]+\/src\//.test(path)
}

export function isTestCode(path: string): boolean {
  return /^(packages\/[^/]+\/)?test\//.test(path)
}
