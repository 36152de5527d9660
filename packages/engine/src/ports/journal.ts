/**
 * The journal: the durable store of operations and events, and the only thing that processes share.
 *
 * Owns: atomicity, durability, order, the database clock, the audit chain's sealing, incarnation and quarantine.
 * Must not: decide. It compares versions and writes what the engine decided, or writes nothing and says what moved.
 *
 * JN1. A write is one transaction: every row in it or none (S4). It names the version of each row it rests on.
 * JN2. A write is acknowledged only after it is durable: flushed (S2), and its commit known.
 * JN3. Every write carries a client-made `event_id`; the same id a second time changes nothing and answers as the first.
 * JN4. One bad write fails alone, also where many share a commit.
 * JN5. Times are database times: `at` further than `CLOCK_TOLERANCE_MS` from the journal's clock is refused (`clock`).
 * JN6. The port assumes neither one process, nor a synchronous driver, nor a single writer.
 * JN7. In quarantine `dispatch` (and an `admit` that dispatches) is refused; everything else goes on.
 *
 * Errors: every method may throw `JournalError`. `journal_unavailable` means nothing was written. `commit_in_doubt`
 * means the commit was sent and its answer is not known: ask `settled(event_id)`.
 */
import type {
  AuditDraft,
  AuditEvent,
  ConfirmedObject,
  Incident,
  IncidentDraft,
  Json,
  KeyKind,
  Operation,
  State,
} from "@invokejs/protocol"

export const CLOCK_TOLERANCE_MS = 2_000

/** A name of a chain: the chain's own key, a caller's alias, or the derivation under another identity version. */
export interface KeyRow {
  readonly tenant: string
  readonly key: string
  /** The chain: key of the operation that took the first row. */
  readonly chain: string
  readonly kind: KeyKind
}

export interface SlotName {
  readonly tenant: string
  readonly namespace: string
  readonly intent_digest: string
}

/** The row of the near-duplicate guard. Absent = version 0 and empty. */
export interface Slot extends SlotName {
  readonly operation_id: string | null
  readonly version: number
}

export interface SlotChange extends SlotName {
  readonly expect_version: number
  readonly operation_id: string | null
}

/** One row of the operation table and its new events. `expect_version` 0 = it must not exist yet. */
export interface OperationChange {
  readonly expect_version: number
  readonly next: Operation
  readonly events: readonly AuditDraft[]
}

export interface ObjectRow extends ConfirmedObject {
  readonly tenant: string
  readonly operation_id: string
}

/** What later issues move in the same transaction. A journal stores these rows; it does not read meaning into them. */
export interface CompareAndSet {
  readonly table: "entity" | "approval" | "reservation" | "checkpoint"
  readonly tenant: string
  readonly id: string
  readonly expect_version: number
  /** null deletes the row. */
  readonly value: Json | null
}

export interface Lease {
  readonly worker_id: string
  readonly lease_token: string
  /** Database time until which this worker may start attempts. */
  readonly until: number
}

interface Write {
  readonly event_id: string
  /** Database time the decision was made with. */
  readonly at: number
  readonly operation: OperationChange
  /** Other operations of the same tenant: the superseded one, the compensated original. */
  readonly also?: readonly OperationChange[]
  readonly slots?: readonly SlotChange[]
  readonly objects?: readonly ObjectRow[]
  readonly sets?: readonly CompareAndSet[]
  readonly incidents?: readonly IncidentDraft[]
}

/** Admission, policy and the first real state in one transaction; it may be the first dispatch as well. */
export interface AdmitWrite extends Write {
  readonly kind: "admit"
  /** Rows taken in the tenant's one unique index of keys; each must be absent or name the same chain. */
  readonly keys: readonly KeyRow[]
  /** Newest revision of the chain the decision was made with; 0 = the chain is new. */
  readonly expect_revision: number
  /** Makes this operation the last admitted write of its resource. */
  readonly resource?: { readonly resource: string; readonly expect_operation_id: string | null }
  /** Present where the operation is dispatched in the same commit. */
  readonly lease?: Lease
}

/** The dispatch record: durable before the first byte may leave. */
export interface DispatchWrite extends Write {
  readonly kind: "dispatch"
  readonly lease: Lease
}

/** Every other transition, and every piece of evidence. */
export interface AdvanceWrite extends Write {
  readonly kind: "advance"
}

export type JournalWrite = AdmitWrite | DispatchWrite | AdvanceWrite

export type Conflict =
  | { readonly on: "operation"; readonly operation_id: string }
  | { readonly on: "key"; readonly key: string }
  | { readonly on: "revision" }
  | { readonly on: "slot" }
  | { readonly on: "resource" }
  | { readonly on: "object"; readonly object_id: string; readonly operation_id: string }
  | { readonly on: "set"; readonly table: string; readonly id: string }
  /** `at` was too far from the journal's clock. */
  | { readonly on: "clock" }
  /** The worker's lease lapsed or another process took its id: it must register anew. */
  | { readonly on: "lease" }
  | { readonly on: "quarantine" }

export type WriteResult =
  /** `committed_at` is the transaction's database time; gates are anchored to it. */
  | { readonly ok: true; readonly committed_at: number; readonly operation: Operation }
  | { readonly ok: false; readonly conflict: Conflict; readonly now: number }

/** Everything admission decides from, in one consistent read. */
export interface AdmissionView {
  readonly now: number
  /** Chain of each known key. */
  readonly chains: { readonly [key: string]: string }
  /** Newest revision of each of those chains. */
  readonly heads: { readonly [chain: string]: Operation }
  readonly slot: Slot | null
  readonly holder: Operation | null
  readonly resource_writer: string | null
}

export interface OperationFilter {
  readonly tenant?: string
  readonly states?: readonly State[]
  readonly tool?: string
  readonly agent_id?: string
  readonly key?: string
  readonly run_id?: string
  /** Identity or intent field, in its normalised form. */
  readonly where?: { readonly field: string; readonly value: string }
  readonly created_before?: number
  readonly contradicted?: boolean
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly next_cursor: string | null
}

export interface WorkerRow {
  readonly worker_id: string
  readonly lease_token: string
  readonly lease_until: number
  readonly host: string
  readonly boot_id: string
  readonly pid: number
  readonly started_at: number
  /** Names of the tools it can run. */
  readonly tools: readonly string[]
  /** Proved gone, and how. */
  readonly gone: { readonly at: number; readonly proof: string } | null
  readonly closed_at: number | null
}

export interface DueQuery {
  readonly now: number
  readonly limit: number
  /** Operations of other tools are counted, not returned. */
  readonly tools: readonly string[]
}

export interface DueAnswer {
  /** Operations whose timer is due, oldest first. */
  readonly due: readonly Operation[]
  /** Dispatched operations whose worker's lease lapsed, or whose worker is closed or proved gone. */
  readonly lapsed: readonly Operation[]
  /** When the next timer falls due after `now`, if any. */
  readonly next_due_at: number | null
  /** Due operations that no tool of this worker can run. */
  readonly waiting_for_tool: number
}

export interface JournalIdentity {
  /** Part of every provider key: two journals with one name present the same keys. */
  readonly name: string
  readonly journal_id: string
  readonly incarnation: string
  /** Absolute path, or the database's own name. */
  readonly location: string
  readonly driver: string
  readonly schema_version: number
}

export interface Quarantine {
  readonly since: number
  readonly reason: string
  readonly detail: string
}

export interface JournalWorkers {
  /** Takes the worker's row and its kernel-released lock. */
  register(worker: Omit<WorkerRow, "gone" | "closed_at" | "lease_until">): Promise<void>
  /** Renews a lease that has not lapsed. false: it had lapsed and stays so. */
  renew(lease: Lease, now: number): Promise<boolean>
  /** Ends a worker that has no open attempt, and frees its lock. */
  close(worker_id: string): Promise<void>
  list(): Promise<readonly WorkerRow[]>
  /** Proof, or null: silence proves nothing. Lock found free on this machine, or this machine booted since. */
  gone(worker_id: string): Promise<string | null>
  /** Records a proof or a person's word. */
  markGone(worker_id: string, proof: string): Promise<void>
}

export interface StoredCheckpoint {
  readonly checkpoint_id: string
  readonly version: number
  readonly at: number
  readonly value: Json
}

export interface PurgeResult {
  readonly purged: number
  readonly refused: number
}

export interface Journal {
  readonly identity: JournalIdentity
  /** Best estimate of database time, without I/O: never earlier than the high-water mark. */
  now(): number
  quarantine(): Promise<Quarantine | null>
  liftQuarantine(by: string, statement: string): Promise<void>

  view(query: {
    readonly tenant: string
    readonly keys: readonly string[]
    readonly slot?: SlotName
    readonly resource?: string
  }): Promise<AdmissionView>

  admit(write: AdmitWrite): Promise<WriteResult>
  dispatch(write: DispatchWrite): Promise<WriteResult>
  advance(write: AdvanceWrite): Promise<WriteResult>
  /** After `commit_in_doubt`: a *locking* read of whether the write took place. */
  settled(event_id: string, operation_id: string): Promise<Operation | null>
  /** Counts a joined or replayed duplicate: rides on the next shared commit, not waited for, once a second at most. */
  noteDuplicate(operation_id: string, actor: string): void

  operation(operation_id: string): Promise<Operation | null>
  revision(tenant: string, chain: string, revision: number): Promise<Operation | null>
  operations(filter: OperationFilter, page: { limit: number; cursor?: string }): Promise<Page<Operation>>
  slot(name: SlotName): Promise<Slot | null>
  /** Operations held because of this one. */
  heldBy(operation_id: string): Promise<readonly Operation[]>
  resourceWriter(tenant: string, resource: string): Promise<string | null>
  /** Who confirmed these objects, among operations of the tenant other than `except`. */
  confirmations(tenant: string, objects: readonly ConfirmedObject[], except: string): Promise<readonly ObjectRow[]>
  /** Other operations of the tool with an equal match that are unresolved, or succeeded or were closed without an object id. */
  rivals(operation: Operation): Promise<number>
  due(query: DueQuery): Promise<DueAnswer>

  events(operation_id: string, after_seq: number, limit: number): Promise<readonly AuditEvent[]>
  /** All events in commit order, resumable by cursor. */
  stream(after: string | null, limit: number): Promise<{ events: readonly AuditEvent[]; cursor: string | null }>
  /** Called after commits with the operations they touched, or with null when another process may have written. */
  subscribe(listener: (operation_ids: readonly string[] | null) => void): () => void

  incidents(filter: { tenant?: string; open?: boolean; operation_id?: string }): Promise<readonly Incident[]>
  openIncident(tenant: string, draft: IncidentDraft): Promise<void>
  closeIncident(incident_id: string, by: string, resolution: string): Promise<void>

  checkpoint(tenant: string, checkpoint_id: string): Promise<StoredCheckpoint | null>
  putCheckpoint(
    tenant: string,
    checkpoint_id: string,
    expect_version: number,
    value: Json,
  ): Promise<StoredCheckpoint | { readonly conflict: true; readonly version: number }>

  /** Turns payloads of terminal operations settled before `before` into tombstones. */
  purge(query: { readonly before: number; readonly tenant?: string; readonly limit: number }): Promise<PurgeResult>
  /** Writes a consistent copy to a new file or place. Refused where the target exists. */
  backup(target: string): Promise<{ readonly location: string; readonly bytes: number }>
  /** Settings, versions, sizes and warnings, for `doctor`. */
  facts(): Promise<{ readonly [name: string]: Json }>

  readonly workers: JournalWorkers
  close(): Promise<void>
}

export const JOURNAL_ERROR_CODES = [
  "journal_unavailable",
  "commit_in_doubt",
  "journal_full",
  "journal_read_only",
  "journal_corrupt",
  "journal_newer",
  "journal_unsafe_location",
  "journal_replaced",
  "journal_closed",
  "overloaded",
] as const
export type JournalErrorCode = (typeof JOURNAL_ERROR_CODES)[number]

export class JournalError extends Error {
  override readonly name = "JournalError"
  readonly code: JournalErrorCode
  constructor(code: JournalErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}
