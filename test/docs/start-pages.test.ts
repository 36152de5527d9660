// Hunts the first page that does not work: the block that nobody can follow, the output that nobody gets.
// `npm run quickstart` does the same with packed packages in an empty folder; here the workspace stands in for them.

import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { firstDifference, startSteps, stepsOf } from "../../scripts/docs/start-blocks.mjs"
import { ROOT } from "./documents.ts"

const COMMAND = join(ROOT, "packages/invoke/dist/bin.js")
// Inside the repository, so that the packages of the workspace are found.
let folder = ""

beforeAll(() => {
  mkdirSync(join(ROOT, ".tmp"), { recursive: true })
  folder = mkdtempSync(join(ROOT, ".tmp/start-"))
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n')
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const steps = startSteps()
const typed = steps.filter((step) => step.kind === "type" && !step.command.startsWith("npm install"))

test("docs/start saves and types something on every page, and every saved program is run", () => {
  expect(new Set(typed.map((step) => step.page)).size).toBe(5)
  const programs = steps.flatMap((step) => (step.kind === "save" ? [step] : []))
  const commands = typed.flatMap((step) => (step.kind === "type" ? [step.command] : []))
  const imported = programs.filter(({ file }) => programs.some(({ text }) => text.includes(`"./${file}"`)))
  const idle = programs.filter((one) => !imported.includes(one) && !commands.includes(`node ${one.file}`))
  expect(idle.map(({ file }) => file)).toEqual([])
})

test("the pages of docs/start print what they say, in their order [AU-12]", { timeout: 180_000 }, async () => {
  const problems: string[] = []
  for (const step of steps) {
    if (step.kind === "save") {
      writeFileSync(join(folder, step.file), step.text)
      continue
    }
    if (step.command.startsWith("npm install")) continue
    const command = step.command.replace(/^npx invoke /, `"${process.execPath}" "${COMMAND}" `)
    const { stdout } = await promisify(execFile)("sh", ["-euc", `{ ${command}\n} 2>&1`], { cwd: folder })
    const problem = step.prints === null ? null : firstDifference(step.prints, stdout)
    if (problem !== null) problems.push(`${step.page}:${step.line} ${step.command}: ${problem}`)
  }
  expect(problems).toEqual([])
})

test.each([
  ["one\n", "one\n", null],
  ["at … o'clock\n", "at 10:03 o'clock\n", null],
  ["…\nlast\n", "first\nsecond\nlast\n", null],
  ["a  b\n", "a     b\n", null],
  ["one\n", "two\n", "line 1"],
  ["one\n", "one\ntwo\n", "line 2"],
  ["one\ntwo\n", "one\n", "line 2"],
])("%j against the printed %j differs at %j", (stands, printed, at) => {
  const difference = firstDifference(stands, printed)
  expect(at === null ? difference : difference?.slice(0, 6)).toBe(at)
})

test.each([
  [{ info: "js", text: "const a = 1\n" }, "under which name"],
  [{ info: "ts", text: "// a.ts\n" }, "no reader can follow"],
  [{ info: "text", text: "nothing was typed\n" }, "no reader can follow"],
])("a page of docs/start may not hold the block %j", (block, message) => {
  expect(() => stepsOf([{ page: "docs/start/x.md", line: 1, ...block }])).toThrow(message)
})
