// Hunts a file that reads the clock, makes an id or prints by itself, so that no seed can replay it.

import { expect, test } from "vitest"
import type { Adapter } from "./adapters.ts"
import { adapters } from "./adapters.ts"
import { bannedUsesIn } from "./banned-globals.ts"
import type { Finding, SourceFile } from "./finding.ts"
import { formatFindings } from "./finding.ts"
import { sources } from "./tree.ts"

const kindsIn = (text: string) => bannedUsesIn({ path: "packages/engine/src/x.ts", text }).map((use) => use.kind)

function judgeBannedUses(files: readonly SourceFile[], allowed: readonly Adapter[]): Finding[] {
  const entries = allowed.flatMap((adapter) => adapter.may.map((kind) => ({ path: adapter.path, kind })))
  const uses = files.flatMap((file) => bannedUsesIn(file).map((use) => ({ path: file.path, ...use })))
  const same = (a: { path: string; kind: string }, b: { path: string; kind: string }) =>
    a.path === b.path && a.kind === b.kind
  return [
    ...uses.filter((use) => !entries.some((entry) => same(entry, use))),
    ...entries
      .filter((entry) => !uses.some((use) => same(entry, use)))
      .map(({ path, kind }) => ({
        path,
        line: 1,
        message: `does not touch ${kind} any more; drop it from adapters.ts`,
      })),
  ]
}

test("only the adapters touch the clock, timers, randomness, the environment, output and the network", () => {
  expect(formatFindings(judgeBannedUses(sources, adapters))).toEqual([])
})

test.each([
  [`const t = Date.now()`, "time"],
  [`const t = new Date()`, "time"],
  [`const now = Date.now`, "time"],
  [`const t = globalThis.performance.now()`, "time"],
  [`import { performance } from "node:perf_hooks"`, "time"],
  [`setTimeout(run, 10)`, "timers"],
  [`const timers = { setInterval }`, "timers"],
  [`globalThis.setTimeout(run, 10)`, "timers"],
  [`import { setTimeout as sleep } from "node:timers/promises"`, "timers"],
  [`const x = Math.random()`, "randomness"],
  [`const x = crypto.randomUUID()`, "randomness"],
  [`import { randomBytes } from "node:crypto"`, "randomness"],
  [`const home = process.env["HOME"]`, "environment"],
  [`import { env } from "node:process"`, "environment"],
  [`console.log("x")`, "output"],
  [`await fetch("http://127.0.0.1")`, "network"],
])("%s is a use of %s", (text, kind) => {
  expect(kindsIn(text)).toEqual([kind])
})

test.each([
  [`const t = new Date(ms)`],
  [`function f({ fetch }) { return fetch("x") }`],
  [`const f = (console: Console) => console.log("x")`],
  [`const x = clock.setTimeout(run, 10)`],
  [`const port = { setTimeout: 1, fetch() {} }`],
  [`type Timer = ReturnType<typeof setTimeout>`],
  [`import { createHash } from "node:crypto"`],
])("%s uses nothing that is banned", (text) => {
  expect(kindsIn(text)).toEqual([])
})

test("an adapter may do what its line says and nothing else, and a line that nothing needs is a finding", () => {
  const files = [{ path: "a.ts", text: `Date.now(); console.log()` }]
  const allowed: Adapter[] = [{ path: "a.ts", may: ["time", "timers"], reason: "the clock" }]
  expect(judgeBannedUses(files, allowed).map((finding) => finding.message)).toEqual([
    expect.stringContaining("uses console; report through"),
    "does not touch timers any more; drop it from adapters.ts",
  ])
})
