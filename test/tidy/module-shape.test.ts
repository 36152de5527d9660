// Hunts an import that does something, and an export that nobody named.

import { expect, test } from "vitest"
import { formatFindings } from "./finding.ts"
import { judgeModuleShape, judgeNonNull } from "./module-shape.ts"
import { programs } from "./reachability.ts"
import { sources, tree } from "./tree.ts"

const shape = (text: string, path = "packages/engine/src/lease.ts") =>
  judgeModuleShape({ path, text }).map((finding) => finding.message)
const nonNull = (text: string) => judgeNonNull({ path: "a.ts", text })

test("no source runs, holds state or awaits on import, and every entry is a list of named exports", () => {
  const started = programs(tree)
  const modules = sources.filter((file) => !started.has(file.path))
  expect(formatFindings(modules.flatMap(judgeModuleShape))).toEqual([])
})

test("every ! of a source has its reason beside it", () => {
  expect(formatFindings(sources.flatMap(judgeNonNull))).toEqual([])
})

test.each([
  [`export * from "./a.ts"`, "exports *"],
  [`export default 1`, "exports a default"],
  [`register("lease")`, "runs on import"],
  [`if (x) y()`, "runs on import"],
  [`let count = 0`, "is state of the module"],
  [`export let count = 0`, "is state of the module"],
  [`const x = await open()`, "awaits on import"],
])("%s is a finding", (text, message) => {
  expect(shape(text)).toEqual([expect.stringContaining(message)])
})

test("an entry that declares anything is a finding", () => {
  const entry = "packages/engine/src/index.ts"
  expect(shape(`export { a, type B } from "./a.ts"\nexport type { C } from "./c.ts"\nexport {}`, entry)).toEqual([])
  expect(shape(`export const a = 1`, entry)).toEqual([expect.stringContaining("stands in an entry")])
  expect(shape(`import { a } from "./a.ts"`, entry)).toEqual([expect.stringContaining("stands in an entry")])
})

test("declarations, and functions that await, are no findings", () => {
  const text = `
    import { z } from "zod"
    const LIMIT = z.number()
    export const open = async () => { await LIMIT }
    export class Lease { static async read() { await LIMIT } }
    interface X { a: 1 }
    export function f() { let a = 1; return a }
  `
  expect(shape(text)).toEqual([])
})

test("a ! without a reason is a finding, and a comment beside it or above it is one", () => {
  expect(nonNull(`const a = rows[0]!`)).toHaveLength(1)
  expect(nonNull(`const a = rows[0]! // the query has LIMIT 1 and was counted`)).toEqual([])
  expect(nonNull(`// counted above\nconst a = rows[0]!`)).toEqual([])
})
