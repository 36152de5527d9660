// @ts-check
// docs/llms.txt: every page with its first sentence, for readers that are programs.

import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"

const ROOT = join(import.meta.dirname, "../..")
const DOCS = join(ROOT, "docs")
/** One line stands for all of them. */
const ERROR_PAGES = "docs/reference/errors/"
/** Sections in reading order; a folder that is missing here is a mistake. */
export const SECTIONS = ["start", "concepts", "guides", "operating", "reference", "internals", "decisions"]

/** The title and the first sentence of prose of a page. @param {string} text */
export function opening(text) {
  const title = /^# (.+)$/m.exec(text)?.[1] ?? ""
  const body = text
    .replaceAll(/<!--[\s\S]*?-->/g, "")
    .replaceAll(/^(```|~~~)[\s\S]*?^\1.*$/gm, "")
    .split("\n\n")
    .map((part) => part.trim().replaceAll("\n", " "))
    .find((part) => part !== "" && !/^[#|>*-]/.test(part))
  const plain = (body ?? "").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("**", "")
  return { title, sentence: /^.*?[.?!](?=\s|$)/.exec(plain)?.[0] ?? plain }
}

/** @param {Map<string, string>} made pages of this run, which may not be on disk yet */
export function llmsPage(made) {
  const onDisk = readdirSync(DOCS, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => `docs/${path.replaceAll("\\", "/")}`)
  const paths = [...new Set([...onDisk, ...made.keys()])]
    .filter((path) => /^docs\/.*\.md$/.test(path) && !path.startsWith(ERROR_PAGES))
    .toSorted()
  const line = (/** @type {string} */ path) => {
    const { title, sentence } = opening(made.get(path) ?? readFileSync(join(ROOT, path), "utf8"))
    return `- [${title}](${relative("docs", path)})${sentence === "" ? "" : `: ${sentence}`}`
  }
  const within = (/** @type {string} */ section) => paths.filter((path) => path.startsWith(`docs/${section}/`))
  const top = paths.filter((path) => !path.slice("docs/".length).includes("/") && path !== "docs/index.md")
  const sections = [
    ...SECTIONS.map((section) => `## ${section}\n\n${within(section).map(line).join("\n")}`),
    `## more\n\n${top.map(line).join("\n")}`,
  ]
  return `# Invoke

> Makes it safe to let AI agents change the world: one business action stays one action when calls are retried, answers are
> lost or processes die. Identity, state and recovery belong to Invoke; the model owns none of them.

${sections.join("\n\n")}

The page of an error code is \`reference/errors/<code>.md\`; \`error.docs\` names it.
`
}
