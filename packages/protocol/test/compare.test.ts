// Hunts a false "broken" (an existing effect is called refuted, and done again) and a false "holds" (a stranger's object, another
// amount, another unit is called ours).

import {
  compare,
  compareAll,
  decimal,
  id,
  instant,
  literal,
  minor,
  readPath,
  text,
  type Comparison,
  type Json,
  type Typed,
} from "@invokejs/protocol"
import fc from "fast-check"
import { expect, test } from "vitest"

const eq = (value: Typed): Comparison => ({ op: "eq", value })
const at = (comparison: Comparison, value: Json | undefined) =>
  compare(comparison, value === undefined ? {} : { field: value }, "field")

test.each<[string, Typed, Json | undefined, string]>([
  ["an equal id", id("cust_1"), "cust_1", "holds"],
  ["an id given as a number", id("84721"), 84721, "holds"],
  ["another id", id("cust_1"), "cust_2", "broken"],
  ["an id that is null", id("cust_1"), null, "missing"],
  ["an id that is empty", id("cust_1"), "", "missing"],
  ["an id that is an object", id("cust_1"), { id: "cust_1" }, "missing"],
  ["an absent id", id("cust_1"), undefined, "missing"],
  ["text with other spacing", text("Pay the invoice"), " Pay  the\ninvoice", "holds"],
  ["text composed in another way", text("Zoë"), "Zoe\u0308", "holds"],
  ["an id composed in another way", id("Zoë"), "Zoe\u0308", "holds"],
  ["an empty text", text("Pay"), "", "broken"],
  ["text in another case", text("Pay"), "pay", "broken"],
  ["a text that is a number", text("5"), 5, "missing"],
  ["cents as cents", minor(2400, "usd"), 2400, "holds"],
  ["cents as digits", minor(2400, "usd"), "2400", "holds"],
  ["dollars where cents are expected", minor(2400, "usd"), "24.00", "missing"],
  ["dollars as dollars", decimal("24.00", "usd"), "24", "holds"],
  ["a number of dollars", decimal("24.50", "usd"), 24.5, "holds"],
  ["cents where dollars are expected", decimal("24.00", "usd"), 2400, "broken"],
  ["another amount", minor(2400, "usd"), 2424, "broken"],
  ["another currency", minor(2400, "usd"), { amount: 2400, currency: "EUR" }, "broken"],
  ["the same currency, named", minor(2400, "usd"), { amount: "2400", currency: "USD" }, "holds"],
  ["typed dollars against cents", minor(2400, "usd"), { ...decimal("24.00", "usd") }, "holds"],
  ["typed euros against dollars", minor(2400, "usd"), { ...minor(2400, "eur") }, "broken"],
  ["a typed id against money", minor(2400, "usd"), { ...id("2400") }, "missing"],
  ["the same moment in another zone", instant("2025-01-01T00:00:00Z"), "2025-01-01T01:00:00+01:00", "holds"],
  ["a moment as a bare number", instant("2025-01-01T00:00:00Z"), 1_735_689_600, "missing"],
  ["a moment without a zone", instant("2025-01-01T00:00:00Z"), "2025-01-01T00:00:00", "missing"],
  ["true", literal(true), true, "holds"],
  ["false against true", literal(true), false, "broken"],
  ["the word true against true", literal(true), "true", "missing"],
  ["null against null", literal(null), null, "holds"],
  ["nothing against null", literal(null), undefined, "missing"],
  ["an object in another order", literal({ a: 1, b: [2] }), { b: [2], a: 1 }, "holds"],
  ["a longer list", literal([1]), [1, 2], "broken"],
])("%s: eq %o against %j is %s [R27]", (_what, expected, raw, outcome) => {
  expect(at(eq(expected), raw)).toBe(outcome)
})

test("ne is the opposite of eq, and missing stays missing [R27]", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (raw) => {
      const ne = at({ op: "ne", value: id("x") }, raw as Json)
      const is = at(eq(id("x")), raw as Json)
      expect([is, ne]).toEqual(
        is === "missing" ? ["missing", "missing"] : is === "holds" ? ["holds", "broken"] : ["broken", "holds"],
      )
    }),
  )
})

test("gte and lte order money, numbers and moments, and nothing else [R27]", () => {
  const gte = (value: Typed): Comparison => ({ op: "gte", value })
  expect(at(gte(minor(2400, "usd")), 2400)).toBe("holds")
  expect(at(gte(minor(2400, "usd")), 2399)).toBe("broken")
  expect(at(gte(minor(2400, "usd")), { amount: 9900, currency: "eur" })).toBe("missing")
  expect(at({ op: "lte", value: decimal("24.00", "usd") }, "23.99")).toBe("holds")
  expect(at(gte(literal(2)), 10)).toBe("holds")
  expect(at({ op: "lte", value: literal(2) }, 10)).toBe("broken")
  expect(at(gte(instant("2025-01-01T00:00:00Z")), "2024-12-31T23:59:59.999999Z")).toBe("broken")
  expect(at(gte(text("a")), "b")).toBe("missing")
})

test("in holds where one holds, and is broken only where every one was read and differs [R27]", () => {
  const among = (...values: Typed[]): Comparison => ({ op: "in", values })
  expect(at(among(text("open"), text("closed")), "closed")).toBe("holds")
  expect(at(among(text("open"), text("closed")), "draft")).toBe("broken")
  expect(at(among(text("open"), literal(5)), "draft")).toBe("missing")
  expect(at(among(), "draft")).toBe("missing")
})

test("exists is broken where there is nothing, and null is nothing [R27]", () => {
  expect(at({ op: "exists" }, 0)).toBe("holds")
  expect(at({ op: "exists" }, false)).toBe("holds")
  expect(at({ op: "exists" }, null)).toBe("broken")
  expect(at({ op: "exists" }, undefined)).toBe("broken")
})

test("matches reads text only, and a pattern that cannot be used proves nothing [R27]", () => {
  const matches = (pattern: string): Comparison => ({ op: "matches", pattern })
  expect(at(matches("^inv-\\d+$"), "inv-84721")).toBe("holds")
  expect(at(matches("^inv-\\d+$"), "invoice")).toBe("broken")
  expect(at(matches("^inv-\\d+$"), 84721)).toBe("missing")
  expect(at(matches("(?=x)"), "x")).toBe("missing")
  expect(at(matches("x"), "x".repeat(20_000))).toBe("missing")
})

test("a path reads own members only, step by step [R27]", () => {
  const state = JSON.parse('{"a":{"b":[{"c":1}],"d.e":2},"__proto__":{"x":1},"n":null}') as { [name: string]: Json }
  expect(readPath(state, "a.b.0.c")).toBe(1)
  for (const path of [
    "a.b.c",
    "a.b.-1.c",
    "a.b.00.c",
    "a.b.length",
    "a.d.e",
    "n.x",
    "toString",
    "constructor.name",
    "a.b.0.c.d",
    "",
  ]) {
    expect([path, readPath(state, path)]).toEqual([path, undefined])
  }
  expect(readPath(state, "__proto__.x")).toBe(1)
  expect(readPath({}, "__proto__")).toBeUndefined()
  expect(readPath({ a: {} }, Array.from({ length: 40 }, () => "a").join("."))).toBeUndefined()
})

test("a list holds where all hold; one broken field outweighs missing ones, and the deciding paths are named [R27]", () => {
  const list = { customer: eq(id("c")), "amount.value": eq(minor(2400, "usd")), note: eq(text("n")) }
  expect(compareAll(list, { customer: "c", amount: { value: 2400 }, note: "n" })).toEqual({
    outcome: "holds",
    paths: [],
  })
  expect(compareAll(list, { customer: "c", amount: {} })).toEqual({
    outcome: "missing",
    paths: ["amount.value", "note"],
  })
  expect(compareAll(list, { customer: "d" })).toEqual({ outcome: "broken", paths: ["customer"] })
  expect(compareAll({}, { a: 1 })).toEqual({ outcome: "holds", paths: [] })
})

test("no state makes a comparison throw [R27]", () => {
  const comparisons: Comparison[] = [
    ...[
      id("x"),
      text("x"),
      minor(1, "usd"),
      decimal("1", "usd"),
      instant("2025-01-01T00:00:00Z"),
      literal(1),
      literal({}),
    ].flatMap((value): Comparison[] => [
      { op: "eq", value },
      { op: "gte", value },
      { op: "in", values: [value] },
    ]),
    { op: "matches", pattern: "x" },
    { op: "exists" },
  ]
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...comparisons), (raw, comparison) => {
      expect(["holds", "broken", "missing"]).toContain(at(comparison, raw as Json))
    }),
    { numRuns: 1_000 },
  )
})
