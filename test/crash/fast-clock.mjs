// @ts-check
// A clock that runs faster than the machine's, the same in every process that is given the same beginning.
//
// Leases, settle windows and backoffs are minutes of real time; what is real here are processes, signals, sockets and files.

/**
 * @param {number} speed how many of its milliseconds pass in one of the machine's
 * @param {number} base_ms wall time at which both agree
 * @returns {import("@invokejs/engine").Clock}
 */
export function fastClock(speed, base_ms) {
  return {
    wall: () => base_ms + (Date.now() - base_ms) * speed,
    monotonic: () => performance.now() * speed,
    after(ms, run, options) {
      const timer = setTimeout(run, Math.min(Math.max(0, ms) / speed, 2_147_000_000))
      if (options?.keep_alive !== true) timer.unref()
      return () => clearTimeout(timer)
    },
  }
}
