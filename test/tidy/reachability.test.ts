// Hunts code that nothing uses: it is read, kept working and believed in, for nothing.

import { expect, test } from "vitest"
import type { SourceFile } from "./finding.ts"
import { formatFindings } from "./finding.ts"
import { deadExports, deadFiles, programs } from "./reachability.ts"
import { tree } from "./tree.ts"

const manifest = {
  path: "packages/engine/package.json",
  text: JSON.stringify({
    name: "@invokejs/engine",
    version: "1.0.0",
    bin: { engine: "dist/bin.js" },
    exports: {
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./internal": { types: "./dist/internal.d.ts", default: "./dist/internal.js" },
    },
  }),
}
const source = (name: string, text: string): SourceFile => ({ path: `packages/engine/src/${name}.ts`, text })
const test_ = (name: string, text: string): SourceFile => ({ path: `packages/engine/test/${name}`, text })

test("every source is reached from an entry or a program, and every file of test code from a test", () => {
  expect(formatFindings(deadFiles(tree))).toEqual([])
})

test("every exported value of a source is taken by another file", () => {
  expect(formatFindings(deadExports(tree))).toEqual([])
})

test("a file is alive through imports, re-exports, bins, workers, commands and paths that a test names", () => {
  const files = [
    manifest,
    source("index", `export { a } from "./a.ts"`),
    source("a", `import { b } from "./b.ts"\nconst worker = new URL("./worker.js", import.meta.url)`),
    source("b", ``),
    source("worker", ``),
    source("bin", ``),
    test_("a.test.ts", `import "./kit.ts"\nconst child = join(import.meta.dirname, "child.mjs")`),
    test_("kit.ts", ``),
    test_("child.mjs", ``),
    { path: "package.json", text: JSON.stringify({ scripts: { race: "node test/race.mjs --seed 1" } }) },
    { path: "test/race.mjs", text: `` },
  ]
  expect(deadFiles(files)).toEqual([])
  expect([...programs(files)]).toEqual(["packages/engine/src/bin.ts", "packages/engine/src/worker.ts"])
})

test("a source and a file of test code that nothing reaches are findings", () => {
  const files = [manifest, source("index", ``), source("dead", ``), test_("dead-kit.ts", ``)]
  expect(deadFiles(files).map((finding) => finding.path)).toEqual([
    "packages/engine/src/dead.ts",
    "packages/engine/test/dead-kit.ts",
  ])
})

test("an exported value that no other file imports is a finding; types and the names of index are none", () => {
  const files = [
    manifest,
    source("index", `export { a } from "./a.ts"`),
    source("internal", `export { used, unused } from "./a.ts"`),
    source("a", `export const a = 1, b = 2\nexport function used() {}\nexport const unused = 1\nexport type C = 1`),
    test_("a.test.ts", `import { used } from "@invokejs/engine/internal"`),
  ]
  expect(deadExports(files).map((finding) => finding.message)).toEqual([
    "exports unused, which no other file imports",
    "exports b, which no other file imports",
  ])
})
