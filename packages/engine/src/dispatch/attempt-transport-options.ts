/** The transport of one attempt: its window, its key, what its effect request is, and the bytes it must equal. */
import { DEFAULTS, type Attempt, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import type { CompiledTool } from "../tool/compiled-tool.ts"
import type { Commit } from "./attempt.ts"
import type { AttemptTransport } from "./transport/attempt-transport.ts"
import type { AttemptWindow } from "./transport/send-window.ts"

/** The moments of the record, counted from the readings taken before it was sent. */
export function attemptWindow(attempt: Attempt, { anchor, committed_at }: Commit): AttemptWindow {
  return {
    anchor,
    head_budget_ms: attempt.send_before - committed_at,
    body_budget_ms: attempt.last_possible_send - committed_at,
  }
}

export function attemptTransport(
  context: EngineContext,
  operation: Operation,
  attempt: Attempt,
  tool: CompiledTool,
  commit: Commit,
): AttemptTransport {
  const { key, effect } = operation.contract
  const header = key?.sent_as.startsWith("header:") === true ? key.sent_as.slice("header:".length) : null
  const earlier = operation.attempts.find(
    (one) => one.generation === attempt.generation && one.attempt < attempt.attempt && one.request_digest !== undefined,
  )?.request_digest
  return context.transport.attempt({
    window: attemptWindow(attempt, commit),
    ...(effect === undefined ? {} : { effect }),
    ...(header === null ? {} : { provider_key: { header, value: attempt.provider_key } }),
    ...(earlier === undefined ? {} : { earlier_digest: earlier }),
    ...(key?.covered_headers === undefined ? {} : { covered_headers: key.covered_headers }),
    response_bytes_max: DEFAULTS.response_bytes_max,
    attempt_timeout_ms: attempt.timeout_ms,
    allow_private: tool.allow_private,
  })
}
