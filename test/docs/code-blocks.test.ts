// Hunts the code in the docs that no compiler would take: the renamed option, the method that is gone, the missing bracket.
// The blocks of docs/start are run elsewhere.

import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseSync } from "vite"
import { afterAll, expect, test } from "vitest"
import { blocksOf } from "../../scripts/docs/start-blocks.mjs"
import { page, pagesBelow, ROOT } from "./documents.ts"

const documents = [...pagesBelow("docs"), "README.md", "ARCHITECTURE.md"].filter(
  (path) => !path.startsWith("docs/start/"),
)
const blocks = documents
  .flatMap((path) => blocksOf(path, page(path)))
  .filter(({ info }) => info === "js" || info === "ts")
  .map((block) => ({ ...block, name: `${block.page}:${block.line}` }))

/** Members of a definition, shown without the object round them. */
const isFragment = (text: string): boolean => /^\w+:/.test(text)
/** What is left out of a block cannot be checked for types. */
const isWhole = (text: string): boolean => !isFragment(text) && !text.includes("…")

/** What the blocks take as given. Every block is a module, so that their names do not meet. */
const GIVEN = `
import { Invoke, absent, defineTool, found, id, minor, InvokeError, type AttemptContext, type Result } from "@invokejs/invoke"
import { stripeTools } from "@invokejs/connectors/stripe"
declare const apiKey: string
declare const params: { invoice_id: string }
declare const tools: ReturnType<typeof stripeTools>
declare function chargeCustomer(
  params: { invoice_id: string; amount: number },
  context: AttemptContext,
): Promise<{ id: string }>
`
const OPENED = `declare const invoke: Invoke\n`
const RESULT = `declare const result: Result\n`

function moduleOf(text: string): string {
  if (text.includes("import ")) return text
  const invoke = /\bconst invoke\b/.test(text) ? "" : OPENED
  const result = /\bconst result\b/.test(text) ? "" : RESULT
  return `${GIVEN}${invoke}${result}${text}`
}

let folder = ""
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test("every block of code in the docs can be parsed", () => {
  expect(blocks.length).toBeGreaterThan(10)
  const broken = blocks.filter(({ text }) => {
    const code = isFragment(text) ? `({\n${text}\n})` : text
    return parseSync("block.ts", code).errors.length > 0
  })
  expect(broken.map(({ name }) => name)).toEqual([])
})

test("every whole block of code in the docs has the types of the packages", { timeout: 120_000 }, () => {
  const whole = blocks.filter(({ text }) => isWhole(text))
  expect(whole.length).toBeGreaterThan(6)
  mkdirSync(join(ROOT, ".tmp"), { recursive: true })
  folder = mkdtempSync(join(ROOT, ".tmp/blocks-"))
  const files = whole.map(({ name, text }) => {
    const file = `${name.replaceAll(/\W+/g, "-")}.ts`
    writeFileSync(join(folder, file), moduleOf(text))
    return file
  })
  expect(files.length).toBe(new Set(files).size)
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../../tsconfig.base.json",
      compilerOptions: {
        composite: false,
        declaration: false,
        declarationMap: false,
        sourceMap: false,
        noEmit: true,
        noUnusedLocals: false,
        verbatimModuleSyntax: false,
        module: "preserve",
        moduleResolution: "bundler",
      },
      include: ["*.ts"],
    }),
  )
  expect(complaints()).toBe("")
})

function complaints(): string {
  try {
    execFileSync(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder], { encoding: "utf8" })
    return ""
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}
