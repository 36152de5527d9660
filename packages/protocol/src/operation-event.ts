/**
 * What can happen to an operation: the inputs of `transition()`.
 *
 * Owns: the one list of events. Every door (engine, timer, operator, webhook, caller) builds one of these.
 */
import type { Json } from "./canonical-json.ts"
import type { Contract } from "./contract.ts"
import type { Candidate, Evidence } from "./evidence.ts"
import type { JudgeContext } from "./judge/context.ts"
import type { Reason } from "./operation.ts"
import type { State } from "./state.ts"

/** How an attempt ended, as its own process tells it. `classifyOutcome()` makes it from stage and answer. */
export type AttemptOutcome =
  | {
      readonly class: "applied"
      readonly output: Json | null
      readonly output_error?: string
      readonly candidate?: Candidate
    }
  | { readonly class: "accepted"; readonly output: Json | null; readonly reference?: string }
  | {
      readonly class: "not_applied"
      readonly reason: Reason
      /** What proves it: the living transport's stage, a classified answer, or the tool's own word. */
      readonly proof: "stage" | "answer" | "word"
      readonly speaks_for: "attempt" | "generation"
      readonly retry_after_ms?: number
    }
  | {
      readonly class: "rejected"
      readonly reason: Reason
      readonly proof: "answer" | "word"
      readonly speaks_for: "attempt" | "generation"
      /** A checkable tool looks once before it believes this. */
      readonly look_first: boolean
    }
  | { readonly class: "unknown"; readonly reason: Reason }

export interface DispatchEvent {
  readonly type: "dispatch"
  readonly worker_id: string
  readonly lease_token: string
  readonly lease_until: number
  readonly provider_key: string
  readonly transport: "invoke" | "opaque"
  readonly caller_executed?: boolean
  /** The contract loaded now; the stricter of it and the frozen one holds. */
  readonly contract: Contract
  /** The version the decision to dispatch was made with: no evidence may be newer (R5). */
  readonly judged_version: number
  /** When the approval that covers it expires; needed where the operation has one (R22). */
  readonly approval_until?: number
  /** When the clock last jumped forward past `maxClockStep`. */
  readonly clock_stepped_at?: number | null
  readonly tool_version: string
}

export interface ResolveTo {
  readonly to: "succeeded" | "not_applied" | "undone" | "ready" | "closed_unknown"
  readonly reason: string
  /** What the person saw: an object id, a ticket, a screenshot's address. */
  readonly evidence: { readonly [name: string]: Json }
  readonly object?: Candidate
  readonly output?: Json
  /** The word that the process of an open attempt is gone. */
  readonly process_gone?: boolean
  /** Object already confirmed by another operation: settles all the same, without the row. */
  readonly object_taken_by?: string
}

/** The fact a person adds where a settled outcome is contradicted, or known better by now. */
export interface Amendment {
  readonly to: "succeeded" | "undone" | "not_applied" | "closed_unknown"
  readonly reason: string
  readonly object?: Candidate
  /** The word that the process of an open attempt is gone. */
  readonly process_gone?: boolean
  readonly object_taken_by?: string
  /** Of the person's word, which is recorded as attested evidence. */
  readonly evidence_id?: string
}

export type OperationEvent =
  | DispatchEvent
  | {
      readonly type: "outcome"
      readonly attempt: number
      /**
       * Of the attempt's own dispatch record. A journal that went back in time may have given its number to another attempt:
       * with this, what is told of the one is not taken for the other.
       */
      readonly dispatched_at?: number
      readonly outcome: AttemptOutcome
      /** false: proved never to have left the machine. */
      readonly left: boolean
      readonly evidence_id: string
      readonly request_digest?: string
      readonly provider_request_id?: string
      readonly http_status?: number
      readonly retry_after_ms?: number
      /** Object already confirmed by another operation: settles all the same, without the row (item 3). */
      readonly object_taken_by?: string
      /** The caller that executed it may attest: its word against the attempt is no mere claim (R30). */
      readonly attested?: boolean
    }
  /** The process whose dispatch record committed in doubt proves that its tool never started (R23). */
  | {
      readonly type: "never_started"
      readonly attempt: number
      readonly evidence_id: string
      readonly dispatched_at?: number
    }
  /**
   * Nobody waits for the attempt any more: its time is over, its worker's lease lapsed, or its own worker stopped waiting
   * (`timeout`) or drains. Its promise may still be running: that ends with an outcome, or with proof that its process is gone.
   */
  | { readonly type: "lapsed"; readonly why: "time" | "lease" | "drain" | "timeout" }
  | { readonly type: "worker_gone"; readonly worker_id: string; readonly proof: string }
  | { readonly type: "evidence"; readonly evidence: Evidence; readonly context: JudgeContext }
  | { readonly type: "probe_started"; readonly worker_id: string; readonly until: number }
  /** The provider did not answer: no negative, no budget spent. */
  | { readonly type: "probe_unanswered"; readonly reason: Reason }
  | {
      readonly type: "looked_before"
      readonly seen: readonly string[]
      readonly version: string | null
      readonly full_match: string | null
    }
  /** Whatever timer is due at `now`. With the contract loaded now it is decided as `nextStep()` was asked. */
  | { readonly type: "due"; readonly contract?: Contract; readonly clock_stepped_at?: number | null }
  | { readonly type: "postpone"; readonly until: number; readonly reason: Reason }
  | { readonly type: "policy_refused"; readonly reason: Reason }
  | { readonly type: "drifted"; readonly reason: Reason }
  /** The intent slot it waits for: free, filled by another unresolved operation, or (neither) filled for good. */
  | { readonly type: "slot"; readonly free: boolean; readonly held_by: string | null; readonly unresolved?: boolean }
  /** Asks for an approval, for the first time or again. The request is persisted before anyone is asked (§8). */
  | { readonly type: "ask"; readonly approval_id: string; readonly expires_at: number; readonly reason: Reason }
  | { readonly type: "approve"; readonly reason: string }
  | { readonly type: "deny"; readonly reason: string }
  | { readonly type: "allow"; readonly reason: string }
  | { readonly type: "cancel"; readonly reason: string }
  | { readonly type: "resolve"; readonly resolve: ResolveTo; readonly evidence_id: string }
  | {
      readonly type: "retry"
      readonly after_attempt: number
      readonly deadline_at: number
      readonly automatic: boolean
    }
  | { readonly type: "reconcile" }
  | ({ readonly type: "amend" } & Amendment)
  | { readonly type: "superseded"; readonly by: string }
  | { readonly type: "compensated"; readonly by: string; readonly settled: boolean }
  | { readonly type: "restored"; readonly until: number }
  | { readonly type: "told" }

export type OperationEventType = OperationEvent["type"]

export interface Illegal {
  readonly ok: false
  readonly code: "illegal_transition" | "version_conflict" | "retry_refused" | "supersedes_refused" | "dispatch_refused"
  readonly text: string
  readonly state: State
}
