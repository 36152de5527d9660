// Hunts the link that leads nowhere and the change log that cannot be read from top to bottom.

import { expect, test } from "vitest"
import { formatFindings } from "./finding.ts"
import { judgeChangelog, judgeLinks } from "./markdown.ts"
import { tree } from "./tree.ts"

const guide = { path: "docs/guide.md", text: "# Guide\n\n## Two words, `code`\n\n```\n## not a heading\n```\n" }
const links = (text: string) =>
  judgeLinks({ path: "docs/a.md", text }, [guide, { path: "docs/a.md", text }]).map((finding) => finding.message)
const changelog = (text: string) => judgeChangelog({ path: "CHANGELOG.md", text }).map((finding) => finding.message)

test("every relative link of every document leads to a file and a heading of the repository", () => {
  const documents = tree.filter((file) => file.path.endsWith(".md"))
  expect(documents.length).toBeGreaterThan(0)
  expect(formatFindings(documents.flatMap((file) => judgeLinks(file, tree)))).toEqual([])
})

test("the change log opens with what is unreleased and goes on from new to old", () => {
  expect(formatFindings(tree.filter((file) => file.path === "CHANGELOG.md").flatMap(judgeChangelog))).toEqual([])
  expect(tree.some((file) => file.path === "CHANGELOG.md")).toBe(true)
})

test.each([
  ["[x](guide.md)"],
  ["[x](./guide.md#two-words-code)"],
  ["[x](../docs/)"],
  ["# Here\n\n[x](#here)"],
  ["[x](https://example.com/nowhere.md)"],
  ["```\n[x](nowhere.md)\n```"],
  ["`[x](nowhere.md)`"],
])("the link in %j is no finding", (text) => {
  expect(links(text)).toEqual([])
})

test.each([
  ["[x](nowhere.md)", "is not in the repository"],
  ["![x](../image.png)", "is not in the repository"],
  ["[x](guide.md#three-words)", "has no such heading"],
  ["[x](guide.md#not-a-heading)", "has no such heading"],
  ["[x](#there)", "has no such heading"],
])("the link in %j is a finding", (text, message) => {
  expect(links(text)).toEqual([expect.stringContaining(message)])
})

test("a change log in order has no finding", () => {
  const text = "# Changelog\n\n## Unreleased\n\n### Added\n\n- a\n\n## 0.10.0 (2030-01-02)\n\n## 0.9.0 (2030-01-01)\n"
  expect(changelog(text)).toEqual([])
})

test.each([
  ["# Changes\n\n## Unreleased", "opens with"],
  ["# Changelog\n\n## 0.1.0 (2030-01-01)", 'the first section is "## Unreleased"'],
  ["# Changelog\n\n## Unreleased\n\n## v0.1", 'is not "## 1.2.3'],
  ["# Changelog\n\n## Unreleased\n\n## 0.1.0 (2030-01-01)\n\n## 0.2.0 (2030-01-02)", "is not older"],
  ["# Changelog\n\n## Unreleased\n\n### New", `"New" is none of`],
])("the change log %j has a finding", (text, message) => {
  expect(changelog(text)).toEqual([expect.stringContaining(message)])
})
