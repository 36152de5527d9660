// Hunts a public name that came, went or changed between type and value without anybody meaning it.
// The pins stand in export-pins.ts; after a deliberate change `npm run build && npm run pins:write` moves them.

import { join } from "node:path"
import { expect, test } from "vitest"
import { namesIn, readExports } from "../../scripts/read-exports.mjs"
import { exportPins } from "./export-pins.ts"
import { differencesFromPin } from "./pin.ts"

const exported = readExports(join(import.meta.dirname, "../.."))
const entryNames = Object.keys(exported)

test("every public entry of every package is pinned", () => {
  expect(differencesFromPin("the workspace", entryNames, Object.keys(exportPins))).toEqual([])
})

test.each(entryNames)("%s exports the pinned values and types", (entry) => {
  const pins = exportPins[entry] ?? { values: [], types: [] }
  const { values, types } = exported[entry] ?? { values: [], types: [] }
  expect([
    ...differencesFromPin(`${entry} (values)`, values, pins.values),
    ...differencesFromPin(`${entry} (types)`, types, pins.types),
  ]).toEqual([])
})

test.each(entryNames)("%s gives out at run time the values that its declarations promise", async (entry) => {
  const loaded = (await import(/* @vite-ignore */ entry)) as Record<string, unknown>
  expect(Object.keys(loaded).toSorted()).toEqual(exported[entry]?.values)
})

test("a new name and a lost name are both told, with the way to move the pin", () => {
  expect(differencesFromPin("x", ["a", "c"], ["a", "b"])).toEqual([
    "x: not pinned yet: c; make it deliberate: update the pin and CHANGELOG.md",
    "x: pinned, and gone: b; make it deliberate: update the pin and CHANGELOG.md",
  ])
})

test("names are read from declarations with their kind", () => {
  const declaration = `export { b, type C, a as d } from "./x.ts"\nexport type { E } from "./e.ts"\nexport {}`
  expect(namesIn(declaration)).toEqual({ values: ["b", "d"], types: ["C", "E"] })
})
