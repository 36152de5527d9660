import type { Clock } from "../../ports/clock.ts"

/**
 * The moment after which an effect request may no longer start, held against two local clocks (protocol §5.2).
 *
 * Owns: the comparison, and the memory of the latest readings. Must not: extend, renew or average anything.
 *
 * SW1. Both clocks count from readings taken *before* the dispatch transaction was sent: a slow commit answer shortens
 *      the window.
 * SW2. Neither clock may have advanced by more than the budget. The monotonic clock stands still while the machine is
 *      suspended, the wall clock may be slow or be set; each covers for the other.
 * SW3. A clock that went back, against the anchor or against any reading since, closes the window for good.
 * SW4. What cannot be compared (not a number) is closed.
 */
export interface AttemptWindow {
  /** Readings of the two clocks, in ms, taken before the dispatch transaction was sent. */
  readonly anchor: { readonly wall_ms: number; readonly monotonic_ms: number }
  /** `send_before` less that transaction's database time. */
  readonly head_budget_ms: number
  /** The last possible send less that transaction's database time. */
  readonly body_budget_ms: number
}

export class SendWindow {
  readonly #clock: Pick<Clock, "wall" | "monotonic">
  readonly #window: AttemptWindow
  #latest: { wall_ms: number; monotonic_ms: number }
  #closed = false

  constructor(clock: Pick<Clock, "wall" | "monotonic">, window: AttemptWindow) {
    this.#clock = clock
    this.#window = window
    this.#latest = { ...window.anchor }
  }

  /** Asked in the tick in which the head is written. */
  headOpen(): boolean {
    return this.#advanced() <= this.#window.head_budget_ms
  }

  /** Asked in the tick in which a chunk of the body is written. */
  bodyOpen(): boolean {
    return this.#advanced() <= this.#window.body_budget_ms
  }

  /** How long a body may go on leaving; 0 when it may not. */
  bodyLeft(): number {
    const left = this.#window.body_budget_ms - this.#advanced()
    return left > 0 ? left : 0
  }

  /** The larger of the two advances, in ms; infinite once a clock went back or said something that is no number. */
  #advanced(): number {
    const wall_ms = this.#clock.wall()
    const monotonic_ms = this.#clock.monotonic()
    const forward = wall_ms >= this.#latest.wall_ms && monotonic_ms >= this.#latest.monotonic_ms
    if (this.#closed || !forward) {
      this.#closed = true
      return Number.POSITIVE_INFINITY
    }
    this.#latest = { wall_ms, monotonic_ms }
    return Math.max(wall_ms - this.#window.anchor.wall_ms, monotonic_ms - this.#window.anchor.monotonic_ms)
  }
}
