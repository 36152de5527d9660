/**
 * Running one attempt: the tool's function on this engine's transport, its end classified and written down.
 *
 * Owns: the attempt's time limit, its abort signal, the order "observe, classify, record, tell".
 * Must not: dispatch again because a record failed (protocol §11).
 *
 * AT1. What the tool threw, and what the transport saw, are read in the same tick in which its promise settled.
 * AT2. A tool that does not end in time is no longer waited for; what it says later is heard all the same (ST-5).
 * AT3. An outcome that cannot be written is kept and written again until it can be, or the process ends.
 * AT4. A tool is called only inside the attempt's window; outside it, that it never started is what is recorded.
 */
import type { Attempt, Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import { parseStored } from "../stored-params.ts"
import { TimeLimitError } from "../time-limit.ts"
import type { CompiledTool } from "../tool/compiled-tool.ts"
import type { Anchor } from "./dispatch-record.ts"
import { attemptTransport, attemptWindow } from "./attempt-transport-options.ts"
import { classify, type Ended } from "./classify.ts"
import { recordNeverStarted } from "./never-started.ts"
import { recordOutcome, type Classified } from "./record-outcome.ts"
import type { AttemptTransport } from "./transport/attempt-transport.ts"
import { SendWindow } from "./transport/send-window.ts"

export interface Commit {
  /** Which attempt the record was of: where its commit was in doubt, others may have followed before that was known (R23). */
  readonly attempt: number
  readonly anchor: Anchor
  readonly committed_at: number
}

export function startAttempt(context: EngineContext, operation: Operation, tool: CompiledTool, commit: Commit): void {
  const attempt = attemptOf(operation, commit)
  if (!attempt || context.closed()) return
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

function attemptOf({ attempts }: Operation, { attempt }: Commit): Attempt | undefined {
  return attempts.find((one) => one.attempt === attempt)
}

async function runAttempt(
  context: EngineContext,
  operation: Operation,
  tool: CompiledTool,
  commit: Commit,
): Promise<void> {
  const attempt = attemptOf(operation, commit)
  if (!attempt) return
  const { operation_id } = operation
  const gate = new SendWindow(context.clock, attemptWindow(attempt, commit))
  const parsed = await parseStored(tool, operation.params)
  // No transport stops an opaque tool later: past its window it is not called at all (AT4).
  if (!gate.headOpen()) {
    return recordNeverStarted(context, { operation_id, attempt: attempt.attempt, event_id: null })
  }
  const transport = attemptTransport(context, operation, attempt, tool, commit)
  const controller = new AbortController()
  let settled = false
  const run = async (): Promise<Ended> => {
    try {
      if (!parsed.ok) throw new Error("today's schema refuses the stored parameters")
      const value = await tool.execute(parsed.value, {
        providerKey: attempt.provider_key,
        operationId: operation_id,
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
  if (transport.observe().second_effect) {
    context.faulty.add(tool)
    context.telemetry.log("error", `${tool.name} asked for a second effect request and sends nothing more`, {
      operation_id,
    })
  }
  await recordOutcome(
    context,
    operation,
    attempt.attempt,
    classifySafely(context, operation, attempt, tool, end, transport),
  )
}

/** Values of others are read here, and reading one can throw: then nothing is known (S3). */
function classifySafely(
  context: EngineContext,
  operation: Operation,
  attempt: Attempt,
  tool: CompiledTool,
  end: Ended,
  transport: AttemptTransport,
): Classified {
  try {
    return classify(context, operation, attempt, tool, end, transport.observe())
  } catch {
    const reason = { code: "unreadable", text: "what the tool returned or threw cannot be read" }
    return { outcome: { class: "unknown", reason }, left: true }
  }
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
  )
    .then(() => context.wake())
    .catch((error: unknown) =>
      context.telemetry.log("warn", "a timeout could not be written", {
        operation_id: operation.operation_id,
        error: String(error),
      }),
    )
}
