/** Local time. The journal owns database time; these two clocks only anchor gates and waits. */
export interface Clock {
  /** Wall clock, ms since the epoch. May step. */
  wall(): number
  /** Monotonic clock, ms. Never goes back; stands still while the machine is suspended. */
  monotonic(): number
  /**
   * Calls `fn` once after `ms`. Returns a cancel function. It keeps the process alive only where somebody is waiting for it
   * (`keep_alive`): background work never does.
   */
  after(ms: number, fn: () => void, options?: { readonly keep_alive?: boolean }): () => void
}
