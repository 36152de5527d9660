// @ts-check
// `npm run docs`: makes the pages of docs/ that the code already knows, and the state diagram of ARCHITECTURE.md.
//
//   npm run docs                writes them
//   npm run docs -- --check     writes nothing; names the pages that are stale and ends with 1
//
// A page made here is never edited by hand; a test makes them again and compares.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { format } from "oxfmt"
import { onBench } from "./docs/bench.mjs"
import { errorPages } from "./docs/error-pages.mjs"
import { llmsPage } from "./docs/llms-page.mjs"
import { defaultsPage, resultsPage, statesPage, verbsPage } from "./docs/protocol-pages.mjs"
import { reconciledResult } from "./docs/sample-result.mjs"
import { mermaid } from "./docs/state-diagram.mjs"
import { walkStates } from "./docs/state-graph.mjs"
import { sdkPage, toolDefinitionPage } from "./docs/tool-pages.mjs"

const ROOT = dirname(import.meta.dirname)
const ARCHITECTURE = "ARCHITECTURE.md"
const DRAWING = /(<!-- states: made by `npm run docs` -->\n\n)[\s\S]*?(\n\n<!-- \/states -->)/

/** Every page that is made, by its path in the repository. @returns {Promise<Map<string, string>>} */
export async function madePages() {
  const edges = walkStates()
  const pages = new Map([
    ["docs/reference/results.md", resultsPage(await onBench(reconciledResult))],
    ["docs/reference/states.md", statesPage(edges)],
    ["docs/reference/verbs.md", verbsPage()],
    ["docs/reference/defaults.md", defaultsPage()],
    ["docs/reference/tool-definition.md", toolDefinitionPage()],
    ["docs/reference/sdk.md", sdkPage()],
    ...(await errorPages()),
    [ARCHITECTURE, architecture(mermaid(edges))],
  ])
  for (const [path, text] of pages) pages.set(path, await formatted(path, text))
  return pages.set("docs/llms.txt", llmsPage(pages))
}

/** @param {string} drawing */
function architecture(drawing) {
  const text = readFileSync(join(ROOT, ARCHITECTURE), "utf8")
  if (!DRAWING.test(text)) throw new Error(`${ARCHITECTURE} has no place for the drawing of the states`)
  return text.replace(DRAWING, (_all, before, after) => `${before}\`\`\`mermaid\n${drawing}\n\`\`\`${after}`)
}

/** @param {string} path @param {string} text */
async function formatted(path, text) {
  const { ignorePatterns: _ignore, ...options } = JSON.parse(readFileSync(join(ROOT, ".oxfmtrc.json"), "utf8"))
  return (await format(path, text, options)).code
}

/** Paths of pages that are not what the code says, and of error pages whose code is gone. @param {Map<string, string>} pages */
export function stalePages(pages) {
  const differing = [...pages].filter(([path, text]) => onDisk(path) !== text).map(([path]) => path)
  return [...differing, ...orphans(pages)]
}

/** @param {Map<string, string>} pages */
function orphans(pages) {
  const folder = "docs/reference/errors"
  const there = existsSync(join(ROOT, folder)) ? readdirSync(join(ROOT, folder)) : []
  return there.map((name) => `${folder}/${name}`).filter((path) => !pages.has(path))
}

/** @param {string} path */
function onDisk(path) {
  return existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), "utf8") : null
}

async function main() {
  const pages = await madePages()
  const stale = stalePages(pages)
  if (process.argv.includes("--check")) {
    for (const path of stale) console.log(`stale: ${path}; run \`npm run docs\``)
    console.log(`${pages.size} pages, ${stale.length} stale`)
    process.exitCode = stale.length === 0 ? 0 : 1
    return
  }
  for (const path of stale) {
    const text = pages.get(path)
    if (text === undefined) rmSync(join(ROOT, path))
    else {
      mkdirSync(dirname(join(ROOT, path)), { recursive: true })
      writeFileSync(join(ROOT, path), text)
    }
    console.log(`${text === undefined ? "removed" : "wrote"} ${path}`)
  }
  console.log(`${pages.size} pages, ${stale.length} changed`)
}

if (process.argv[1] === import.meta.filename) await main()
