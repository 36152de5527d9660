/** Local time. The journal owns database time; these two clocks only anchor gates and waits. */
export interface Clock {
  /** Wall clock, ms since the epoch. May step. */
  wall(): number
  /** Monotonic clock, ms. Never goes back; stands still while the machine is suspended. */
  monotonic(): number
  /** Calls `fn` once after `ms`; never keeps the process alive. Returns a cancel function. */
  after(ms: number, fn: () => void): () => void
}
