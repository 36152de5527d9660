/**
 * The operation: one business action, from proposal to proven outcome, as the journal stores it.
 *
 * Owns: the record's shape. All times are database times in ms.
 * Must not: be built or changed anywhere but in `propose()` and `transition()`.
 *
 * OP1. `version` grows by one with every change and every piece of evidence.
 * OP2. `attempts` is complete: an effect request exists only if its attempt is here (S2).
 * OP3. `due_at` is set in every state that is not terminal (L1).
 */
import type { Json } from "./canonical-json.ts"
import type { Contract } from "./contract.ts"
import type { Candidate, Cause, Evidence, Expectation, Verdict } from "./evidence.ts"
import type { SafetyClass, State } from "./state.ts"

export type AttemptStatus =
  /** Dispatched; nothing is known yet. */
  | "open"
  | "acknowledged"
  | "accepted"
  /** Its promise ended, or its time is over, without knowledge. */
  | "unknown"
  /** Proved not applied. */
  | "disproved"

/** One dispatch, and what became of it. Written before its effect request may leave (S2). */
export interface Attempt {
  readonly attempt: number
  readonly generation: number
  readonly provider_key: string
  readonly worker_id: string
  readonly lease_token: string
  readonly dispatched_at: number
  /** After this moment the effect request may no longer start. Never extended. */
  readonly send_before: number
  /** After this moment no byte of it may leave. */
  readonly last_possible_send: number
  readonly timeout_ms: number
  readonly transport: "invoke" | "opaque"
  /** The caller executes this attempt itself (begin / report). */
  readonly caller_executed?: boolean
  readonly status: AttemptStatus
  /** When its promise settled, told by the process that owned it. */
  readonly settled_at: number | null
  /** When its process was proved gone. Silence proves nothing. */
  readonly gone_at: number | null
  /** false: proved never to have left the machine; such attempts do not count against the budget. */
  readonly left: boolean
  /** Digest of method, URL, covered headers, body, account, region of its effect request, where known. */
  readonly request_digest?: string
  readonly provider_request_id?: string
  readonly http_status?: number
  /** A definite refusal that waits for one look, since an intermediary may have repeated the request (R28.1). */
  readonly refused?: Reason
  readonly reason?: Reason
}

export interface Reason {
  readonly code: string
  readonly text: string
}

export interface ConfirmedObject {
  readonly object_id: string
  readonly account: string
  readonly kind: string
}

export type KeyKind = "explicit" | "derived" | "run"

export interface Operation {
  readonly operation_id: string
  readonly tenant: string
  readonly tool: string
  readonly tool_version: string
  /** Identity namespace: the tool's first name; survives renames. */
  readonly namespace: string
  readonly safety: SafetyClass
  readonly checkable: boolean
  readonly state: State
  readonly version: number

  readonly key: string
  readonly key_kind: KeyKind
  readonly revision: number
  readonly identity_version: string
  /** Declared identity fields, normalised; null where the tool declares none. */
  readonly identity: { readonly [field: string]: string } | null
  readonly intent: { readonly [field: string]: string } | null
  readonly intent_digest: string | null
  readonly fingerprint: string
  readonly params: Json
  readonly expectation: Expectation | null
  readonly resource: string | null
  readonly contract: Contract
  readonly agent_id: string
  readonly run_id: string | null
  readonly turn_id: string | null
  readonly group_id: string | null
  readonly labels: { readonly [name: string]: string }
  readonly retry_on_repeat: boolean

  readonly created_at: number
  readonly updated_at: number
  readonly settled_at: number | null
  readonly deadline_at: number
  readonly due_at: number | null
  /** Since when `held`, `awaiting_approval`, `unknown`, `needs_review` or `accepted` lasts. */
  readonly state_since: number

  readonly attempts: readonly Attempt[]
  /** Generation the next attempt uses. */
  readonly generation: number
  /** First dispatch of each generation, database time; null = unknown, so lapsed. */
  readonly generation_started_at: { readonly [generation: number]: number | null }
  readonly evidence: readonly Evidence[]
  /** Object ids a look found before attempt 1, and the resource's version then. */
  readonly seen: readonly string[]
  readonly seen_version: string | null
  readonly looked_before: boolean
  readonly probes: {
    readonly answered: number
    readonly failed: number
    /** Set while somebody probes; losing it changes nothing. */
    readonly lease: { readonly worker_id: string; readonly until: number } | null
    readonly last_at: number | null
  }
  /** Attempts an operator or caller added by retry. */
  readonly retries: number
  readonly attempts_max: number
  /** First of the present run of attempts that never left. */
  readonly unsent_since: number | null

  readonly output: Json | null
  readonly output_error: string | null
  readonly output_purged: boolean
  readonly object: ConfirmedObject | null
  readonly cause: Cause | null
  readonly verdict: Verdict | null
  readonly reason: Reason | null
  /** A late positive against a settled denial: closed to everything until amended. */
  readonly contradicted: boolean
  /** A positive about another generation was heard: no further attempt may leave. */
  readonly barred: boolean
  /** The journal went back in time: treated as if an attempt could have been sent until `until`. */
  readonly restored: { readonly until: number; readonly returns_to: State } | null
  readonly durable: boolean

  readonly supersedes: string | null
  readonly superseded_by: string | null
  readonly compensates: string | null
  readonly compensated_by: string | null
  readonly compensation_settled: boolean
  /** The operation this is a deliberate repeat of. */
  readonly repeats: string | null
  /** The operation that holds the intent slot this one wants. */
  readonly held_by: string | null
  readonly approval_id: string | null
  readonly workflow: { readonly entity: string; readonly definition: string; readonly from: string } | null
  /** How often a duplicate was joined or replayed, and when last. */
  readonly duplicates: { readonly count: number; readonly last_at: number | null }
  /** Whether the settled fact has been told to a caller that may call it its first telling. */
  readonly told: boolean

  /** Audit chain: number of events and hash of the last one. */
  readonly seq: number
  readonly head_hash: string
}

export type { Candidate }
