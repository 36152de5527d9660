// Hunts a linter that has stopped looking: a rule switched off, or type information that is quietly missing.

import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"

const ROOT = join(import.meta.dirname, "../..")

/** The rules that the linter names for a file of that text, under the settings of the repository. */
function rulesAgainst(text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), "invoke-lint-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const compilerOptions = { strict: true, target: "es2023", lib: ["es2023"], types: [], module: "nodenext" }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["."] }))
  writeFileSync(join(folder, "fixture.ts"), text)
  const oxlint = join(ROOT, "node_modules/oxlint/bin/oxlint")
  const config = join(ROOT, ".oxlintrc.json")
  const command = [oxlint, "--type-aware", "--format=unix", "-c", config, folder]
  const { stdout } = spawnSync(process.execPath, command, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  })
  return [...stdout.matchAll(/\[Error\/([\w()/-]+)\]/g)].map((match) => match[1] ?? "")
}

test.each([
  ["typescript(no-floating-promises)", "export function f(p: Promise<void>) { p }"],
  ["typescript(no-misused-promises)", "export function f(p: Promise<boolean>) { if (p) return 1; return 2 }"],
  ["typescript(await-thenable)", "export async function f(n: number) { await n }"],
  [
    "typescript(switch-exhaustiveness-check)",
    `export function f(s: "a" | "b") { switch (s) { case "a": return 1 } return 2 }`,
  ],
  ["typescript(no-explicit-any)", "export const f = (x: any) => String(x)"],
  ["typescript(no-unsafe-assignment)", `export const f = () => { const x = JSON.parse("1"); return String(x) }`],
  ["typescript(only-throw-error)", `export const f = () => { throw "text" }`],
  ["eslint(eqeqeq)", "export const f = (a: number, b: number) => a == b"],
  ["import(no-default-export)", "export default 1"],
])("%s is an error", (rule, text) => {
  expect(rulesAgainst(text)).toContain(rule)
})

test("a file without faults has none", () => {
  expect(rulesAgainst("export const f = (a: number, b: number): boolean => a === b\n")).toEqual([])
})
