/**
 * A read-only call: it changes nothing, so it is neither recorded nor reconciled, and may be made again (protocol §3).
 *
 * RO1. It may not change the world: an effect request of a read-only tool is refused before a byte leaves.
 */
import { buildResult, propose, type Operation, type Reason, type Result } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { errorText } from "../reconcile/probe.ts"
import { readTransport } from "../reconcile/read-transport.ts"
import { TimeLimitError, withTimeLimit } from "../time-limit.ts"
import { jsonOutput } from "../tool/json-output.ts"
import { recordOf } from "./admit.ts"
import type { CallRequest } from "./call-request.ts"
import { CALLER } from "./tell-result.ts"

export async function callReadOnly(context: EngineContext, request: CallRequest): Promise<Result> {
  const { tool } = request
  const operation = unrecorded(context, request)
  const reads = readTransport(context, tool.contract.timeout_ms)
  try {
    const value = await withTimeLimit(context.clock, tool.contract.timeout_ms, (signal) =>
      tool.execute(request.parsed, {
        providerKey: operation.operation_id,
        operationId: operation.operation_id,
        attempt: 1,
        signal: request.signal ? AbortSignal.any([signal, request.signal]) : signal,
        fetch: reads.fetch,
      }),
    )
    const word = tool.interpret({ returned: { value }, timed_out: false })
    if (word.says === "not_applied" || word.says === "rejected")
      return failure(context, operation, { code: word.code, text: word.message })
    return success(context, operation, "value" in word ? word.value : value)
  } catch (error) {
    return failure(context, operation, whyOf(tool, error))
  } finally {
    reads.close("the read ended")
  }
}

/** The tool's own word, where it has one. */
function whyOf(tool: CallRequest["tool"], error: unknown): Reason {
  const timed_out = error instanceof TimeLimitError
  const word = tool.interpret({ thrown: { error }, timed_out })
  if (word.says === "not_applied" || word.says === "rejected") return { code: word.code, text: word.message }
  return { code: timed_out ? "timeout" : "read_failed", text: errorText(error) }
}

/** The record it would have. It is never written. */
function unrecorded(context: EngineContext, request: CallRequest): Operation {
  const now = context.journal.now()
  const names = {
    operation_id: context.ids.operation(now),
    key: request.keys[0] ?? "",
    revision: 1,
    supersedes: null,
    repeats: null,
    compensates: null,
  }
  return propose({ ...recordOf(request), ...names }, { kind: "ready" }, { now, unit: 0, actor: "engine" }).next
}

function success(context: EngineContext, operation: Operation, value: unknown): Result {
  const stored = jsonOutput(value)
  const now = context.journal.now()
  return buildResult(
    {
      ...operation,
      state: "succeeded",
      cause: "acknowledged",
      settled_at: now,
      due_at: null,
      output: stored.output,
      output_error: "output_error" in stored ? stored.output_error : null,
    },
    { telling: "first", now, quarantine: false, rights: CALLER },
  )
}

function failure(context: EngineContext, operation: Operation, reason: Reason): Result {
  const now = context.journal.now()
  return buildResult(
    { ...operation, state: "not_applied", settled_at: now, due_at: null, reason },
    { telling: "first", now, quarantine: false, rights: CALLER, read_only_failure: true },
  )
}
