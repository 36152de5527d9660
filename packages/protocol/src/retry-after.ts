/** Reads `Retry-After` (RFC 9110 §10.2.3): seconds, or an HTTP date in any of its three forms. */
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const IMF = /^[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/
const RFC_850 = /^[A-Z][a-z]{5,8}, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/
const ASCTIME = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/

/** Milliseconds to wait from `now`; null where the value says nothing. A date in the past is 0. */
export function retryAfterMs(value: string | null | undefined, now: number): number | null {
  const text = value?.trim() ?? ""
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  const at = httpDate(text, now)
  return at === null ? null : Math.max(0, at - now)
}

function httpDate(text: string, now: number): number | null {
  const imf = IMF.exec(text)
  if (imf) return moment(imf[3], imf[2], imf[1], imf.slice(4))
  const asctime = ASCTIME.exec(text)
  if (asctime) return moment(asctime[6], asctime[1], asctime[2], asctime.slice(3, 6))
  const old = RFC_850.exec(text)
  if (!old) return null
  const year = new Date(now).getUTCFullYear()
  // Two digits mean the year that is not more than 50 years ahead.
  const full = Math.floor(year / 100) * 100 + Number(old[3])
  return moment(String(full > year + 50 ? full - 100 : full), old[2], old[1], old.slice(4))
}

function moment(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  clock: readonly (string | undefined)[],
): number | null {
  const index = MONTHS.indexOf(month ?? "")
  const [hour = Number.NaN, minute = Number.NaN, second = Number.NaN] = clock.map(Number)
  if (index < 0 || hour > 23 || minute > 59 || second > 60) return null
  const at = Date.UTC(Number(year), index, Number(day), hour, minute, second)
  return Number.isNaN(at) ? null : at
}
