/**
 * Which row of the result table an operation answers with, under the circumstances of one call.
 *
 * Owns: the choice. Must not: know a caller, a clock or a journal; they come in as circumstances.
 *
 * SR1. Every operation in every circumstance has exactly one row.
 * SR2. A doubtful admission, a lapsed lease or an outcome that could not be recorded is `unknown`, whatever the record says.
 * SR3. In quarantine nothing is dispatched, so nothing is said to go on by itself.
 */
import { DEFAULTS } from "./defaults.ts"
import { assertNever, isTerminal, type OpenState, type TerminalState } from "./state.ts"
import type { Operation } from "./operation.ts"
import type { RowId } from "./result-table.ts"

export interface CallerRights {
  readonly retry: boolean
  readonly supersede: boolean
}

export interface Circumstances {
  /**
   * `first`: the settled fact is told for the first time, to the call that admitted it or to one that was told `unknown`.
   * `joiner`: it waited beside the call that admitted it. `later`: it was made after that.
   */
  readonly telling: "first" | "later" | "joiner"
  /** Database time. */
  readonly now: number
  readonly quarantine: boolean
  readonly rights: CallerRights
  /** The commit of the admission was sent and its answer is not known. */
  readonly doubtful_admission?: boolean
  /** The lease of the attempt's worker lapsed. */
  readonly lease_lapsed?: boolean
  /** The attempt ended, and its outcome could not be recorded yet. */
  readonly unrecorded?: boolean
  /** No live process has the tool. */
  readonly waiting_for_tool?: boolean
  /** A read-only tool's call did not work. */
  readonly read_only_failure?: boolean
  /** The entity's state and the actions legal in it, for operations bound to a workflow. */
  readonly workflow?: { readonly current_state: string; readonly legal_actions: readonly string[] }
}

export function selectRow(operation: Operation, circumstances: Circumstances): RowId {
  if (circumstances.read_only_failure === true) return "not_applied"
  if (circumstances.doubtful_admission === true) return unknownRow(circumstances)
  const { state } = operation
  return isTerminal(state) ? terminalRow(operation, state, circumstances) : openRow(operation, state, circumstances)
}

function unknownRow({ quarantine }: Circumstances): RowId {
  return quarantine ? "unknown_quarantined" : "unknown"
}

function openRow(operation: Operation, state: OpenState, circumstances: Circumstances): RowId {
  if (state === "accepted") return "accepted"
  if (state === "needs_review") return reviewRow(operation)
  // The journal went back in time: an attempt could have been sent that it no longer knows of.
  if (operation.restored !== null || circumstances.quarantine) return unknownRow(circumstances)
  switch (state) {
    case "held":
      return "held"
    case "awaiting_approval":
      return "awaiting_approval"
    case "ready":
      return "in_progress"
    case "dispatched":
      return knowledgeEnded(operation, circumstances) ? "unknown" : "in_progress"
    case "unknown":
      return "unknown"
    default:
      return assertNever(state, "openRow")
  }
}

function knowledgeEnded(operation: Operation, circumstances: Circumstances): boolean {
  if (circumstances.lease_lapsed === true || circumstances.unrecorded === true) return true
  const running = operation.attempts.at(-1)
  return running !== undefined && circumstances.now >= running.last_possible_send + running.timeout_ms
}

function reviewRow(operation: Operation): RowId {
  if (operation.verdict === "diverged") return "needs_review_diverged"
  const taken = operation.attempts.some((attempt) => attempt.status === "accepted")
  return taken ? "needs_review_accepted" : "needs_review"
}

function terminalRow(operation: Operation, state: TerminalState, circumstances: Circumstances): RowId {
  if (operation.contradicted) return "contradicted"
  switch (state) {
    case "succeeded":
      return succeededRow(operation, circumstances)
    case "failed":
    case "undone":
    case "closed_unknown":
    case "denied":
    case "expired":
    case "cancelled":
      return state
    case "not_applied":
      return budgetLeft(operation, circumstances.now) ? "not_applied" : "not_applied_spent"
    case "refused":
      return operation.reason?.code === "possible_duplicate" ? "refused_duplicate" : "refused"
    case "replan":
      return operation.attempts.length === 0 ? "replan_unsent" : "replan_disproved"
    default:
      return assertNever(state, "terminalRow")
  }
}

function succeededRow(operation: Operation, { telling }: Circumstances): RowId {
  if (operation.compensation_settled) return "undone"
  if (telling !== "first") return "replayed"
  // `reported` is the acknowledgement of a caller that executed the attempt itself.
  return operation.cause === "acknowledged" || operation.cause === "reported" ? "succeeded" : "reconciled"
}

/** Attempts that never left do not count; retries count over the operation's life (RP-1). */
function budgetLeft(operation: Operation, now: number): boolean {
  const sent = operation.attempts.filter((attempt) => attempt.left).length
  return sent < operation.attempts_max && now < operation.deadline_at && operation.retries < DEFAULTS.retries
}
