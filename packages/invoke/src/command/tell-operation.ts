/**
 * What can be said about a stored operation, as its Result.
 *
 * TO1. Reading is not telling: nothing is written, so the first telling of a settled fact stays owed to its caller.
 */
import type { Journal } from "@invokejs/engine"
import { buildResult, InvokeError, type Operation, type Result } from "@invokejs/protocol"
import type { Answer } from "./define-command.ts"
import { waitingForTool, type WorkerFact } from "./live-workers.ts"
import type { Page } from "./page.ts"

/** The person at this machine may retry and supersede. */
const OPERATOR = { retry: true, supersede: true } as const

export async function readOperation(journal: Journal, operation_id: string): Promise<Operation> {
  const operation = await journal.operation(operation_id)
  if (operation) return operation
  throw new InvokeError("operation_not_found", {
    happened: `there is no operation ${operation_id}`,
    fix: "Check the id and the journal; `invoke ops ls` lists what is there.",
    detail: { operation_id },
  })
}

export async function resultOf(
  journal: Journal,
  operation: Operation,
  workers: readonly WorkerFact[],
): Promise<Result> {
  const now = journal.now()
  const last = operation.attempts.at(-1)
  const holder = workers.find((worker) => worker.worker_id === last?.worker_id)
  const lost = holder === undefined || holder.state !== "live" || Date.parse(holder.lease_until) <= now
  return buildResult(operation, {
    telling: "later",
    now,
    quarantine: (await journal.quarantine()) !== null,
    rights: OPERATOR,
    lease_lapsed: last !== undefined && lost,
    waiting_for_tool: waitingForTool(workers, operation),
  })
}

/** An answer that is a Result: its exit code is the Result's own. */
export function answerOf(result: Result, more: (page: Page) => void = () => undefined): Answer {
  return {
    exit: result.exit,
    json: result,
    text: (page) => {
      showResult(page, result)
      more(page)
    },
  }
}

function showResult(page: Page, result: Result): void {
  page.fact("status", result.status)
  page.fact("final_outcome", result.final_outcome)
  page.fact("decision", result.decision)
  page.fact("retry", result.retry)
  page.fact("operation_id", result.operation_id)
  page.fact("attempt", result.attempt)
  if (result.output !== null) page.fact("output", JSON.stringify(result.output))
  page.fact("output_error", result.output_error)
  if (result.output_purged) page.fact("output", "purged")
  if (result.reason) page.fact("reason", `${result.reason.code}: ${result.reason.text}`)
  page.fact("verdict", result.verdict)
  page.fact("cause", result.cause)
  page.fact("held_by", result.held_by)
  page.fact("superseded_by", result.superseded_by)
  page.fact("compensated_by", result.compensated_by)
  page.fact("next_check_at", result.next_check_at)
  page.line()
  page.say(result.agent_text)
}
