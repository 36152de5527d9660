/**
 * Notices that database time jumped forward: windows that were open then start again (protocol §6, `maxClockStep`).
 *
 * CW1. The monotonic clock says how much time may have passed; what database time gained beyond that is a step.
 */
import { DEFAULTS } from "@invokejs/protocol"
import type { Clock } from "./ports/clock.ts"
import type { Journal } from "./ports/journal.ts"

export class ClockWatch {
  readonly #journal: Pick<Journal, "now">
  readonly #clock: Pick<Clock, "monotonic">
  #database: number
  #monotonic: number
  #steppedAt: number | null = null

  constructor(journal: Pick<Journal, "now">, clock: Pick<Clock, "monotonic">) {
    this.#journal = journal
    this.#clock = clock
    this.#database = journal.now()
    this.#monotonic = clock.monotonic()
  }

  /** Database time of the last forward jump, or null. */
  steppedAt(): number | null {
    const database = this.#journal.now()
    const monotonic = this.#clock.monotonic()
    const gained = database - this.#database - (monotonic - this.#monotonic)
    if (gained > DEFAULTS.max_clock_step_ms) this.#steppedAt = database
    this.#database = database
    this.#monotonic = monotonic
    return this.#steppedAt
  }
}
