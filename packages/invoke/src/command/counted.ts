/** `1 operation`, `2 operations`. */
export function counted(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? "" : "s"}`
}
