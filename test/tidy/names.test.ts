// Hunts the folder that takes anything in, the file that does not say what it is, and the test name that states no fact.

import { expect, test } from "vitest"
import { formatFindings } from "./finding.ts"
import { judgeHeader, judgePath, judgeTestNames } from "./names.ts"
import { code, tree } from "./tree.ts"

const testNames = (text: string) =>
  judgeTestNames({ path: "packages/engine/test/a.test.ts", text }).map((finding) => finding.message)

test("code has kebab-case names that say what it does", () => {
  const paths = [...code, ...tree.filter((file) => file.path.endsWith(".sql"))].map((file) => file.path)
  expect(formatFindings(paths.flatMap(judgePath))).toEqual([])
})

test("core files say what they are and test files which bug they hunt", () => {
  expect(formatFindings(code.flatMap(judgeHeader))).toEqual([])
})

test("names of tests state facts and stand once in their file", () => {
  expect(formatFindings(code.flatMap(judgeTestNames))).toEqual([])
})

test.each([
  ["packages/engine/src/utils/money.ts", `"utils" says nothing`],
  ["packages/engine/src/helpers.ts", `"helpers" says nothing`],
  ["packages/engine/src/common/a.ts", `"common" says nothing`],
  ["packages/engine/src/LeaseClock.ts", `"LeaseClock" is not in kebab-case`],
  ["packages/engine/src/lease_clock.ts", `"lease_clock" is not in kebab-case`],
])("the path %s is a finding", (path, message) => {
  expect(judgePath(path).map((finding) => finding.message)).toEqual([expect.stringContaining(message)])
})

test("numbered migrations, long tests and dotted folders are no findings", () => {
  const paths = ["packages/journal-sqlite/sql/000001-operations.sql", "test/a.long.test.ts", ".ci/run"]
  expect(paths.flatMap(judgePath)).toEqual([])
})

test("a core file of 61 lines without a header is a finding, and a short one is none", () => {
  const found = (lines: number, path: string) => judgeHeader({ path, text: "const a = 1\n".repeat(lines) }).length
  expect([found(60, "packages/engine/src/a.ts"), found(61, "packages/engine/src/a.ts")]).toEqual([0, 1])
  expect(found(61, "packages/connectors/src/a.ts")).toBe(0)
  const long = "const a = 1\n".repeat(99)
  const headed = (opening: string) => judgeHeader({ path: "packages/engine/src/a.ts", text: opening + long })
  expect(headed("// What it is.\n")).toEqual([])
  expect(headed(`import { a } from "./a.ts"\n\n/** What it is. */\n`)).toEqual([])
  expect(headed(`const b = 1\n// What it is.\n`)).toHaveLength(1)
})

test("a test file without a header is a finding", () => {
  expect(judgeHeader({ path: "test/a.test.ts", text: `import "vitest"` })).toHaveLength(1)
})

test("a name that stands twice in one suite is a finding, and in two suites it is none", () => {
  expect(testNames(`test("a", run); test("a", run)`)).toEqual([expect.stringContaining("names two tests")])
  expect(testNames(`describe("x", () => { test("a", run) }); describe("y", () => { test("a", run) })`)).toEqual([])
})

test.each([[`test("should work", run)`], [`it.each([1])("it should work", run)`]])("%s is a finding", (text) => {
  expect(testNames(text)).toEqual([expect.stringContaining("says should")])
})
