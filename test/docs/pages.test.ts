// Hunts the page that nobody finds, the message that nobody prints, the limit that is not told, and prose that says nothing.

import { ERROR_CODES, type ErrorCode } from "@invokejs/protocol"
import { expect, test } from "vitest"
import { causeError, replacedJournal, UNCAUSED } from "../../scripts/docs/error-triggers.mjs"
import { formatFindings } from "../tidy/finding.ts"
import { sources, tree } from "../tidy/tree.ts"
import { page, pagesBelow } from "./documents.ts"
import { judgeProse } from "./prose.ts"

const FOLDERS = ["start", "concepts", "operating", "internals"]

test("the first page leads to every page of start, concepts, operating and internals, and to every reference page", () => {
  const index = page("docs/index.md")
  const paths = [...FOLDERS.flatMap((folder) => pagesBelow(`docs/${folder}`)), ...pagesBelow("docs/reference")]
  const unlinked = paths
    .filter((path) => !path.startsWith("docs/reference/errors/"))
    .filter((path) => !index.includes(`(${path.slice("docs/".length)})`))
  expect(unlinked).toEqual([])
})

test("each page opens with a title, and its first screen holds code, a table or a list", () => {
  const bare = FOLDERS.flatMap((folder) => pagesBelow(`docs/${folder}`)).filter((path) => {
    const screen = page(path).split("\n").slice(0, 24)
    return !/^# \S/.test(screen[0] ?? "") || !screen.some((line) => /^(```|\||- |1\. )/.test(line))
  })
  expect(bare).toEqual([])
})

test("the headings of the troubleshooting page are messages that Invoke prints, or questions", async () => {
  const headings = [...page("docs/troubleshooting.md").matchAll(/^## (.+)$/gm)].map((match) => match[1] ?? "")
  expect(headings.length).toBeGreaterThan(10)
  const caused = ERROR_CODES.filter((code: ErrorCode) => UNCAUSED[code] === undefined)
  const messages = await Promise.all(caused.map(async (code) => (await causeError(code)).message))
  const printed = [await replacedJournal(), ...messages, ...sources.map(({ text }) => text)]
  const invented = headings.filter(
    (heading) => !heading.endsWith("?") && !printed.some((text) => text.includes(heading)),
  )
  expect(invented).toEqual([])
})

test.each([
  ["S1 at most one un-evidenced dispatch", "S2 intent first", "S3 no invented outcome", "S4 one truth", "L1 no orphan"],
  [
    "holds a request longer",
    "neither key nor probe",
    "goes round Invoke",
    "Two journals are two Invokes",
    "copy forgets",
  ],
  ["`runId` fallback", "as good as its correlation", "Somebody must run", "default policy is `allow`"],
])("the limits page says %s and what belongs to it [AU-11]", (...sayings) => {
  const limits = page("docs/concepts/limits.md").replaceAll(/\s+/g, " ")
  expect(sayings.filter((saying) => !limits.includes(saying))).toEqual([])
})

test.each([
  ["README.md"],
  ["docs/concepts/reconciliation.md"],
  ["docs/start/tool-with-probe.md"],
  ["docs/reference/defaults.md"],
])("%s says how long an ordinary no takes with the defaults [AU-11]", (path) => {
  expect(page(path).replaceAll(/\s+/g, " ")).toMatch(/six to seven minutes/)
})

test("every file that ARCHITECTURE.md and the internals name is there", () => {
  const paths = ["ARCHITECTURE.md", ...pagesBelow("docs/internals"), "docs/concepts/limits.md"]
  const named = paths.flatMap((path) => [...page(path).matchAll(/`([\w./-]+\.ts)`/g)].map((match) => match[1] ?? ""))
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !tree.some((file) => `/${file.path}`.endsWith(`/${name}`)))).toEqual([])
})

test("the prose of the docs has short paragraphs, no hedging and no marketing", () => {
  const paths = [
    ...FOLDERS.flatMap((folder) => pagesBelow(`docs/${folder}`)),
    "docs/index.md",
    "docs/troubleshooting.md",
  ]
  const judged = [...paths, "README.md", "ARCHITECTURE.md"].map((path) => ({ path, text: page(path) }))
  expect(formatFindings(judged.flatMap(judgeProse))).toEqual([])
})

test.each([
  ["One. Two. Three. Four.", "4 sentences"],
  ["A seamless way.", 'says "seamless"'],
  ["It is simply there.", 'says "simply"'],
])("the paragraph %j is a finding", (text, message) => {
  expect(judgeProse({ path: "a.md", text }).map((finding) => finding.message)).toEqual([
    expect.stringContaining(message),
  ])
})

test.each([
  ["One. Two. Three."],
  ["```\nseamless. a. b. c. d.\n```"],
  ["- One. Two. Three. Four."],
  ["`a. b. c.` is code. So is `d. e.`"],
])("the paragraph %j is no finding", (text) => {
  expect(judgeProse({ path: "a.md", text })).toEqual([])
})
