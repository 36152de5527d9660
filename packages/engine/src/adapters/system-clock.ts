/** The machine's own clocks and timers. The only place of the engine that reads them. */
import type { Clock } from "../ports/clock.ts"

/** Node fires at once what is longer than this (24 days); nothing here waits so long without being asked again. */
const TIMER_MAX_MS = 2_147_000_000

export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn, options) {
    const whole = Math.max(0, ms)
    const timer = setTimeout(whole > TIMER_MAX_MS ? () => undefined : fn, Math.min(whole, TIMER_MAX_MS))
    if (options?.keep_alive !== true) timer.unref()
    return () => clearTimeout(timer)
  },
}
