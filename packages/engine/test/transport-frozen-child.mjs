// A worker that its test freezes with SIGSTOP: between the decision to send and the head ("head"), or in the middle of
// a body ("body").
import { createTransport } from "@invokejs/engine"
import { neverLeft } from "@invokejs/engine/internal"

const [mode = "", port = "", window_ms = ""] = process.argv.slice(2)
/** @param {Record<string, unknown>} message */
const tell = (message) => process.send?.(message)
const clock = {
  wall: () => performance.timeOrigin + performance.now(),
  monotonic: () => performance.now(),
  /** @param {number} ms @param {() => void} fn */
  after(ms, fn) {
    const timer = setTimeout(fn, ms)
    return () => clearTimeout(timer)
  },
}
const transport = createTransport({
  clock,
  lookup: (_hostname, options, callback) => {
    process.once("message", () => {
      if (options.all) callback(null, [{ address: "127.0.0.1", family: 4 }])
      else callback(null, "127.0.0.1", 4)
    })
    tell({ looking: true })
  },
})
const budget =
  mode === "head"
    ? { head_budget_ms: Number(window_ms), body_budget_ms: 60_000 }
    : { head_budget_ms: 60_000, body_budget_ms: Number(window_ms) }
const attempt = transport.attempt({
  window: { anchor: { wall_ms: clock.wall(), monotonic_ms: clock.monotonic() }, ...budget },
  response_bytes_max: 1024,
  attempt_timeout_ms: 60_000,
})
const body = Buffer.alloc(mode === "head" ? 10 : 36 * 1024 * 1024)
const outcome = await attempt.fetch(`http://provider.example:${port}/`, { method: "POST", body }).then(
  (response) => String(response.status),
  (/** @type {unknown} */ error) => /** @type {{ code: string }} */ (error).code,
)
const observation = attempt.observe()
tell({ outcome, observation, never_left: neverLeft(observation) })
await transport.close()
process.disconnect?.()
