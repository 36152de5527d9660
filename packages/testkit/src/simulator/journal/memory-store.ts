/**
 * A journal's rows in memory.
 *
 * Owns: the rows, the time that never goes back, snapshots of all of it, and going back to one.
 * Must not: decide what may be written. `applyWrite` does.
 *
 * ME1. Nothing here is durable: it is for simulations, where what a process loses is decided by the simulation.
 */
import type { JournalWrite, Lease, ObjectRow, Quarantine, Slot, SlotName, WorkerRow } from "@invokejs/engine"
import type { AuditEvent, Incident, Json, Operation } from "@invokejs/protocol"

export interface StoredSet {
  readonly version: number
  readonly at: number
  /** null: deleted; the version goes on counting. */
  readonly value: Json | null
}

export interface StoredWorker extends WorkerRow {
  /** The process whose id it is, for ever. */
  readonly owner: object
}

/** A defence of the journal that a check switches off, to see that it is needed. */
export type JournalDefence =
  | "unique_keys"
  | "operation_version"
  | "slot_version"
  | "unique_objects"
  | "lease"
  | "quarantine"

interface Rows {
  readonly operations: Map<string, Operation>
  readonly chains: Map<string, string>
  readonly heads: Map<string, string[]>
  readonly slots: Map<string, Slot>
  readonly resources: Map<string, string>
  readonly objects: Map<string, ObjectRow>
  readonly sets: Map<string, StoredSet>
  readonly timelines: Map<string, AuditEvent[]>
  readonly workers: Map<string, StoredWorker>
  /** When each write took place, by the id that its maker gave it. */
  readonly written: Map<string, number>
  readonly purged: Set<string>
  readonly events: AuditEvent[]
  readonly incidents: Incident[]
}

export interface Snapshot {
  readonly rows: Rows
  readonly high_water: number
}

export interface StoreOptions {
  /** Whether events carry their digests and hashes. Default true; a simulation that does not read them saves the work. */
  readonly sealed?: boolean
  readonly broken?: ReadonlySet<string>
}

export class MemoryStore {
  readonly sealed: boolean
  readonly broken: ReadonlySet<string>
  rows: Rows = emptyRows()
  high_water = 0
  incarnation = 1
  quarantine: Quarantine | null = null
  /** The next to open it finds that it may have gone back in time. */
  suspect = false
  /** Told of each write that takes place. */
  onWritten: (write: JournalWrite, at: number) => void = () => undefined
  readonly #journals = new Map<object, () => void>()

  constructor({ sealed = true, broken = new Set() }: StoreOptions = {}) {
    this.sealed = sealed
    this.broken = broken
  }

  /** Database time of a commit that is stamped now. */
  time(stamp: number): number {
    return Math.max(Math.floor(stamp), this.high_water)
  }

  attach(journal: object, onCommitOfOthers: () => void): () => void {
    this.#journals.set(journal, onCommitOfOthers)
    return () => this.#journals.delete(journal)
  }

  committed(by: object): void {
    for (const [journal, tell] of this.#journals) if (journal !== by) tell()
  }

  head(tenant: string, chain: string): Operation | null {
    const id = this.rows.heads.get(`${tenant}|${chain}`)?.at(-1)
    return id === undefined ? null : (this.rows.operations.get(id) ?? null)
  }

  snapshot(): Snapshot {
    return { rows: copyOf(this.rows), high_water: this.high_water }
  }

  /** It goes back in time, and is found to have done so. */
  restore(snapshot: Snapshot, at: number): void {
    this.rows = copyOf(snapshot.rows)
    this.high_water = Math.max(snapshot.high_water, at)
    this.incarnation += 1
    if (!this.sealed)
      for (const [id, row] of ofLife(this.rows.operations, this.incarnation)) this.rows.operations.set(id, row)
    this.quarantine = { since: this.high_water, reason: "restored", detail: "an earlier snapshot was put in its place" }
  }

  /** As a process does that opens it. */
  open(at: number): void {
    if (!this.suspect) return
    this.suspect = false
    this.restore(this.snapshot(), at)
  }
}

function emptyRows(): Rows {
  return {
    operations: new Map(),
    chains: new Map(),
    heads: new Map(),
    slots: new Map(),
    resources: new Map(),
    objects: new Map(),
    sets: new Map(),
    timelines: new Map(),
    workers: new Map(),
    written: new Map(),
    purged: new Set(),
    events: [],
    incidents: [],
  }
}

/** A row of another life is another row, also where it has come to the same version: what was read before is no base for a write. */
function ofLife(operations: ReadonlyMap<string, Operation>, life: number): [string, Operation][] {
  return [...operations].map(([id, row]) => [id, { ...row, head_hash: `life-${life}` }])
}

/** The values are never changed in place, only the lists grow. */
function copyOf(rows: Rows): Rows {
  return {
    operations: new Map(rows.operations),
    chains: new Map(rows.chains),
    heads: listsOf(rows.heads),
    slots: new Map(rows.slots),
    resources: new Map(rows.resources),
    objects: new Map(rows.objects),
    sets: new Map(rows.sets),
    timelines: listsOf(rows.timelines),
    workers: new Map(rows.workers),
    written: new Map(rows.written),
    purged: new Set(rows.purged),
    events: [...rows.events],
    incidents: [...rows.incidents],
  }
}

function listsOf<T>(lists: ReadonlyMap<string, readonly T[]>): Map<string, T[]> {
  return new Map([...lists].map(([key, list]) => [key, [...list]]))
}

/** The list of that name, made where it is missing. */
export function listAt<T>(lists: Map<string, T[]>, key: string): T[] {
  const known = lists.get(key)
  if (known) return known
  const made: T[] = []
  lists.set(key, made)
  return made
}

export function slotKey({ tenant, namespace, intent_digest }: SlotName): string {
  return `${tenant}|${namespace}|${intent_digest}`
}

export function objectRowKey({ tenant, account, kind, object_id }: Omit<ObjectRow, "operation_id">): string {
  return JSON.stringify([tenant, account, kind, object_id])
}

export function leaseRow(store: MemoryStore, lease: Lease): StoredWorker | null {
  const row = store.rows.workers.get(lease.worker_id)
  if (!row || row.lease_token !== lease.lease_token || row.gone !== null || row.closed_at !== null) return null
  return row
}
