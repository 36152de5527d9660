/** Times and ages as the command prints them: UTC, and the largest unit that says enough. */
const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const

export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** To the second: what a person compares. */
export function sayTime(ms: number): string {
  return isoTime(ms).replace(/\.\d+Z$/, "Z")
}

export function sayAge(ms: number): string {
  const [unit, size] = UNITS.find(([, one]) => ms >= one) ?? ["s", 1_000]
  return `${Math.max(0, Math.floor(ms / size))}${unit}`
}

export function sayMoment(ms: number, now: number): string {
  const away = ms - now
  return `${sayTime(ms)} (${away > 0 ? `in ${sayAge(away)}` : `${sayAge(-away)} ago`})`
}
