/**
 * The audit event: one operational fact on an operation's timeline, chained by hash (protocol §12).
 *
 * Owns: the list of types and the exact preimage of the hash.
 * Must not: hold model reasoning, or payloads that redaction has not seen.
 *
 * AE1. The hash covers a *digest* of the data, so purging data keeps the chain.
 * AE2. The preimage is plain text joined by newlines, so any database can compute it inside the transaction.
 */
import type { Json } from "./canonical-json.ts"
import type { State } from "./state.ts"

export const AUDIT_EVENT_TYPES = [
  "requested",
  "held",
  "approval_requested",
  "approved",
  "ready",
  "submitted",
  "acknowledged",
  "accepted",
  "attempt_disproved",
  "attempt_unknown",
  "timed_out",
  "lease_lost",
  "worker_gone",
  "never_started",
  "unknown",
  "reconciliation_started",
  "provider_result",
  "evidence",
  "state_updated",
  "diverged",
  "review_needed",
  "resolved",
  "retried",
  "superseded",
  "refused",
  "denied",
  "expired",
  "cancelled",
  "replan",
  "contradicted",
  "amended",
  "compensated",
  "restored",
  "duplicate_retry_blocked",
  "payload_purged",
] as const
export type AuditEventType = (typeof AUDIT_EVENT_TYPES)[number]

/** What a transition wants written; the journal adds seq, time and hashes in the transaction. */
export interface AuditDraft {
  readonly type: AuditEventType
  readonly from: State | null
  readonly to: State | null
  /** `engine`, `worker:<id>`, `agent:<id>`, `operator:<name>`, `provider:<connector>`, `caller`. */
  readonly actor: string
  readonly data: { readonly [name: string]: Json }
}

export interface AuditEvent extends AuditDraft {
  readonly operation_id: string
  readonly tenant: string
  readonly seq: number
  readonly at: number
  readonly data_digest: string
  readonly prev_hash: string
  readonly hash: string
}

export const GENESIS_HASH = "0".repeat(64)

/** The text whose SHA-256, in lower-case hex, is the event's hash (AE2). */
export function auditPreimage(event: Omit<AuditEvent, "hash" | "data">): string {
  return [
    "invoke-audit-1",
    event.prev_hash,
    event.tenant,
    event.operation_id,
    String(event.seq),
    String(event.at),
    event.type,
    event.from ?? "",
    event.to ?? "",
    event.actor,
    event.data_digest,
  ].join("\n")
}
