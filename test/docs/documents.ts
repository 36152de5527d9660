// The documents that this folder judges.

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

export const ROOT = join(import.meta.dirname, "../..")

export function page(path: string): string {
  return readFileSync(join(ROOT, path), "utf8")
}

/** Pages of docs/ below a folder, by their paths in the repository. */
export function pagesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`)
    .toSorted()
}
