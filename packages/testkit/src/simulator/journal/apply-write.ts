/**
 * One write of the engine on rows in memory, with the rules of `ports/journal.ts`: everything compared, then all of it written.
 *
 * MW1. Every row that the decision rests on is compared here; what is refused leaves nothing behind.
 * MW2. An attempt enters only by a write that brings a lease (S2).
 * MW3. The same `event_id` changes nothing, and is answered with the first time and the operation as it is.
 */
import {
  CLOCK_TOLERANCE_MS,
  type AdmitWrite,
  type CompareAndSet,
  type Conflict,
  type JournalWrite,
  type Lease,
  type OperationChange,
} from "@invokejs/engine"
import { isTerminal, STATE_NAMES, type IncidentDraft, type Json } from "@invokejs/protocol"
import { leaseRow, listAt, objectRowKey, slotKey, type JournalDefence, type MemoryStore } from "./memory-store.ts"
import { preparedEvents, sealEvents, type PreparedEvent } from "./seal-events.ts"

export type Applied =
  | { readonly ok: true; readonly committed_at: number }
  | { readonly ok: false; readonly conflict: Conflict }

/** `now` is the commit's database time. Throws what can never be written; then nothing is. */
export function applyWrite(store: MemoryStore, write: JournalWrite, now: number): Applied {
  if (write.kind === "admit") checkKeys(write.keys.map(({ key }) => key))
  const prior = store.rows.written.get(write.event_id)
  if (prior !== undefined) return { ok: true, committed_at: prior }
  const changes = [write.operation, ...(write.also ?? [])].map((change) => ({
    change,
    events: preparedEvents(store, change),
  }))
  const conflict = findConflict(store, write, now)
  if (conflict) return { ok: false, conflict }
  for (const [index, { change }] of changes.entries())
    check(store, write, change, index === 0 && write.kind !== "advance" && write.lease !== undefined)
  store.high_water = now
  if (write.kind === "admit") takeNames(store, write)
  for (const { change, events } of changes) storeChange(store, change, events, now)
  writeRows(store, write, now)
  store.rows.written.set(write.event_id, now)
  store.onWritten(write, now)
  return { ok: true, committed_at: now }
}

function holds(store: MemoryStore, defence: JournalDefence): boolean {
  return !store.broken.has(defence)
}

/** Text that no database holds: half a character, or one that ends it. */
export function checkKeys(keys: readonly string[]): void {
  for (const key of keys) {
    if (!key.isWellFormed() || key.includes("\0")) throw new Error(`the key ${JSON.stringify(key)} is no text`)
  }
}

/** What a correct engine never asks for. */
function check(
  store: MemoryStore,
  write: JournalWrite,
  { expect_version, next }: OperationChange,
  leased: boolean,
): void {
  const { operation_id, tenant, version } = next
  const stored = store.rows.operations.get(operation_id)
  if (!STATE_NAMES.includes(next.state)) throw new Error(`${operation_id}: no state is named ${next.state}`)
  if (version <= expect_version) throw new Error(`${operation_id}: version ${version} does not grow`)
  if (tenant !== write.operation.next.tenant || (stored && stored.tenant !== tenant))
    throw new Error(`${operation_id} is of another tenant`)
  if (next.attempts.length > (stored?.attempts.length ?? 0) && !leased)
    throw new Error(`${operation_id}: an attempt is added without a lease`)
  if (write.kind === "dispatch" && !write.lease) throw new Error(`dispatch of ${operation_id} without a lease`)
}

function findConflict(store: MemoryStore, write: JournalWrite, now: number): Conflict | null {
  if (Math.abs(write.at - now) > CLOCK_TOLERANCE_MS) return { on: "clock" }
  if (write.kind !== "advance" && write.lease) {
    if (store.quarantine && holds(store, "quarantine")) return { on: "quarantine" }
    if (!mayStart(store, write.lease, now) && holds(store, "lease")) return { on: "lease" }
  }
  const names = write.kind === "admit" ? nameConflict(store, write) : null
  if (names) return names
  for (const { next, expect_version } of [write.operation, ...(write.also ?? [])]) {
    const stored = store.rows.operations.get(next.operation_id)
    const ofAnotherLife = !store.sealed && stored !== undefined && stored.head_hash !== next.head_hash
    if (((stored?.version ?? 0) !== expect_version || ofAnotherLife) && holds(store, "operation_version"))
      return { on: "operation", operation_id: next.operation_id }
  }
  return rowConflict(store, write)
}

/** A lapsed lease is taken again by its own token only while none of its attempts is open. */
function mayStart(store: MemoryStore, lease: Lease, now: number): boolean {
  const row = leaseRow(store, lease)
  if (!row || lease.until <= now) return false
  if (row.lease_until > now) return true
  for (const { state, attempts } of store.rows.operations.values()) {
    const last = attempts.at(-1)
    if (state === "dispatched" && last?.worker_id === lease.worker_id && last.lease_token === lease.lease_token)
      return false
  }
  return true
}

function nameConflict(store: MemoryStore, write: AdmitWrite): Conflict | null {
  const { next } = write.operation
  if (!holds(store, "unique_keys")) return null
  for (const row of write.keys) {
    const chain = store.rows.chains.get(`${row.tenant}|${row.key}`)
    if (chain !== undefined && chain !== row.chain) return { on: "key", key: row.key }
  }
  const revision = store.head(next.tenant, chainOf(write))?.revision ?? 0
  if (revision !== write.expect_revision) return { on: "revision" }
  if (!write.resource) return null
  const writer = store.rows.resources.get(`${next.tenant}|${write.resource.resource}`) ?? null
  return writer === write.resource.expect_operation_id ? null : { on: "resource" }
}

function rowConflict(store: MemoryStore, write: JournalWrite): Conflict | null {
  const { slots, objects, sets } = store.rows
  for (const slot of write.slots ?? []) {
    const version = slots.get(slotKey(slot))?.version ?? 0
    if (version !== slot.expect_version && holds(store, "slot_version")) return { on: "slot" }
  }
  for (const object of write.objects ?? []) {
    const owner = objects.get(objectRowKey(object))
    if (owner && owner.operation_id !== object.operation_id && holds(store, "unique_objects"))
      return { on: "object", object_id: object.object_id, operation_id: owner.operation_id }
  }
  for (const set of write.sets ?? []) {
    const row = sets.get(setKey(set))
    if ((row?.value == null ? 0 : row.version) !== set.expect_version)
      return { on: "set", table: set.table, id: set.id }
  }
  return null
}

function chainOf(write: AdmitWrite): string {
  const { next } = write.operation
  return (write.keys.find((row) => row.key === next.key) ?? write.keys[0])?.chain ?? next.key
}

function takeNames(store: MemoryStore, write: AdmitWrite): void {
  const { chains, heads, resources } = store.rows
  const { next } = write.operation
  for (const row of write.keys) chains.set(`${row.tenant}|${row.key}`, row.chain)
  listAt(heads, `${next.tenant}|${chainOf(write)}`).push(next.operation_id)
  if (write.resource) resources.set(`${next.tenant}|${write.resource.resource}`, next.operation_id)
}

function storeChange(
  store: MemoryStore,
  { next }: OperationChange,
  events: readonly PreparedEvent[],
  now: number,
): void {
  const { operations } = store.rows
  const stored = operations.get(next.operation_id)
  const { seq, head_hash } = sealEvents(store, next, stored ?? null, events, now)
  operations.set(next.operation_id, { ...next, seq, head_hash, duplicates: stored?.duplicates ?? next.duplicates })
}

function writeRows(store: MemoryStore, write: JournalWrite, now: number): void {
  const { slots, objects, workers } = store.rows
  for (const { tenant, namespace, intent_digest, expect_version, operation_id } of write.slots ?? []) {
    const name = { tenant, namespace, intent_digest }
    slots.set(slotKey(name), { ...name, version: expect_version + 1, operation_id })
  }
  for (const object of write.objects ?? []) {
    if (!objects.has(objectRowKey(object))) objects.set(objectRowKey(object), object)
  }
  for (const set of write.sets ?? []) putSet(store, set, now)
  for (const draft of write.incidents ?? []) openIncident(store, write.operation.next.tenant, draft, now)
  const lease = write.kind === "advance" ? undefined : write.lease
  const worker = lease && workers.get(lease.worker_id)
  if (worker && worker.lease_until < lease.until) workers.set(lease.worker_id, { ...worker, lease_until: lease.until })
}

export function setKey({ table, tenant, id }: Pick<CompareAndSet, "table" | "tenant" | "id">): string {
  return JSON.stringify([table, tenant, id])
}

/** Answers the row's new version. */
export function putSet(
  store: MemoryStore,
  set: Pick<CompareAndSet, "table" | "tenant" | "id"> & { readonly value: Json | null },
  now: number,
): number {
  const known = store.rows.sets.get(setKey(set))
  if (!known && set.value === null) return 0
  const version = (known?.version ?? 0) + 1
  store.rows.sets.set(setKey(set), { version, at: now, value: set.value })
  return version
}

export function openIncident(store: MemoryStore, tenant: string, draft: IncidentDraft, now: number): void {
  const { rows } = store
  const row = { opened_at: now, closed_at: null, closed_by: null, resolution: null }
  rows.incidents.push({ ...draft, ...row, incident_id: `in_${rows.incidents.length + 1}`, tenant })
}

/** Whether an attempt of the worker, in any operation still unresolved, may still run. */
export function hasOpenAttempt(store: MemoryStore, worker_id: string): boolean {
  for (const { state, attempts } of store.rows.operations.values()) {
    if (isTerminal(state)) continue
    if (attempts.some((one) => one.worker_id === worker_id && one.settled_at === null && one.gone_at === null))
      return true
  }
  return false
}
