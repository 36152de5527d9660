/**
 * An instant as a typed field: UTC, trailing zeros of the fraction removed, nothing guessed.
 *
 * A text needs its zone and a number needs its unit: `2025-01-01T10:00` is another moment in every office, and 1735725600
 * is a moment in 2025 or in 1970.
 */
import { TypedValueError } from "./typed-value.ts"
import type { Typed } from "./evidence.ts"

const ISO = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([Zz]|[+-]\d{2}:?\d{2})$/
const MINUTE_MS = 60_000
const EARLIEST_MS = Date.parse("0001-01-01T00:00:00Z")
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

function fail(what: string): never {
  throw new TypedValueError("instant", what)
}

/** A moment: a `Date`, an ISO 8601 text with its zone, or a number with its unit (`"s"` or `"ms"` since the epoch). */
export function instant(value: Date | string | number, unit?: "s" | "ms"): Typed {
  if (value === null || value === undefined) return fail("the value is missing")
  if (typeof value === "number") {
    if (unit === undefined) return fail('a number needs its unit: instant(value, "s") or instant(value, "ms")')
    const ms = unit === "s" ? value * 1_000 : value
    if (!Number.isFinite(ms)) return fail("the number is not finite")
    return { type: "instant", value: written(Math.round(ms), "") }
  }
  if (value instanceof Date) {
    const ms = value.getTime()
    return Number.isNaN(ms) ? fail("the date is invalid") : { type: "instant", value: written(ms, "") }
  }
  if (typeof value !== "string") return fail("expects a Date, an ISO 8601 text, or a number with its unit")
  return { type: "instant", value: fromIso(value.trim()) }
}

/** Orders two normalised instants: negative where `a` is earlier. Without the final Z they sort as their texts do. */
export function compareInstants(a: string, b: string): number {
  const left = a.slice(0, -1)
  const right = b.slice(0, -1)
  return left < right ? -1 : left > right ? 1 : 0
}

function fromIso(value: string): string {
  const parts = ISO.exec(value)
  if (!parts) return fail("expects ISO 8601 with a zone, such as 2025-01-31T09:30:00Z")
  const [, year, month, day, hour, minute, second = "00", fraction = "", zone = "Z"] = parts
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
  const rebuilt = written(atYear(ms, Number(year)), "").slice(0, 19)
  // Date.UTC carries 30 February over into March; a carried date is somebody's mistake, not a moment.
  if (rebuilt !== `${year}-${month}-${day}T${hour}:${minute}:${second}`) return fail("the date does not exist")
  return written(atYear(ms, Number(year)) - offsetMs(zone), fraction)
}

/** Date.UTC reads the years 0 to 99 as 1900 to 1999. */
function atYear(ms: number, year: number): number {
  if (year > 99) return ms
  const date = new Date(ms)
  date.setUTCFullYear(year)
  return date.getTime()
}

function offsetMs(zone: string): number {
  if (zone === "Z" || zone === "z") return 0
  const sign = zone.startsWith("-") ? -1 : 1
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(-2))
  if (hours > 23 || minutes > 59) return fail("the zone does not exist")
  return sign * (hours * 60 + minutes) * MINUTE_MS
}

function written(ms: number, fraction: string): string {
  if (!(ms >= EARLIEST_MS && ms <= LATEST_MS)) return fail("is outside the years 0001 to 9999")
  const iso = new Date(ms).toISOString()
  const digits = (fraction === "" ? iso.slice(20, 23) : fraction).replace(/0+$/, "")
  return `${iso.slice(0, 19)}${digits === "" ? "" : `.${digits}`}Z`
}
