/** Where the engine says what it does, outside the journal. Nothing here may throw or block. */
export interface Telemetry {
  log(level: "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, unknown>>): void
  count(name: string, fields?: Readonly<Record<string, string>>): void
}
