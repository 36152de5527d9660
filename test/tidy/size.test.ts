// Hunts the file and the function that grew while nobody looked.

import { expect, test } from "vitest"
import { formatFindings } from "./finding.ts"
import { judgeFileLength, judgeFunctionLength } from "./size.ts"
import { code, tree } from "./tree.ts"

const lines = (count: number) => "let x = 1\n".repeat(count)
const messages = (text: string) => judgeFunctionLength({ path: "a.ts", text }).map((finding) => finding.message)

test("no file is longer than its wall", () => {
  // The list of public names has one line for each of them and is written by a script.
  const files = [...code, ...tree.filter((file) => file.path.endsWith(".sql"))].filter(
    (file) => file.path !== "test/pins/export-pins.ts",
  )
  expect(formatFindings(files.flatMap(judgeFileLength))).toEqual([])
})

test("no function is longer than its limit", () => {
  expect(formatFindings(code.flatMap(judgeFunctionLength))).toEqual([])
})

test("a source of 401 lines and a test of 601 are findings, and one line less is none", () => {
  const found = (path: string, count: number) => judgeFileLength({ path, text: lines(count) }).length
  expect([found("packages/engine/src/a.ts", 400), found("packages/engine/src/a.ts", 401)]).toEqual([0, 1])
  expect([found("packages/engine/test/a.test.ts", 600), found("packages/engine/test/a.test.ts", 601)]).toEqual([0, 1])
})

test("a function of 61 lines is a finding by its name, and one of 60 is none", () => {
  expect(messages(`function settle() {\n${lines(58)}}`)).toEqual([])
  expect(messages(`function settle() {\n${lines(59)}}`)).toEqual([expect.stringContaining("settle has 61 lines")])
  expect(messages(`const settle = async () => {\n${lines(59)}}`)).toEqual([expect.stringContaining("settle has 61")])
})

test("the lines of an inner function are its own", () => {
  expect(messages(`function suite() {\n${`test(() => {\n${lines(20)}})\n`.repeat(5)}}`)).toEqual([])
  expect(messages(`function suite() {\nreturn () => {\n${lines(61)}}\n}`)).toHaveLength(1)
})
