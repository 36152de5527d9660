// Hunts one business value in two forms (a duplicate that is not seen), two values in one form (an honest action refused), and
// the absent value that becomes a name shared by strangers.

import {
  compareInstants,
  currencyCodes,
  currencyExponent,
  decimal,
  id,
  instant,
  isTyped,
  literal,
  minor,
  text,
  typedEquals,
} from "@invokejs/protocol"
import fc from "fast-check"
import { expect, test } from "vitest"

test.each([
  ["null", null],
  ["undefined", undefined],
  ["an empty text", ""],
  ["blanks", "  \t"],
  ["what a template writes for null", "None"],
  ["what a template writes for undefined", "undefined"],
  ["what a template writes for an object", "[object Object]"],
  ["a boolean", true],
  ["an object", { id: 1 }],
  ["a fraction", 1.5],
  ["an integer that JavaScript cannot hold", 2 ** 53],
  ["NaN", Number.NaN],
  ["a control character", "a\u0000b"],
])("an id that is %s is refused [ID-3]", (_what, value) => {
  expect(() => id(value as string)).toThrow(/^id\(\): /)
})

test("an id is kept letter by letter, as number, text or bigint [ID-3]", () => {
  expect(id(84721)).toEqual({ type: "id", value: "84721" })
  expect(typedEquals(id(84721), id(" 84721\n"))).toBe(true)
  expect(typedEquals(id(84721n), id("84721"))).toBe(true)
  expect(typedEquals(id("084721"), id("84721"))).toBe(false)
  expect(typedEquals(id("Ab"), id("ab"))).toBe(false)
  expect(id(-0).value).toBe("0")
})

test("text loses spacing and composition, and nothing else [ID-3]", () => {
  expect(text("  Pay\u00a0 the\n\tinvoice ")).toEqual({ type: "text", value: "Pay the invoice" })
  expect(typedEquals(text("Zoe\u0308"), text("Zoë"))).toBe(true)
  expect(typedEquals(text("Pay."), text("Pay"))).toBe(false)
  expect(typedEquals(text("5"), id("5"))).toBe(false)
  expect(() => text("\n ")).toThrow("empty")
  expect(() => text(5 as unknown as string)).toThrow("a number")
})

test("normalising twice is normalising once [ID-3]", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (value) => {
      fc.pre(value.trim() !== "" && value.length < 500)
      const once = text(value)
      expect(text(once.value)).toEqual(once)
    }),
  )
})

test("equal money is equal in minor units and as a decimal, in every currency [ID-3] [R27]", () => {
  fc.assert(
    fc.property(fc.constantFrom(...currencyCodes()), fc.bigInt(-(10n ** 20n), 10n ** 20n), (currency, units) => {
      const places = currencyExponent(currency) ?? 0
      const digits = String(units < 0n ? -units : units).padStart(places + 1, "0")
      const whole = digits.slice(0, digits.length - places)
      const fraction = digits.slice(digits.length - places)
      const written = `${units < 0n ? "-" : ""}${whole}${places === 0 ? "" : `.${fraction}`}`
      expect(typedEquals(decimal(written, currency.toUpperCase()), minor(units, currency))).toBe(true)
      expect(typedEquals(decimal(`${written}${places === 0 ? ".0" : "0"}`, currency), minor(units, currency))).toBe(
        true,
      )
      expect(typedEquals(decimal(written, currency), minor(units + 1n, currency))).toBe(false)
    }),
  )
})

test("the exponents are those of ISO 4217 [ID-3]", () => {
  expect(["jpy", "krw", "isk", "clp", "ugx", "vnd"].map(currencyExponent)).toEqual([0, 0, 0, 0, 0, 0])
  expect(["usd", "eur", "idr", "huf", "mga", "try"].map(currencyExponent)).toEqual([2, 2, 2, 2, 2, 2])
  expect(["kwd", "bhd", "omr", "tnd", "jod", "iqd", "lyd"].map(currencyExponent)).toEqual([3, 3, 3, 3, 3, 3, 3])
  expect(["clf", "uyw"].map(currencyExponent)).toEqual([4, 4])
  expect(currencyExponent("uds")).toBeNull()
  expect(new Set(currencyCodes()).size).toBe(currencyCodes().length)
})

test("money: 24.00 dollars are 2400 cents, 24 yen are 24, 1.5 dinars are 1500 [ID-3]", () => {
  expect(decimal("24.00", "USD")).toEqual({ type: "decimal", value: "2400 usd" })
  expect(minor(2400, " usd ")).toEqual({ type: "minor", value: "2400 usd" })
  expect(decimal(24, "jpy").value).toBe("24 jpy")
  expect(decimal("1.5", "kwd").value).toBe("1500 kwd")
  expect(decimal("-0.00", "usd").value).toBe("0 usd")
  expect(decimal("0.00000001", "btc", 8).value).toBe("1 btc")
  expect(typedEquals(minor(2400, "usd"), minor(2400, "eur"))).toBe(false)
})

test.each([
  ["more decimals than the currency has", () => decimal("24.005", "usd")],
  ["decimals of yen", () => decimal("24.5", "jpy")],
  ["a separator", () => decimal("2,400.00", "usd")],
  ["an exponent", () => decimal("1e3", "usd")],
  ["a missing amount", () => decimal(null as unknown as string, "usd")],
  ["an empty amount", () => decimal("", "usd")],
  ["a fraction of a cent", () => minor(24.5, "usd")],
  ["a decimal as minor units", () => minor("24.00", "usd")],
  ["a misspelt currency", () => minor(2400, "uds")],
  ["a missing currency", () => minor(2400, undefined as unknown as string)],
  ["an amount that JavaScript cannot hold", () => minor(2 ** 53, "usd")],
])("money with %s is refused [ID-3]", (_what, make) => {
  expect(make).toThrow(/^(minor|decimal)\(\): /)
})

test("one moment has one form, whatever its zone, its precision or its carrier [ID-3]", () => {
  const forms = [
    instant("2025-01-31T09:30:00.120Z"),
    instant("2025-01-31T10:30:00.12+01:00"),
    instant("2025-01-31 04:00:00,120000000-05:30"),
    instant(new Date("2025-01-31T09:30:00.120Z")),
    instant(1_738_315_800_120, "ms"),
    instant(1_738_315_800.12, "s"),
  ]
  expect(new Set(forms.map((form) => form.value))).toEqual(new Set(["2025-01-31T09:30:00.12Z"]))
})

test("every moment of a Date survives, and its order with it [ID-3]", () => {
  const dates = fc.date({
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(dates, dates, (a, b) => {
      expect(instant(a.toISOString())).toEqual(instant(a))
      expect(Date.parse(instant(a).value)).toBe(a.getTime())
      expect(Math.sign(compareInstants(instant(a).value, instant(b).value))).toBe(Math.sign(a.getTime() - b.getTime()))
    }),
  )
  expect(compareInstants("2025-01-31T09:30:00.123456Z", "2025-01-31T09:30:00.1234561Z")).toBe(-1)
})

test.each([
  ["a day that does not exist", "2025-02-30T00:00:00Z"],
  ["an hour that does not exist", "2025-01-01T24:00:00Z"],
  ["no zone", "2025-01-01T00:00:00"],
  ["no time", "2025-01-01"],
  ["words", "tomorrow"],
  ["a zone that does not exist", "2025-01-01T00:00:00+25:00"],
])("an instant with %s is refused [ID-3]", (_what, value) => {
  expect(() => instant(value)).toThrow(/^instant\(\): /)
})

test("a number is no instant without its unit [ID-3]", () => {
  expect(() => instant(1_738_315_800)).toThrow("needs its unit")
  expect(() => instant(null as unknown as string)).toThrow("missing")
  expect(() => instant(new Date(Number.NaN))).toThrow("invalid")
})

test("a literal keeps its kind [R27]", () => {
  expect(literal(true)).toEqual({ type: "boolean", value: "true" })
  expect(literal(5.0)).toEqual({ type: "number", value: "5" })
  expect(literal(" gold ")).toEqual({ type: "text", value: "gold" })
  expect(literal(null)).toEqual({ type: "json", value: "null" })
  expect(literal({ b: 1, a: [] })).toEqual({ type: "json", value: '{"a":[],"b":1}' })
  expect(typedEquals(literal("5"), literal(5))).toBe(false)
  expect(isTyped({ type: "id", value: "5", more: 1 })).toBe(false)
  expect(isTyped({ type: "uuid", value: "5" })).toBe(false)
})
