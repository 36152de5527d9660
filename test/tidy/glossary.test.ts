// Hunts the second word for one thing, by which two readers think of two things.

import { expect, test } from "vitest"
import { formatFindings } from "./finding.ts"
import { judgeWords, unusedWords } from "./glossary.ts"
import { sources, tree } from "./tree.ts"

const glossary = unusedWords(tree.find((file) => file.path === "docs/glossary.md")?.text ?? "")
const OUTSIDE_SYSTEMS = /^packages\/(connectors\/src|testkit\/src\/providers)\//
const words = new Map([["job", "operation"]])
const found = (path: string, text: string) => judgeWords({ path, text }, words).map((finding) => finding.message)

test("no file, export, field or column of ours uses a word that the glossary gives up", () => {
  expect([...glossary.keys()]).toContain("job")
  const files = [...sources, ...tree.filter((file) => file.path.endsWith(".sql"))]
  const ours = files.filter((file) => !OUTSIDE_SYSTEMS.test(file.path))
  expect(formatFindings(ours.flatMap((file) => judgeWords(file, glossary)))).toEqual([])
})

test.each([
  ["packages/engine/src/job-queue.ts", ""],
  ["a.ts", "export function claimJobs() {}"],
  ["a.ts", "export const JOB_LIMIT = 1"],
  ["a.ts", "interface Claim { job_id: string }"],
  ["a.sql", "CREATE TABLE jobs (id TEXT)"],
])("in %s the text %j is a finding", (path, text) => {
  expect(found(path, text)).toEqual([expect.stringContaining("the word is operation")])
})

test.each([
  ["a.ts", "const job = 1 // a job"],
  ["a.ts", "export const jobless = 1"],
  ["a.sql", "-- a job\nSELECT 'job'"],
])("in %s the text %j is no finding", (path, text) => {
  expect(found(path, text)).toEqual([])
})
