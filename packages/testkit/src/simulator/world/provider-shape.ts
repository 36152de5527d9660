/** What is true of a provider in one run, and what its contract says of it: the two are made from the same data. */
export interface KeyShape {
  readonly retention_ms: number
  readonly replay: "stored" | "finishes" | "executes"
  readonly in_flight: "refuses" | "waits" | "races"
  readonly replays_errors: boolean
  readonly on_mismatch: "refuses" | "ignores"
  /** A stored refusal bears a status of its own, by which it speaks for the key. */
  readonly answers_for_key: boolean
}

export interface ProviderShape {
  /** Q. */
  readonly max_execution_ms: number
  /** V. */
  readonly visibility_ms: number
  readonly strong: boolean
  /** Granularity of creation times, and how far its clock is off; never more than the contract's skew. */
  readonly resolution_ms: number
  readonly clock_off_ms: number
  readonly key: KeyShape | null
  /** How long the search index lags. */
  readonly index_lag_ms: number
  /** How long an object takes until it is what the call makes. */
  readonly processing_ms: number
  /** How long an accepted request takes until it is done, or taken back. */
  readonly settles_ms: number
  readonly settle_by_ms: number
  /** What the tool's author allows an attempt, and the operation. */
  readonly timeout_ms: number
  readonly deadline_ms: number
  readonly attempts: number
  /** Whether a full match found before the first attempt holds nothing up. */
  readonly many: boolean
}

/** The status of a stored refusal that speaks for its key. */
export const KEY_REFUSED = 422
