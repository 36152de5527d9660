// Hunts a README whose code does not run or whose output is invented.
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { scratchDirectory } from "./scratch-directory.ts"

const README = fileURLToPath(new URL("../README.md", import.meta.url))

test("every example of the README prints what stands under it", async () => {
  const pairs = [...readFileSync(README, "utf8").matchAll(/```js\n([\s\S]*?)```\s+```text\n([\s\S]*?)```/g)]
  expect(pairs).toHaveLength(2)
  for (const [, code = "", output = ""] of pairs) {
    const placed = code.replace(`"./stand-in"`, JSON.stringify(scratchDirectory()))
    const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", placed], { cwd: dirname(README) })
    expect((await run).stdout).toBe(output)
  }
})
