/**
 * Comparisons of an expectation against the state of an object that a look found (protocol §6).
 *
 * Owns: how a dotted path is read and how a provider's raw value is given a type.
 * Must not: compare by name or by chance. The expected side says the type; the raw value is normalised into it.
 *
 * CM1. `broken` needs a value that was read and differs. What is absent, null or of another kind is `missing`: it proves nothing.
 * CM2. `2400` and `"24.00"` are never compared as they stand: `minor` reads integers, `decimal` reads amounts (R27).
 * CM3. Paths read own members only; no comparison can run code or stall.
 */
import { canonicalJson, isJson, type Json } from "./canonical-json.ts"
import { compareInstants, instant } from "./instant.ts"
import { safePattern } from "./safe-pattern.ts"
import { assertNever } from "./state.ts"
import { decimal, isTyped, minorUnits, normalText, typeFamily, typedEquals } from "./typed-value.ts"
import type { Comparison, Typed } from "./evidence.ts"

export type CompareOutcome = "holds" | "broken" | "missing"

interface State {
  readonly [field: string]: Json
}

/** All comparisons of one list. The paths are those that decided: the broken ones, else the missing ones. */
export function compareAll(
  comparisons: { readonly [path: string]: Comparison },
  state: State,
): { readonly outcome: CompareOutcome; readonly paths: readonly string[] } {
  const broken: string[] = []
  const missing: string[] = []
  for (const path of Object.keys(comparisons).sort()) {
    const comparison = comparisons[path]
    if (!comparison) continue
    const outcome = compare(comparison, state, path)
    if (outcome === "broken") broken.push(path)
    else if (outcome === "missing") missing.push(path)
  }
  if (broken.length > 0) return { outcome: "broken", paths: broken }
  return missing.length > 0 ? { outcome: "missing", paths: missing } : { outcome: "holds", paths: [] }
}

export function compare(comparison: Comparison, state: State, path: string): CompareOutcome {
  const raw = readPath(state, path)
  switch (comparison.op) {
    case "exists":
      return raw === undefined || raw === null ? "broken" : "holds"
    case "eq":
      return equal(comparison.value, raw)
    case "ne":
      return opposite(equal(comparison.value, raw))
    case "gte":
      return ordered(comparison.value, raw, (order) => order >= 0)
    case "lte":
      return ordered(comparison.value, raw, (order) => order <= 0)
    case "in":
      return oneOf(comparison.values, raw)
    case "matches":
      return matches(comparison.pattern, raw)
    default:
      return assertNever(comparison, "compare")
  }
}

const PATH_STEPS_MAX = 32

/** The value at a dotted path (`customer.id`, `items.0.sku`); undefined where there is none. Own members only (CM3). */
export function readPath(state: State, path: string): Json | undefined {
  const steps = path.split(".")
  if (steps.length > PATH_STEPS_MAX) return undefined
  let value: Json | undefined = state
  for (const step of steps) {
    if (typeof value !== "object" || value === null) return undefined
    if (Array.isArray(value) && !/^(0|[1-9]\d{0,9})$/.test(step)) return undefined
    if (!Object.hasOwn(value, step)) return undefined
    value = (value as { readonly [name: string]: Json })[step]
  }
  return value
}

function opposite(outcome: CompareOutcome): CompareOutcome {
  if (outcome === "missing") return "missing"
  return outcome === "holds" ? "broken" : "holds"
}

function equal(expected: Typed, raw: Json | undefined): CompareOutcome {
  const found = readAs(expected, raw)
  if (found === null) return "missing"
  return typedEquals(expected, found) ? "holds" : "broken"
}

function oneOf(values: readonly Typed[], raw: Json | undefined): CompareOutcome {
  const outcomes = values.map((value) => equal(value, raw))
  if (outcomes.includes("holds")) return "holds"
  // One value that could not be read against might have been the right one.
  return outcomes.includes("missing") || outcomes.length === 0 ? "missing" : "broken"
}

function matches(pattern: string, raw: Json | undefined): CompareOutcome {
  const value = isTyped(raw) ? raw.value : raw
  if (typeof value !== "string") return "missing"
  try {
    const found = safePattern(pattern).test(value)
    return found === null ? "missing" : found ? "holds" : "broken"
  } catch {
    // A frozen expectation may hold a pattern that a newer release refuses: it proves nothing either way.
    return "missing"
  }
}

function ordered(expected: Typed, raw: Json | undefined, holds: (order: number) => boolean): CompareOutcome {
  const found = readAs(expected, raw)
  if (found === null || typeFamily(found.type) !== typeFamily(expected.type)) return "missing"
  const order = orderOf(found, expected)
  return order === null ? "missing" : holds(order) ? "holds" : "broken"
}

/** Order of two values of one family; null where they have none, as amounts of two currencies. */
function orderOf(a: Typed, b: Typed): number | null {
  switch (typeFamily(a.type)) {
    case "money": {
      const [left = "0", leftCurrency] = a.value.split(" ")
      const [right = "0", rightCurrency] = b.value.split(" ")
      if (leftCurrency !== rightCurrency) return null
      const difference = BigInt(left) - BigInt(right)
      return difference > 0n ? 1 : difference < 0n ? -1 : 0
    }
    case "number":
      return Number(a.value) - Number(b.value)
    case "instant":
      return compareInstants(a.value, b.value)
    default:
      return null
  }
}

/** A raw value in the type the expectation speaks; null where it is absent or cannot be read as that type (CM1). */
function readAs(expected: Typed, raw: Json | undefined): Typed | null {
  if (raw === undefined) return null
  if (isTyped(raw) && expected.type !== "json") return typeFamily(raw.type) === typeFamily(expected.type) ? raw : null
  switch (expected.type) {
    case "json":
      return isJson(raw) ? { type: "json", value: canonicalJson(raw) } : null
    case "id":
      return idOf(raw)
    case "text":
      return typeof raw === "string" ? { type: "text", value: normalText(raw) } : null
    case "boolean":
      return typeof raw === "boolean" ? { type: "boolean", value: String(raw) } : null
    case "number":
      return typeof raw === "number" ? { type: "number", value: canonicalJson(raw) } : null
    case "instant":
      return typeof raw === "string" ? attempt(() => instant(raw)) : null
    case "minor":
    case "decimal":
      return moneyOf(expected, raw)
    default:
      return assertNever(expected.type, "readAs")
  }
}

function idOf(raw: Json): Typed | null {
  if (typeof raw === "number")
    return Number.isSafeInteger(raw) ? { type: "id", value: String(raw === 0 ? 0 : raw) } : null
  if (typeof raw !== "string") return null
  const normal = raw.normalize("NFC").trim()
  return normal === "" ? null : { type: "id", value: normal }
}

/** Money as `2400`, `"24.00"`, or `{ amount, currency }`; a bare amount is in the expected currency. */
function moneyOf(expected: Typed, raw: Json): Typed | null {
  const expectedCurrency = expected.value.split(" ")[1] ?? ""
  if (typeof raw === "number" || typeof raw === "string") return money(expected.type, raw, expectedCurrency)
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return null
  const { amount, currency } = raw as { readonly amount?: Json; readonly currency?: Json }
  if (typeof currency !== "string" || (typeof amount !== "number" && typeof amount !== "string")) return null
  return money(expected.type, amount, currency.trim().toLowerCase())
}

function money(type: Typed["type"], amount: number | string, currency: string): Typed | null {
  return attempt(() =>
    type === "minor" ? { type, value: `${minorUnits(amount)} ${currency}` } : decimal(amount, currency),
  )
}

function attempt(normalise: () => Typed): Typed | null {
  try {
    return normalise()
  } catch {
    return null
  }
}
