/**
 * `call`: from a proposal to what can be said about it within the wait (protocol §2; interfaces, "SDK").
 *
 * CA1. A result always has an operation id; an error means that nothing ran and nothing was reserved.
 * CA2. The wait's end, or an aborted signal, ends the waiting, never the operation.
 * CA3. A duplicate waits on the row. It is never promoted to dispatcher.
 * CA4. Once an operation is known the answer is a Result, also where the journal cannot be read any more: then of the last row seen.
 */
import {
  buildResult,
  DEFAULTS,
  InvokeError,
  isTerminal,
  JOURNAL_ERRORS,
  type Operation,
  type Result,
} from "@invokejs/protocol"
import { needsPerson } from "../attention.ts"
import type { EngineContext } from "../engine-context.ts"
import { startAttempt } from "../dispatch/attempt.ts"
import { isInDoubt } from "../operation-writer.ts"
import { JournalError } from "../ports/journal.ts"
import { retakeSlot } from "../operate/retake-slot.ts"
import { admit, type Admitted } from "./admit.ts"
import type { CallOptions } from "./call-options.ts"
import { prepareCall, type CallRequest } from "./call-request.ts"
import { placedKey } from "./identical-calls.ts"
import { callReadOnly } from "./read-only.ts"
import { CALLER, tellResult, type Telling } from "./tell-result.ts"

export async function call(context: EngineContext, options: CallOptions): Promise<Result> {
  const request = await beforeIntent(() => prepareCall(context, options))
  const [key] = request.keys
  if (!request.each || request.turn_id === null || key === undefined) return callRequest(context, request)
  const { place, leave } = context.identical.take(`${request.tenant} ${request.turn_id} ${key}`)
  try {
    const keys = [placedKey(key, request.turn_id, place, context.sha256)]
    return await callRequest(context, { ...request, keys })
  } finally {
    leave()
  }
}

async function callRequest(context: EngineContext, request: CallRequest): Promise<Result> {
  if (context.draining()) throw closing()
  if (request.tool.safety === "read-only" && !request.tool.journaled) return callReadOnly(context, request)
  const actor = `agent:${request.agent_id}`
  return followAdmitted(context, request, await admitAndStart(context, request, { actor }))
}

/** Admits, and starts the attempt that was dispatched with it: one thing for whoever waits until nothing more starts (CS-6). */
export function admitAndStart(
  context: EngineContext,
  request: CallRequest,
  special: Parameters<typeof admit>[2],
): Promise<Admitted> {
  const admitting = () =>
    context.admissions.run(request.keys, async () => {
      if (context.draining()) throw closing()
      const admitted = await admit(context, request, special)
      if (admitted.how === "admitted" && admitted.dispatched) {
        startAttempt(context, admitted.operation, request.tool, { attempt: 1, ...admitted.dispatched })
      }
      return admitted
    })
  return beforeIntent(() => journaled(admitting))
}

/** Until the intent is durable nothing ran, so whatever is thrown means that: a fault of the author's code, or of ours. */
async function beforeIntent<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (InvokeError.is(error)) throw error
    throw new InvokeError("internal", {
      happened: `the call could not be made: ${error instanceof Error ? error.message : "something was thrown"}`,
      cause: error,
    })
  }
}

function closing(): InvokeError {
  return new InvokeError("draining", { happened: "this process is closing and takes no new calls" })
}

/** What is true of an admitted call once its wait is over. */
export async function followAdmitted(
  context: EngineContext,
  request: CallRequest,
  admitted: Admitted,
): Promise<Result> {
  switch (admitted.how) {
    case "in_doubt":
      return inDoubt(context, request, admitted.operation)
    case "admitted":
      if (!admitted.dispatched) context.wake()
      return tellWhenDone(context, request, admitted.operation, "first")
    case "joined":
      context.journal.noteDuplicate(admitted.operation.operation_id, `agent:${request.agent_id}`)
      return tellWhenDone(context, request, admitted.operation, "joiner")
    case "replayed":
      context.journal.noteDuplicate(admitted.operation.operation_id, `agent:${request.agent_id}`)
      return tellResult(context, admitted.operation, "later")
    case "retry":
      return retryThenTell(context, request, admitted.operation)
  }
}

/** An identical later call on `not_applied` with budget left is its retry: one winner, the others join (item 15). */
async function retryThenTell(context: EngineContext, request: CallRequest, operation: Operation): Promise<Result> {
  const applied = await journaled(async () => {
    const retaken = retakeSlot(context, operation, {
      event: (row) =>
        row.state === "not_applied"
          ? {
              type: "retry",
              after_attempt: row.attempts.at(-1)?.attempt ?? 0,
              deadline_at: context.journal.now() + row.contract.deadline_ms,
              automatic: true,
            }
          : null,
      actor: `agent:${request.agent_id}`,
    })
    // A retry in doubt may be under way: nobody may say that nothing ran (CA1).
    return retaken.catch((error: unknown) => {
      if (isInDoubt(error)) return null
      throw error
    })
  })
  if (applied === null) return inDoubt(context, request, operation)
  if (applied.ok) {
    context.wake()
    return tellWhenDone(context, request, applied.operation, "first")
  }
  return tellWhenDone(context, request, applied.operation, isTerminal(applied.operation.state) ? "later" : "joiner")
}

async function tellWhenDone(
  context: EngineContext,
  request: CallRequest,
  operation: Operation,
  telling: Telling,
): Promise<Result> {
  // In quarantine only a person can let it go on: there is nothing to wait for.
  const held = !answerable(operation) && (await context.journal.quarantine().catch(() => null)) !== null
  const row = await context.watch.wait(operation, {
    enough: answerable,
    wait_ms: held && operation.attempts.length === 0 ? 0 : request.wait_ms,
    ...(request.signal ? { signal: request.signal } : {}),
  })
  return tellResult(context, row, telling)
}

/** Settled, or in a person's hands. */
export function answerable(operation: Operation): boolean {
  return isTerminal(operation.state) || needsPerson(operation)
}

/** The commit of the admission is in doubt: nobody may say that nothing was reserved (item 12). */
async function inDoubt(context: EngineContext, request: CallRequest, proposed: Operation): Promise<Result> {
  const operation = await context.journal.operation(proposed.operation_id).catch(() => null)
  if (operation) return tellWhenDone(context, request, operation, "first")
  return buildResult(proposed, {
    telling: "first",
    now: context.journal.now(),
    quarantine: false,
    rights: CALLER,
    doubtful_admission: true,
  })
}

/** What the journal could not take is told as an error only where nothing was written. */
export async function journaled<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
    const code = error.code === "commit_in_doubt" ? "journal_unavailable" : JOURNAL_ERRORS[error.code]
    throw new InvokeError(code, {
      happened: `the journal did not take it: ${error.message}`,
      ...(error.code === "commit_in_doubt" ? { fix: "Read the operation before anything else is done." } : {}),
      detail: { journal_code: error.code },
      retry_after_ms: DEFAULTS.backoff_min_ms,
      cause: error,
    })
  }
}
