// Hunts two different parameter sets with one text (a lost difference), one set with two texts (a duplicate that is not seen),
// and a value that runs code, never ends, or is silently repaired on its way into a key.

import { runInNewContext } from "node:vm"
import { canonicalJson, isJson, NotJsonError, parseJson, utf8Length } from "@invokejs/protocol"
import canonicalize from "canonicalize"
import fc from "fast-check"
import { expect, test } from "vitest"

/** JSON values, with names and texts that break naive writers: escapes, surrogate pairs, `__proto__`, numbers at the edges. */
const names = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("__proto__", "constructor", "toJSON", "", "10", "9", "é", "\u{1f600}", "\uffff"),
)
const numbers = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.maxSafeInteger(),
  fc.constantFrom(-0, 0, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, 333333333.3333333, 4.5, 2e-3, 1e-27),
)
const leaves = fc.oneof(fc.constant(null), fc.boolean(), numbers, names)
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    leaves,
    fc.array(tie("json"), { maxLength: 5 }),
    fc.array(fc.tuple(names, tie("json")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  ),
}))

test("the text is that of the reference implementation for every JSON value [ID-5]", () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value))
    }),
    { numRuns: 1_000 },
  )
})

test("the text parses back to an equal value, and its text is the same [ID-5]", () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = canonicalJson(value)
      expect(canonicalJson(parseJson(text))).toBe(text)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test("the order in which members were set does not show [ID-5]", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(names, leaves), { selector: ([name]) => name, maxLength: 8 }), (entries) => {
      const forward = Object.fromEntries(entries)
      const backward = Object.fromEntries(entries.toReversed())
      expect(canonicalJson(backward)).toBe(canonicalJson(forward))
    }),
  )
})

test("the examples of RFC 8785 are written as it writes them [ID-5]", () => {
  const input = {
    numbers: [Number("333333333.33333329"), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: '€$\u000f\nA\'B"\\\\"/',
    literals: [null, true, false],
  }
  expect(canonicalJson(input)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  )
  const order = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\u{1f600}": 5, "\u0080": 6, "\u00f6": 7 }
  expect(Object.values(parseJson(canonicalJson(order)) as object)).toEqual([4, 2, 6, 7, 1, 5, 3])
})

class Money {
  amount = 1
}
const cycle: { self?: unknown } = {}
cycle.self = [cycle]
const withGetter = { a: 1 }
Object.defineProperty(withGetter, "b", { enumerable: true, get: () => expect.unreachable("the getter ran") })
const hidden = { a: 1 }
Object.defineProperty(hidden, "b", { enumerable: false, value: 1 })
const extra = Object.assign([1, 2], { extra: true })
const holeAndExtra = Object.assign([1, , 2], { extra: true }) // oxlint-disable-line no-sparse-arrays -- the hole is the case

test.each([
  ["undefined", { a: [1, { b: undefined }] }, "a[1].b", "undefined"],
  ["a function", { f: () => 1 }, "f", "function"],
  ["a symbol", { s: Symbol("x") }, "s", "symbol"],
  ["a member named by a symbol", { [Symbol("x")]: 1 }, "$", "symbol"],
  ["NaN", [Number.NaN], "[0]", "NaN"],
  ["infinity", { n: -Infinity }, "n", "Infinity"],
  ["a bigint", { n: 10n }, "n", "bigint"],
  ["a Map", new Map([["a", 1]]), "$", "Map"],
  ["a Set", { s: new Set([1]) }, "s", "Set"],
  ["a Date", { "not plain": new Date(0) }, '["not plain"]', "Date"],
  ["an instance of a class", { m: new Money() }, "m", "Money"],
  ["an object over another", Object.create({ inherited: 1 }), "$", "not a plain object"],
  ["an array of a class of its own", { a: new (class extends Array {})() }, "a", "class of its own"],
  ["a typed array", { a: new Uint8Array(2) }, "a", "Uint8Array"],
  ["an object with toJSON", { toJSON: () => "other" }, "toJSON", "function"],
  ["a getter", withGetter, "b", "getter"],
  ["a hidden member", hidden, "b", "hidden"],
  ["a cycle", cycle, "self[0]", "contains itself"],
  ["a hole", { a: [1, , 2] }, "a", "holes"], // oxlint-disable-line no-sparse-arrays -- the hole is the case
  ["extra members of an array", { extra }, "extra", "extra members"],
  ["a hole beside an extra member", { a: holeAndExtra }, "a[1]", "hole"],
  ["half a surrogate pair", { t: "\ud800" }, "t", "surrogate"],
  ["half a surrogate pair in a name", { "\udc00": 1 }, '["\\udc00"]', "surrogate"],
])("%s is refused, and the message says where [ID-5]", (_what, value, path, words) => {
  let refused: unknown
  try {
    canonicalJson(value)
  } catch (error) {
    refused = error
  }
  expect(refused).toBeInstanceOf(NotJsonError)
  expect(refused).toMatchObject({ path, message: expect.stringContaining(words) as string })
  expect(isJson(value)).toBe(false)
})

test("a member called __proto__ is data: it is written, and it sets no prototype [ID-5]", () => {
  const value = parseJson('{"__proto__":{"admin":true},"a":1}')
  expect(canonicalJson(value)).toBe('{"__proto__":{"admin":true},"a":1}')
  expect((value as { admin?: unknown }).admin).toBeUndefined()
})

test("a plain object of another realm is plain [ID-5]", () => {
  expect(canonicalJson(runInNewContext("({ b: [1, { a: 2 }], a: Object.create(null) })"))).toBe(
    '{"a":{},"b":[1,{"a":2}]}',
  )
})

test("a proxy cannot show one value to the check and another to the text [ID-5]", () => {
  let reads = 0
  const shifting = new Proxy(
    { amount: 0 },
    { getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: (reads += 1) }) },
  )
  expect(canonicalJson(shifting)).toBe('{"amount":1}')
  expect(reads).toBe(1)
})

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = [value]
  return value
}

test("depth is bounded exactly [ID-5]", () => {
  expect(canonicalJson(nested(64))).toHaveLength(129)
  expect(() => canonicalJson(nested(65))).toThrow("nested deeper than 64 levels")
  expect(() => canonicalJson(nested(3), { depth_max: 2 })).toThrow("nested deeper than 2 levels")
  expect(() => parseJson(`${"[".repeat(100_000)}${"]".repeat(100_000)}`)).toThrow("nested deeper")
})

test("size is the number of UTF-8 bytes of the text, and is bounded exactly [ID-5]", () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = canonicalJson(value)
      const bytes = Buffer.byteLength(text, "utf8")
      expect(utf8Length(text)).toBe(bytes)
      expect(canonicalJson(value, { bytes_max: bytes })).toBe(text)
      expect(() => canonicalJson(value, { bytes_max: bytes - 1 })).toThrow("larger than")
    }),
  )
})

test("a shared subtree that would be written a million times is stopped by the size [ID-5]", () => {
  let value: unknown = ["x".repeat(100)]
  for (let level = 0; level < 40; level += 1) value = [value, value]
  expect(() => canonicalJson(value, { bytes_max: 100_000 })).toThrow("larger than 100000 bytes")
})

test("a text that is not JSON is refused without being quoted [ID-5]", () => {
  for (const text of ["", "{", "{'a':1}", "NaN", '{"a":1}x', "secret"]) {
    expect(() => parseJson(text)).toThrow(/^the value is not JSON text$/)
  }
  expect(() => parseJson("1e999")).toThrow("Infinity")
  expect(() => parseJson('"\\ud800"')).toThrow("surrogate")
  expect(() => parseJson(JSON.stringify("x".repeat(50)), { bytes_max: 20 })).toThrow("larger than 20 bytes")
})
