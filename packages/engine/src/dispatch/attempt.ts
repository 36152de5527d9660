/**
 * Running one attempt: the tool's function on this engine's transport, its end classified and written down.
 *
 * Owns: the attempt's time limit, its abort signal, the order "observe, classify, record, tell".
 * Must not: dispatch again because a record failed (protocol §11).
 *
 * AT1. What the tool threw, and what the transport saw, are read in the same tick in which its promise settled.
 * AT2. A tool that does not end in time is no longer waited for; what it says later is heard all the same (ST-5).
 * AT3. An outcome that cannot be written is kept and written again until it can be, or the process ends.
 */
import type { Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import { TimeLimitError } from "../time-limit.ts"
import type { CompiledTool } from "../tool/compiled-tool.ts"
import type { Anchor } from "./dispatch-record.ts"
import { attemptTransport } from "./attempt-transport-options.ts"
import { classify, type Ended } from "./classify.ts"
import { recordOutcome } from "./record-outcome.ts"

export interface Commit {
  readonly anchor: Anchor
  readonly committed_at: number
}

export function startAttempt(context: EngineContext, operation: Operation, tool: CompiledTool, commit: Commit): void {
  const attempt = operation.attempts.at(-1)
  if (!attempt) return
  context.worker.opened()
  const ended = runAttempt(context, operation, tool, commit)
    .catch((error: unknown) =>
      context.telemetry.log("error", "an attempt could not be recorded", {
        operation_id: operation.operation_id,
        error: String(error),
      }),
    )
    .finally(() => context.worker.ended())
  context.running.add(operation.operation_id, attempt.attempt, ended)
}

async function runAttempt(
  context: EngineContext,
  operation: Operation,
  tool: CompiledTool,
  commit: Commit,
): Promise<void> {
  const attempt = operation.attempts.at(-1)
  if (!attempt) return
  const transport = attemptTransport(context, operation, tool, commit)
  const controller = new AbortController()
  const parsed = await tool.parse(operation.params)
  let settled = false
  const run = async (): Promise<Ended> => {
    try {
      if (!parsed.ok) throw new Error("today's schema refuses the stored parameters")
      const value = await tool.execute(parsed.value, {
        providerKey: attempt.provider_key,
        operationId: operation.operation_id,
        attempt: attempt.attempt,
        signal: controller.signal,
        fetch: transport.fetch,
      })
      return { how: "returned", value, timed_out: controller.signal.aborted, started: true }
    } catch (error) {
      return { how: "thrown", error, timed_out: controller.signal.aborted, started: parsed.ok }
    } finally {
      settled = true
    }
  }
  const stop = context.clock.after(attempt.timeout_ms, () => {
    if (settled) return
    controller.abort(new TimeLimitError(`the attempt took longer than ${attempt.timeout_ms} ms`))
    if (attempt.transport === "invoke") transport.close("its time is over")
    void stopWaiting(context, operation, attempt.attempt)
  })
  const end = await run()
  stop()
  // Closed first: only what can no longer leave may be called unsent.
  transport.close("the attempt ended")
  const outcome = classify(context, operation, tool, end, transport.observe())
  await recordOutcome(context, operation, attempt.attempt, outcome)
}

/** The caller is told `unknown`; the promise may still settle, and is heard then. */
async function stopWaiting(context: EngineContext, operation: Operation, attempt: number): Promise<void> {
  await applyEvent(
    context,
    operation.operation_id,
    (row) =>
      row.state === "dispatched" && row.attempts.at(-1)?.attempt === attempt
        ? { type: "lapsed", why: "timeout" }
        : null,
    { actor: "engine" },
  ).catch((error: unknown) =>
    context.telemetry.log("warn", "a timeout could not be written", {
      operation_id: operation.operation_id,
      error: String(error),
    }),
  )
}
