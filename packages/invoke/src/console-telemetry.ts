/** What the engine says, on standard error, one line each. The application may pass its own instead. */
import type { Telemetry } from "@invokejs/engine"

export function consoleTelemetry(level: "info" | "warn" | "error" = "info"): Telemetry {
  const order = ["info", "warn", "error"] as const
  return {
    log(at, message, fields) {
      if (order.indexOf(at) < order.indexOf(level)) return
      const extra = fields && Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : ""
      process.stderr.write(`invoke ${at}: ${message}${extra}\n`)
    },
    count() {
      // Nobody counts here; the server exports metrics.
    },
  }
}

export const silentTelemetry: Telemetry = { log: () => undefined, count: () => undefined }
