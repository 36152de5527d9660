/**
 * The Result: what a call is told about its operation. Built here and nowhere else.
 *
 * RS1. Its words are a row of the result table (`result-table.ts`), chosen by `selectRow`; nothing sets them by hand.
 * RS2. A Result always has an operation id. What ran nothing and reserved nothing is an InvokeError.
 * RS3. `agent_text` is our own words. Provider text stays in `error`, `reason` and `output`.
 * RS4. Times on the wire are ISO 8601 in UTC.
 */
import { agentText } from "./agent-text.ts"
import { summariseEvidence, type EvidenceSummary } from "./evidence-summary.ts"
import { isoTime } from "./iso-time.ts"
import { operationTrace, type TraceStep } from "./operation-trace.ts"
import { RESULT_TABLE, resultCore, type PlanChange, type ResultCore, type RowId } from "./result-table.ts"
import { selectRow, type Circumstances } from "./select-row.ts"
import type { Json } from "./canonical-json.ts"
import type { Cause, Verdict } from "./evidence.ts"
import type { Operation, Reason } from "./operation.ts"

export interface ResultFields {
  readonly operation_id: string
  /** The last attempt's number; 0 where nothing was dispatched. */
  readonly attempt: number
  readonly idempotency_key: string
  readonly output: Json | null
  /** Why the output could not be stored. The effect is in place all the same. */
  readonly output_error: string | null
  /** The output was removed when its retention was over. */
  readonly output_purged: boolean
  /** What the provider or the tool said, where the effect is not in place. It can carry text of others. */
  readonly error: Reason | null
  readonly reason: Reason | null
  readonly cause: Cause | null
  readonly verdict: Verdict | null
  /** Somebody is looking right now. */
  readonly reconciling: boolean
  readonly evidence: readonly EvidenceSummary[]
  readonly trace: readonly TraceStep[]
  /** Set where a settled fact is told again. */
  readonly replayed_from: { readonly operation_id: string; readonly attempt: number; readonly at: string } | null
  readonly superseded_by: string | null
  readonly compensated_by: string | null
  /** The operation that holds the intent slot this one wants. */
  readonly held_by: string | null
  readonly next_check_at: string | null
  readonly approval_id: string | null
  readonly current_state: string | null
  readonly legal_actions: readonly string[] | null
  /** false: told to the calling promise before its commit was durable. */
  readonly durable: boolean
  readonly agent_text: string
}

export type Result = ResultFields & ResultCore

/** Evidence shown in a Result: the newest. All of it is on the operation's timeline. */
const EVIDENCE_SHOWN = 20

export function buildResult(operation: Operation, circumstances: Circumstances): Result {
  const row = selectRow(operation, circumstances)
  const change = planChange(operation, row, circumstances)
  const core = resultCore(row, change)
  const settled = core.settled
  const next = settled || operation.due_at === null ? null : isoTime(operation.due_at)
  const fields: ResultFields = {
    operation_id: operation.operation_id,
    attempt: operation.attempts.at(-1)?.attempt ?? 0,
    idempotency_key: operation.key,
    output: core.ok || row === "undone" ? operation.output : null,
    output_error: operation.output_error,
    output_purged: operation.output_purged,
    error: row === "failed" || row === "not_applied" || row === "not_applied_spent" ? operation.reason : null,
    reason: reasonOf(operation, row, change, circumstances),
    cause: core.ok ? operation.cause : null,
    verdict: operation.verdict,
    reconciling: reconciling(operation, circumstances.now),
    evidence: operation.evidence.slice(-EVIDENCE_SHOWN).map(summariseEvidence),
    trace: operationTrace(operation),
    replayed_from: replayedFrom(operation, core, circumstances),
    superseded_by: operation.superseded_by,
    compensated_by: operation.compensated_by,
    held_by: operation.held_by,
    next_check_at: next,
    approval_id: operation.approval_id,
    current_state: circumstances.workflow?.current_state ?? null,
    legal_actions: circumstances.workflow?.legal_actions ?? null,
    durable: operation.durable,
    agent_text: agentText(row, change, {
      operation_id: operation.operation_id,
      next_check_at: next,
      held_by: operation.held_by,
      superseded_by: operation.superseded_by,
      compensated_by: operation.compensated_by,
    }),
  }
  return Object.freeze({ ...fields, ...core })
}

function planChange(operation: Operation, row: RowId, circumstances: Circumstances): PlanChange {
  const { rights, read_only_failure: readOnly } = circumstances
  const { supersedable, needs } = RESULT_TABLE[row]
  // A read changes nothing: everybody may make it again.
  if (readOnly === true) return null
  if (operation.superseded_by !== null && supersedable) return "superseded"
  if (needs === "retry") return rights.retry ? null : "needs_right"
  if (needs === "supersede") return rights.supersede ? null : "needs_right"
  return null
}

const DOUBTFUL: Reason = {
  code: "admission_in_doubt",
  text: "the commit of the admission was sent; its answer is not known",
}
const UNRECORDED: Reason = { code: "not_recorded", text: "the attempt ended; its outcome could not be recorded yet" }
const LAPSED: Reason = { code: "lease_lost", text: "the lease of the attempt's worker lapsed" }
const NO_TOOL: Reason = { code: "waiting_for_tool", text: "no live process has the tool" }
const QUARANTINED: Reason = { code: "quarantined", text: "the journal is in quarantine: nothing is dispatched" }

/** The circumstance that made the row, before the operation's own reason. */
function reasonOf(operation: Operation, row: RowId, change: PlanChange, circumstances: Circumstances): Reason | null {
  const own = operation.reason
  if (change === "needs_right") {
    const before = own === null ? "" : `; it ended with ${own.code}`
    return { code: "needs_right", text: `the caller has no right to ${RESULT_TABLE[row].needs ?? "do this"}${before}` }
  }
  if (circumstances.doubtful_admission === true) return DOUBTFUL
  if (row === "unknown_quarantined") return QUARANTINED
  if (row !== "unknown" && row !== "in_progress") return own
  if (operation.state === "dispatched" && circumstances.unrecorded === true) return UNRECORDED
  if (operation.state === "dispatched" && circumstances.lease_lapsed === true) return LAPSED
  if (circumstances.waiting_for_tool === true && operation.state !== "dispatched") return NO_TOOL
  return own
}

function reconciling(operation: Operation, now: number): boolean {
  const { lease } = operation.probes
  return lease !== null && lease.until > now
}

function replayedFrom(
  operation: Operation,
  core: ResultCore,
  { telling }: Circumstances,
): ResultFields["replayed_from"] {
  if (!core.settled || telling === "first" || operation.settled_at === null) return null
  return {
    operation_id: operation.operation_id,
    attempt: operation.attempts.at(-1)?.attempt ?? 0,
    at: isoTime(operation.settled_at),
  }
}
