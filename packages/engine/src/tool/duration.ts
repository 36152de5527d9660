/** Lengths of time as people write them: `"30s"`, `"5m"`, or a number of milliseconds. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`

const UNITS_MS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const WRITTEN = /^(\d{1,12}(?:\.\d{1,3})?)(ms|s|m|h|d)$/

/** Whole milliseconds, or null where the value is no length of time: negative, endless, without a unit, or not exact. */
export function durationMs(value: unknown): number | null {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : null
  if (typeof value !== "string") return null
  const [, amount, unit = ""] = WRITTEN.exec(value) ?? []
  const factor = UNITS_MS[unit]
  if (amount === undefined || factor === undefined) return null
  const ms = Math.round(Number(amount) * factor)
  return Number.isSafeInteger(ms) ? ms : null
}

/** The largest unit that says it without a remainder: `24h`, `1500ms`. */
export function describeDuration(ms: number): string {
  const [unit, factor] = Object.entries(UNITS_MS).findLast(([, size]) => ms >= size && ms % size === 0) ?? ["ms", 1]
  return `${ms / factor}${unit}`
}
