/** A length of time in the words of a report. */
export function seconds(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`
  return ms < 7_200_000 ? `${Math.round(ms / 6_000) / 10} min` : `${Math.round(ms / 360_000) / 10} h`
}
