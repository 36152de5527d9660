// @ts-check
// The code blocks of docs/start: what a reader would save, type and see.
//
// The form: a `js` block opens with `// file.mjs` and is saved under that name; a `sh` block is typed; a `text` block is what the
// `sh` block before it prints, where `…` stands for anything on its line. `sh clone` is typed in a clone, not in the reader's folder.

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const ROOT = join(import.meta.dirname, "../..")
/** In reading order. */
export const START_PAGES = ["install", "guard-a-function", "tool-with-probe", "results", "operators"]

/** @typedef {{ page: string, line: number, info: string, text: string }} Block */
/** @typedef {{ kind: "save", page: string, line: number, file: string, text: string }} SaveStep */
/** @typedef {{ kind: "type", page: string, line: number, command: string, prints: string | null }} TypeStep */

/** Every fenced block of a page. @param {string} page @param {string} text @returns {Block[]} */
export function blocksOf(page, text) {
  return [...text.matchAll(/^```(\S[^\n]*)?\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split("\n").length,
    info: match[1] ?? "",
    text: match[2] ?? "",
  }))
}

/** What a reader does with the blocks, in order. @param {Block[]} blocks */
export function stepsOf(blocks) {
  /** @type {(SaveStep | TypeStep)[]} */
  const steps = []
  for (const { page, line, info, text } of blocks) {
    const last = steps.at(-1)
    if (info === "js") steps.push({ kind: "save", page, line, file: fileOf({ page, line, text }), text })
    else if (info === "sh") steps.push({ kind: "type", page, line, command: text.trim(), prints: null })
    else if (info === "text" && last?.kind === "type" && last.prints === null) last.prints = text
    else if (info !== "sh clone") throw new Error(`${page}:${line} has a block that no reader can follow: ${info}`)
  }
  return steps
}

/** @param {{ page: string, line: number, text: string }} block */
function fileOf({ page, line, text }) {
  const file = /^\/\/ ([\w-]+\.mjs)\n/.exec(text)?.[1]
  if (file === undefined) throw new Error(`${page}:${line} does not say under which name to save it`)
  return file
}

/** All of docs/start. */
export function startSteps() {
  const there = readdirSync(join(ROOT, "docs/start")).map((name) => name.replace(/\.md$/, ""))
  const missing = there.filter((name) => !START_PAGES.includes(name))
  if (missing.length > 0) throw new Error(`docs/start has pages that nobody runs: ${missing.join(", ")}`)
  return START_PAGES.flatMap((name) => {
    const page = `docs/start/${name}.md`
    return stepsOf(blocksOf(page, readFileSync(join(ROOT, page), "utf8")))
  })
}

/** The first difference between what stands there and what was printed, or null. @param {string} expected @param {string} printed */
export function firstDifference(expected, printed) {
  const wanted = expected.trimEnd().split("\n")
  const got = printed.trimEnd().split("\n")
  // A line that is nothing but `…` stands for any number of lines.
  const pattern = wanted.map((line) => (line === "…" ? "(?:.*\\n)*?" : `${lineText(line)}\\n`)).join("")
  if (new RegExp(`^${pattern}$`).test(`${got.join("\n")}\n`)) return null
  const found = wanted.findIndex((line, at) => line === "…" || !new RegExp(`^${lineText(line)}$`).test(got[at] ?? "\n"))
  const at = found === -1 ? wanted.length : found
  const [stands, says] = [wanted, got].map((lines) => JSON.stringify(lines[at] ?? "nothing"))
  return `line ${at + 1}: ${stands} stands there, ${says} is printed`
}

/** @param {string} line */
function lineText(line) {
  return line
    .split("…")
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/ +/g, " +"))
    .join(".*")
}
