/**
 * A journal's rows in memory, with the rules of `ports/journal.ts`: everything compared, then all of it written.
 *
 * Owns: atomicity and conflicts, for simulation only: nothing here is durable. The conformance suite runs on it as on the others.
 */
import {
  CLOCK_TOLERANCE_MS,
  sha256,
  type Conflict,
  type JournalWrite,
  type OperationChange,
  type ObjectRow,
  type Slot,
  type SlotName,
  type WorkerRow,
} from "@invokejs/engine"
import {
  auditPreimage,
  canonicalJson,
  GENESIS_HASH,
  type AuditEvent,
  type Incident,
  type Json,
  type Operation,
} from "@invokejs/protocol"

export interface StoredSet {
  readonly version: number
  readonly value: Json | null
}

export class MemoryStore {
  readonly operations = new Map<string, Operation>()
  readonly chains = new Map<string, string>()
  readonly heads = new Map<string, string[]>()
  readonly slots = new Map<string, Slot>()
  readonly resources = new Map<string, string>()
  readonly objects = new Map<string, ObjectRow>()
  readonly sets = new Map<string, StoredSet>()
  readonly events: AuditEvent[] = []
  readonly byOperation = new Map<string, AuditEvent[]>()
  readonly incidents: Incident[] = []
  readonly workers = new Map<string, WorkerRow>()
  readonly written = new Map<string, string>()
  quarantine: { since: number; reason: string; detail: string } | null = null
  readonly #listeners = new Set<(ids: readonly string[]) => void>()
  /** Switched off by the checks that a defence is needed. */
  readonly broken: ReadonlySet<string>

  /** Told of each write that takes place. */
  onWritten: (write: JournalWrite, now: number) => void = () => undefined

  constructor(broken: ReadonlySet<string> = new Set()) {
    this.broken = broken
  }

  /** Null when written, else what moved. */
  apply(write: JournalWrite, now: number): Conflict | null {
    if (this.written.has(write.event_id)) return null
    const conflict = this.#conflict(write, now)
    if (conflict) return conflict
    if (write.kind === "admit") this.#takeNames(write)
    this.#change(write.operation, now)
    for (const other of write.also ?? []) this.#change(other, now)
    for (const slot of write.slots ?? []) {
      this.slots.set(slotKey(slot), { ...slot, version: slot.expect_version + 1, operation_id: slot.operation_id })
    }
    for (const object of write.objects ?? []) this.objects.set(objectRowKey(object), object)
    for (const set of write.sets ?? []) {
      this.sets.set(`${set.table}|${set.tenant}|${set.id}`, { version: set.expect_version + 1, value: set.value })
    }
    for (const draft of write.incidents ?? []) this.openIncident(write.operation.next.tenant, draft, now)
    const lease = write.kind === "advance" ? undefined : write.lease
    const worker = lease && this.workers.get(lease.worker_id)
    if (lease && worker)
      this.workers.set(lease.worker_id, { ...worker, lease_until: Math.max(worker.lease_until, lease.until) })
    this.written.set(write.event_id, write.operation.next.operation_id)
    this.onWritten(write, now)
    this.#tell([write.operation.next.operation_id, ...(write.also ?? []).map((one) => one.next.operation_id)])
    return null
  }

  openIncident(
    tenant: string,
    draft: { kind: Incident["kind"]; operation_id: string | null; detail: Incident["detail"] },
    now: number,
  ): void {
    this.incidents.push({
      ...draft,
      incident_id: `in_${this.incidents.length + 1}`,
      tenant,
      opened_at: now,
      closed_at: null,
      closed_by: null,
      resolution: null,
    })
  }

  subscribe(listener: (ids: readonly string[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  head(tenant: string, chain: string): Operation | null {
    const id = this.heads.get(`${tenant}|${chain}`)?.at(-1)
    return id === undefined ? null : (this.operations.get(id) ?? null)
  }

  #tell(ids: readonly string[]): void {
    for (const listener of this.#listeners) listener(ids)
  }

  #conflict(write: JournalWrite, now: number): Conflict | null {
    if (Math.abs(write.at - now) > CLOCK_TOLERANCE_MS) return { on: "clock" }
    if (write.kind !== "advance" && write.lease) {
      if (this.quarantine) return { on: "quarantine" }
      const worker = this.workers.get(write.lease.worker_id)
      if (!worker || worker.lease_token !== write.lease.lease_token || worker.gone || worker.closed_at !== null)
        return { on: "lease" }
      if (worker.lease_until !== 0 && worker.lease_until <= now && this.#hasOpenAttempt(worker.worker_id))
        return { on: "lease" }
    }
    for (const change of [write.operation, ...(write.also ?? [])]) {
      const version = this.operations.get(change.next.operation_id)?.version ?? 0
      if (version !== change.expect_version && !this.broken.has("operation_version")) {
        return { on: "operation", operation_id: change.next.operation_id }
      }
    }
    return (write.kind === "admit" ? this.#nameConflict(write) : null) ?? this.#rowConflict(write)
  }

  #hasOpenAttempt(worker_id: string): boolean {
    for (const operation of this.operations.values()) {
      if (operation.state === "dispatched" && operation.attempts.at(-1)?.worker_id === worker_id) return true
    }
    return false
  }

  #nameConflict(write: Extract<JournalWrite, { kind: "admit" }>): Conflict | null {
    const { next } = write.operation
    if (this.broken.has("unique_keys")) return null
    for (const row of write.keys) {
      const chain = this.chains.get(`${row.tenant}|${row.key}`)
      if (chain !== undefined && chain !== row.chain) return { on: "key", key: row.key }
    }
    const revision = this.head(next.tenant, next.key)?.revision ?? 0
    if (revision !== write.expect_revision) return { on: "revision" }
    if (write.resource) {
      const writer = this.resources.get(`${next.tenant}|${write.resource.resource}`) ?? null
      if (writer !== write.resource.expect_operation_id) return { on: "resource" }
    }
    return null
  }

  #rowConflict(write: JournalWrite): Conflict | null {
    for (const slot of write.slots ?? []) {
      const version = this.slots.get(slotKey(slot))?.version ?? 0
      if (version !== slot.expect_version && !this.broken.has("slot_version")) return { on: "slot" }
    }
    for (const object of write.objects ?? []) {
      const owner = this.objects.get(objectRowKey(object))
      if (owner && owner.operation_id !== object.operation_id && !this.broken.has("unique_objects")) {
        return { on: "object", object_id: object.object_id, operation_id: owner.operation_id }
      }
    }
    for (const set of write.sets ?? []) {
      const version = this.sets.get(`${set.table}|${set.tenant}|${set.id}`)?.version ?? 0
      if (version !== set.expect_version) return { on: "set", table: set.table, id: set.id }
    }
    return null
  }

  #takeNames(write: Extract<JournalWrite, { kind: "admit" }>): void {
    const { next } = write.operation
    for (const row of write.keys) this.chains.set(`${row.tenant}|${row.key}`, row.chain)
    const chain = `${next.tenant}|${next.key}`
    this.heads.set(chain, [...(this.heads.get(chain) ?? []), next.operation_id])
    if (write.resource) this.resources.set(`${next.tenant}|${write.resource.resource}`, next.operation_id)
  }

  #change(change: OperationChange, now: number): void {
    const { next } = change
    const stored = this.operations.get(next.operation_id)
    const timeline = this.byOperation.get(next.operation_id) ?? []
    let seq = stored?.seq ?? 0
    let head_hash = stored?.head_hash ?? GENESIS_HASH
    for (const draft of change.events) {
      seq += 1
      const event = {
        ...draft,
        operation_id: next.operation_id,
        tenant: next.tenant,
        seq,
        at: now,
        data_digest: sha256(canonicalJson(draft.data)),
        prev_hash: head_hash,
      }
      head_hash = sha256(auditPreimage(event))
      const sealed = { ...event, hash: head_hash }
      timeline.push(sealed)
      this.events.push(sealed)
    }
    this.byOperation.set(next.operation_id, timeline)
    this.operations.set(next.operation_id, { ...next, seq, head_hash })
  }
}

export function slotKey({ tenant, namespace, intent_digest }: SlotName): string {
  return `${tenant}|${namespace}|${intent_digest}`
}

export function objectRowKey({ tenant, account, kind, object_id }: Omit<ObjectRow, "operation_id">): string {
  return JSON.stringify([tenant, account, kind, object_id])
}
