/** `fetch` for looks: reads only. A look that tries to change the world is refused before a byte leaves. */
import { DEFAULTS } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import type { AttemptTransport } from "../dispatch/transport/attempt-transport.ts"

export function readTransport(context: EngineContext, limit_ms: number): AttemptTransport {
  return context.transport.attempt({
    window: {
      anchor: { wall_ms: context.clock.wall(), monotonic_ms: context.clock.monotonic() },
      head_budget_ms: Number.NEGATIVE_INFINITY,
      body_budget_ms: Number.NEGATIVE_INFINITY,
    },
    response_bytes_max: DEFAULTS.response_bytes_max,
    attempt_timeout_ms: limit_ms,
  })
}
