// Hunts the example that stopped working, and the README that shows what it does not print.

import { execFile } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { blocksOf } from "../../scripts/docs/start-blocks.mjs"
import { page, ROOT } from "./documents.ts"

const stories = readdirSync(join(ROOT, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)

test("the list of examples names every story", () => {
  expect(stories.length).toBeGreaterThanOrEqual(5)
  expect(stories.filter((story) => !page("examples/README.md").includes(`(${story}/README.md)`))).toEqual([])
})

test.each(stories)("examples/%s holds, and prints what its README shows", async (story) => {
  const path = `examples/${story}/README.md`
  const shown = blocksOf(path, page(path)).find(({ info }) => info === "text")?.text
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, `examples/${story}/main.mjs`)])
  expect(stdout).toBe(shown)
})
