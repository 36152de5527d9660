/**
 * Typed fields: a business value in the one form it is compared, stored and hashed in (protocol §2, §6).
 *
 * Owns: the normalisers `id`, `text`, `minor`, `decimal`, `instant`, `literal`, and equality between their results.
 * Must not: guess. A missing part is an error, because a key built from an absent value is shared by strangers.
 *
 * TV1. Normalising is idempotent and depends on the value alone: no locale, no time zone, no clock.
 * TV2. Equal money is equal, whether given in minor units or as a decimal.
 * TV3. Ids keep their letters and digits; only text loses spacing.
 */
import { canonicalJson, type Json } from "./canonical-json.ts"
import { currencyExponent } from "./currency.ts"
import type { Typed } from "./evidence.ts"

/** Why a value cannot be a typed field. */
export class TypedValueError extends Error {
  override readonly name = "TypedValueError"
  readonly type: Typed["type"]
  constructor(type: Typed["type"], what: string) {
    super(`${type}(): ${what}`)
    this.type = type
  }
}

/** Longer ones are not identifiers but documents; their digest belongs into the identity instead. */
const ID_MAX = 512
const TEXT_MAX = 4_096
/** What a template writes where a value was absent. As an identity it would be shared by everybody without one. */
const ABSENT_WORDS = new Set(["null", "undefined", "None", "NaN", "nil", "[object Object]"])

function fail(type: Typed["type"], what: string): never {
  throw new TypedValueError(type, what)
}

function present(type: Typed["type"], value: unknown): void {
  if (value === null || value === undefined) fail(type, "the value is missing")
}

/** An identifier: kept letter by letter, surrounding space removed. Numbers must be safe integers. */
export function id(value: string | number | bigint): Typed {
  present("id", value)
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value))
      fail("id", "a number must be an integer that JavaScript holds exactly; pass it as a string")
    return { type: "id", value: String(value === 0 ? 0 : value) }
  }
  if (typeof value === "bigint") return { type: "id", value: String(value) }
  if (typeof value !== "string") return fail("id", `expects a string or an integer, not ${kindOf(value)}`)
  const normal = wellFormed("id", value).trim()
  if (normal === "") fail("id", "the value is empty")
  if (normal.length > ID_MAX) fail("id", `is longer than ${ID_MAX} characters`)
  if (ABSENT_WORDS.has(normal)) fail("id", `"${normal}" is what a template writes for an absent value`)
  if (/\p{Cc}/u.test(normal)) fail("id", "holds control characters")
  return { type: "id", value: normal }
}

/** Human text: Unicode NFC, trimmed, runs of white space become one space. Case and punctuation stay. */
export function text(value: string): Typed {
  present("text", value)
  if (typeof value !== "string") return fail("text", `expects a string, not ${kindOf(value)}`)
  const normal = normalText(wellFormed("text", value))
  if (normal === "") fail("text", "the value is empty")
  if (normal.length > TEXT_MAX) fail("text", `is longer than ${TEXT_MAX} characters`)
  return { type: "text", value: normal }
}

/** Money in minor units, e.g. cents: `minor(2400, "usd")` is `2400 usd`. `exponent` is for codes ISO 4217 does not list. */
export function minor(amount: number | bigint | string, currency: string, exponent?: number): Typed {
  present("minor", amount)
  currencyOf("minor", currency, exponent)
  return { type: "minor", value: `${minorUnits(amount)} ${currency.trim().toLowerCase()}` }
}

/**
 * Money as a decimal of the currency's unit: `decimal("24.00", "usd")` equals `minor(2400, "usd")`. More decimals than the
 * currency has are refused, unless they are zeros.
 */
export function decimal(amount: string | number | bigint, currency: string, exponent?: number): Typed {
  present("decimal", amount)
  const places = currencyOf("decimal", currency, exponent)
  return { type: "decimal", value: `${scaled(amount, places, currency)} ${currency.trim().toLowerCase()}` }
}

/** A literal as an expectation writes it: `true`, `5`, `"gold"`, or a JSON value compared as a whole. */
export function literal(value: Json): Typed {
  switch (typeof value) {
    case "boolean":
      return { type: "boolean", value: String(value) }
    case "number":
      return { type: "number", value: canonicalJson(value) }
    case "string":
      return value.trim() === "" || value.length > TEXT_MAX
        ? { type: "json", value: canonicalJson(value) }
        : text(value)
    default:
      return { type: "json", value: canonicalJson(value) }
  }
}

const TYPES: readonly string[] = ["id", "text", "minor", "decimal", "instant", "boolean", "number", "json"]

/** Whether a value is the result of a normaliser: exactly `{ type, value }`. */
export function isTyped(value: unknown): value is Typed {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 2) return false
  const { type, value: normal } = value as { type?: unknown; value?: unknown }
  return typeof type === "string" && TYPES.includes(type) && typeof normal === "string"
}

/** `minor` and `decimal` are two spellings of money; every other type is a family of its own. */
export function typeFamily(type: Typed["type"]): string {
  return type === "minor" || type === "decimal" ? "money" : type
}

/** Whether two typed values mean the same (TV2). Values of different families never do. */
export function typedEquals(a: Typed, b: Typed): boolean {
  return typeFamily(a.type) === typeFamily(b.type) && a.value === b.value
}

/** What `text` does to a string, without its limits: for comparing a provider's text, which may be anything. */
export function normalText(value: string): string {
  return value.normalize("NFC").replace(/\s+/gu, " ").trim()
}

function wellFormed(type: Typed["type"], value: string): string {
  if (/\p{Surrogate}/u.test(value)) fail(type, "holds half of a surrogate pair")
  return value.normalize("NFC")
}

function currencyOf(type: "minor" | "decimal", currency: string, exponent: number | undefined): number {
  if (typeof currency !== "string" || !/^\s*[a-z][a-z0-9]{2,11}\s*$/i.test(currency)) {
    return fail(type, 'expects a currency code such as "usd"')
  }
  if (exponent !== undefined) {
    if (!Number.isInteger(exponent) || exponent < 0 || exponent > 30) fail(type, "the exponent must be 0 to 30")
    return exponent
  }
  const known = currencyExponent(currency.trim())
  if (known === null)
    fail(type, `"${currency.trim()}" is no ISO 4217 currency; give its number of decimals as the third argument`)
  return known ?? 0
}

/** An integer count of minor units in its normal form. */
export function minorUnits(amount: number | bigint | string): string {
  if (typeof amount === "bigint") return String(amount)
  if (typeof amount === "number") {
    if (!Number.isSafeInteger(amount)) fail("minor", "expects an integer of minor units, such as 2400 for 24.00")
    return String(amount === 0 ? 0 : amount)
  }
  if (typeof amount !== "string" || !/^\s*[+-]?\d{1,30}\s*$/.test(amount)) {
    return fail("minor", "expects an integer of minor units, such as 2400 for 24.00")
  }
  return String(BigInt(amount.trim().replace(/^\+/, "")))
}

function scaled(amount: string | number | bigint, places: number, currency: string): string {
  if (typeof amount === "number" && !Number.isFinite(amount)) fail("decimal", "the amount is not a finite number")
  const written = String(amount).trim()
  const parts = /^([+-]?)(\d{1,30})(?:\.(\d{1,30}))?$/.exec(written)
  if (!parts) return fail("decimal", 'expects an amount such as "24.00": digits, a point, no separators, no exponent')
  const [, sign, whole, fraction = ""] = parts
  const kept = fraction.slice(0, places).padEnd(places, "0")
  if (/[1-9]/.test(fraction.slice(places))) {
    fail("decimal", `has more decimals than ${currency.trim().toLowerCase()} allows (${places})`)
  }
  const units = BigInt(`${whole}${kept}`)
  return String(sign === "-" ? -units : units)
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "an array"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}
