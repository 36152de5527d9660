// Hunts what leaks from the place of work into the repository: its paths, its registry, its loose ends.

import { expect, test } from "vitest"
import { formatFindings } from "./finding.ts"
import { judgeText } from "./text.ts"
import { tree } from "./tree.ts"

const RULE = "test/tidy/text"
const messages = (path: string, text: string) => judgeText({ path, text }).map((finding) => finding.message)

test("no file names a machine's paths, a registry, or work that belongs to nobody", () => {
  // The rule and its fixtures have to spell what they look for.
  const files = tree.filter((file) => !file.path.startsWith(RULE))
  expect(formatFindings(files.flatMap(judgeText))).toEqual([])
})

test.each([
  ["README.md", "see /work/project/docs", "is a path of one machine"],
  ["README.md", "`/home/anna/invoke.db`", "is a path of one machine"],
  ["README.md", "it is written to /tmp/invoke.db", "is a path of one machine"],
  ["a.ts", `const path = "/root/invoke.db"`, "is a path of one machine"],
  ["package-lock.json", `"resolved": "https://example.test/zod.tgz"`, "names a package registry"],
  [".npmrc", "registry=https://registry.npmjs.org", "names a package registry"],
  ["a.ts", "// TODO: later", "belongs to nobody"],
  ["a.ts", "/* FIXME */", "belongs to nobody"],
  ["a.ts", "// oxlint-disable-next-line no-var", "add the reason"],
])("in %s the text %s is a finding", (path, text, message) => {
  expect(messages(path, text)).toEqual([expect.stringContaining(message)])
})

test.each([
  ["a.ts", "// TODO(#12): when the server lands"],
  ["a.ts", `const word = "TODO"`],
  ["a.ts", "// oxlint-disable-next-line no-var -- the fixture is about var"],
  ["a.md", "https://example.com/work/12 and ./home/anna/x and $HOME/work/x"],
  ["a.ts", `const route = "/v1/home/"`],
])("in %s the text %s is no finding", (path, text) => {
  expect(messages(path, text)).toEqual([])
})
