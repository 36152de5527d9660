// Hunts an import against the direction of the architecture, and a door that somebody walked round.

import { expect, test } from "vitest"
import { formatFindings } from "./finding.ts"
import { judgeImports } from "./layers.ts"
import { doorsOf, judgePackages, workspacePackages } from "./packages.ts"
import type { WorkspacePackage } from "./packages.ts"
import { code, tree } from "./tree.ts"

const packages = workspacePackages(tree)
const rootManifest = JSON.parse(tree.find((file) => file.path === "package.json")?.text ?? "{}") as {
  name: string
  version: string
  devDependencies: Record<string, string>
}
const around = {
  devPackages: Object.keys(rootManifest.devDependencies),
  doors: new Set(doorsOf(packages).keys()),
}

const pack = (folder: string, dependencies: Record<string, string>, references: string[] = []): WorkspacePackage => ({
  folder,
  manifest: { name: `@invokejs/${folder}`, version: "1.0.0", dependencies },
  references,
})
function withExports(folder: string, ...names: string[]): Pick<WorkspacePackage, "manifest"> {
  const targets = names.map((name) => [name, { default: `./dist/${name === "." ? "index" : name.slice(2)}.js` }])
  const exports = Object.fromEntries(targets) as Record<string, unknown>
  return { manifest: { name: `@invokejs/${folder}`, version: "1.0.0", exports } }
}
const root = { name: "root", version: "1.0.0" }
const doors = new Set(
  doorsOf([
    { ...pack("engine", {}), ...withExports("engine", ".", "./internal") },
    { ...pack("protocol", {}), ...withExports("protocol", ".", "./internal", "./wire") },
    { ...pack("testkit", {}), ...withExports("testkit", ".") },
  ]).keys(),
)
const messages = (path: string, text: string, owner: WorkspacePackage) =>
  judgeImports({ path, text }, owner, { devPackages: ["vitest"], doors }).map((finding) => finding.message)

const engine = pack("engine", { "@invokejs/protocol": "1.0.0", zod: "4.0.0" }, ["protocol"])
const SOURCE = "packages/engine/src/dispatch/attempt.ts"
const TEST = "packages/engine/test/attempt.test.ts"

test("every import of every package follows the table of the architecture", () => {
  const findings = packages.flatMap((owner) =>
    code
      .filter((file) => new RegExp(`^packages/${owner.folder}/(src|test)/`).test(file.path))
      .flatMap((file) => judgeImports(file, owner, around)),
  )
  expect(formatFindings(findings)).toEqual([])
})

test("every package.json and tsconfig.json follows the table, in lock-step versions and exact pins", () => {
  expect(packages.length).toBeGreaterThan(0)
  expect(formatFindings(judgePackages(packages, rootManifest))).toEqual([])
})

test.each([
  [`import { x } from "@invokejs/journal-sqlite"`, "engine must not import journal-sqlite"],
  [`export { x } from "@invokejs/journal-sqlite"`, "engine must not import journal-sqlite"],
  [`const x = await import("@invokejs/server")`, "engine must not import server"],
  [`type X = import("@invokejs/server").X`, "engine must not import server"],
  [`import { x } from "undici"`, "undici is not a dependency of engine"],
  [`import { x } from "@invokejs/protocol/internal"`, "@invokejs/protocol/internal is for tests"],
  [`import { x } from "@invokejs/protocol/dist/state.js"`, "reaches into @invokejs/protocol"],
  [`import { x } from "../../../protocol/src/state.ts"`, "outside its package"],
  [`import { x } from "../internal.ts"`, "the door for tests"],
])("a source that says %s is a finding", (text, message) => {
  expect(messages(SOURCE, text, engine)).toEqual([expect.stringContaining(message)])
})

test.each([
  [`import { x } from "../src/engine.ts"`, "tests import the built package"],
  [`import { x } from "@invokejs/invoke"`, "tests of engine must not import invoke"],
  [`import { x } from "left-pad"`, "left-pad is neither a devDependency"],
])("a test that says %s is a finding", (text, message) => {
  expect(messages(TEST, text, engine)).toEqual([expect.stringContaining(message)])
})

test("allowed doors are no findings", () => {
  const source = `import { z } from "zod"; import "node:fs"; import { x } from "@invokejs/protocol/wire"; import "./lease.ts"; new URL("child.mjs", import.meta.url)`
  const inTest = `import "vitest"; import "@invokejs/engine/internal"; import "@invokejs/testkit"; import "./kit/clock.ts"`
  expect(messages(SOURCE, source, engine)).toEqual([])
  expect(messages(TEST, inTest, engine)).toEqual([])
})

test("protocol imports no builtin of Node", () => {
  const found = messages(
    "packages/protocol/src/id.ts",
    `import { createHash } from "node:crypto"`,
    pack("protocol", {}),
  )
  expect(found).toEqual([expect.stringContaining("runs in browsers")])
})

test.each([
  ["another version", pack("protocol", {}), { ...root, version: "2.0.0" }, "is not the workspace's 2.0.0"],
  ["a range", pack("protocol", { zod: "^4.0.0" }), root, "give an exact version"],
  [
    "a strayed pin",
    pack("engine", { "@invokejs/protocol": "0.9.0" }, ["protocol"]),
    root,
    "0.9.0 is not the workspace's",
  ],
  [
    "a wrong direction",
    pack("protocol", { "@invokejs/engine": "1.0.0" }, ["engine"]),
    root,
    "must not depend on engine",
  ],
  ["a missing reference", pack("engine", { "@invokejs/protocol": "1.0.0" }), root, "tsconfig.json refers to []"],
  ["an unknown package", pack("novelty", {}), root, "has no line in MAY_IMPORT"],
])("a package with %s is a finding", (_what, owner, manifest, message) => {
  const found = judgePackages([owner], manifest).map((finding) => finding.message)
  expect(found).toEqual([expect.stringContaining(message)])
})
