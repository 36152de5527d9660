/** Ids the engine makes. */
export interface Ids {
  /** UUIDv7, ordered by `now_ms`. */
  operation(now_ms: number): string
  /** Unique id of one journal write. */
  event(): string
  /** Unguessable token of a lease. */
  token(): string
  worker(): string
}
