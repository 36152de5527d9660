/**
 * The journal port on rows in memory, for simulations. It passes the conformance suite of all journals, so that a defence that
 * holds on it is one that the others give as well.
 *
 * MJ1. A process knows of others' time only what it has heard from the store (R28).
 */
import { JournalError, type Journal, type JournalWrite, type WriteResult } from "@invokejs/engine"
import { applyWrite, checkKeys, openIncident, putSet, setKey } from "./apply-write.ts"
import { DuplicateCounts } from "./duplicate-counts.ts"
import type { Link } from "./link.ts"
import * as reads from "./memory-reads.ts"
import { purgePayloads } from "./memory-purge.ts"
import { slotKey, type MemoryStore } from "./memory-store.ts"
import { memoryWorkers } from "./memory-workers.ts"

export function openMemoryJournal(store: MemoryStore, link: Link, name = "simulated"): Journal {
  store.open(store.time(link.stamp()))
  return new MemoryJournal(store, link, name)
}

class MemoryJournal implements Journal {
  readonly workers: Journal["workers"]
  readonly #store: MemoryStore
  readonly #link: Link
  readonly #name: string
  readonly #duplicates: DuplicateCounts
  readonly #listeners = new Set<(ids: readonly string[] | null) => void>()
  readonly #detach: () => void
  #high_water: number
  #closed = false

  constructor(store: MemoryStore, link: Link, name: string) {
    this.#store = store
    this.#link = link
    this.#name = name
    this.#high_water = store.high_water
    this.#duplicates = new DuplicateCounts(store, link, () => this.#stamp())
    this.#detach = store.attach(this, () => link.after(0, () => this.#tell(null)))
    this.workers = memoryWorkers(store, link, { call: () => this.#refuseClosed(), now: () => this.#stamp() })
  }

  get identity(): Journal["identity"] {
    const { incarnation } = this.#store
    return {
      name: this.#name,
      journal_id: this.#name,
      incarnation: `life-${incarnation}`,
      location: "memory",
      driver: "memory",
      schema_version: 1,
    }
  }

  now(): number {
    return Math.max(Math.floor(this.#link.clock()), this.#high_water)
  }

  quarantine: Journal["quarantine"] = () => this.#read(() => this.#store.quarantine)

  liftQuarantine: Journal["liftQuarantine"] = async (_by, statement) => {
    if (statement.trim() === "") throw new Error("a quarantine is lifted by a statement of what was lost")
    await this.#write(() => void (this.#store.quarantine = null))
  }

  view: Journal["view"] = async (query) => {
    checkKeys(query.keys)
    const view = await this.#read(() => reads.readView(this.#store, query, this.#stamp()))
    this.#high_water = Math.max(this.#high_water, this.#store.high_water)
    return { ...view, now: this.now() }
  }

  admit: Journal["admit"] = (write) => this.#change(write)
  dispatch: Journal["dispatch"] = (write) => this.#change(write)
  advance: Journal["advance"] = (write) => this.#change(write)

  settled: Journal["settled"] = async (event_id, operation_id) => {
    this.#refuseClosed()
    return this.#link.settle(operation_id, () => {
      const { written, operations } = this.#store.rows
      return written.has(event_id) ? (operations.get(operation_id) ?? null) : null
    })
  }

  noteDuplicate: Journal["noteDuplicate"] = (operation_id, actor) => {
    if (!this.#closed) this.#duplicates.note(operation_id, actor)
  }

  operation: Journal["operation"] = (id) => this.#read(() => this.#store.rows.operations.get(id) ?? null)
  revision: Journal["revision"] = (...of) => this.#read(() => reads.findRevision(this.#store, ...of))
  operations: Journal["operations"] = (...of) => this.#read(() => reads.listOperations(this.#store, ...of))
  slot: Journal["slot"] = (slot) => this.#read(() => this.#store.rows.slots.get(slotKey(slot)) ?? null)
  heldBy: Journal["heldBy"] = (id) =>
    this.#read(() =>
      [...this.#store.rows.operations.values()].filter((one) => one.state === "held" && one.held_by === id),
    )
  resourceWriter: Journal["resourceWriter"] = (tenant, resource) =>
    this.#read(() => this.#store.rows.resources.get(`${tenant}|${resource}`) ?? null)
  confirmations: Journal["confirmations"] = (...of) => this.#read(() => reads.findConfirmations(this.#store, ...of))
  rivals: Journal["rivals"] = (operation) => this.#read(() => reads.countRivals(this.#store, operation))
  due: Journal["due"] = (query) => this.#read(() => reads.readDue(this.#store, query))
  events: Journal["events"] = (id, after, limit) =>
    this.#read(() => (this.#store.rows.timelines.get(id) ?? []).filter(({ seq }) => seq > after).slice(0, limit))
  stream: Journal["stream"] = (after, limit) =>
    this.#read(() => {
      const start = after === null ? 0 : Number(after)
      const events = this.#store.rows.events.slice(start, start + limit)
      return { events, cursor: events.length === 0 ? after : String(start + events.length) }
    })

  subscribe: Journal["subscribe"] = (listener) => {
    this.#refuseClosed()
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  incidents: Journal["incidents"] = (filter) => this.#read(() => reads.listIncidents(this.#store, filter))
  openIncident: Journal["openIncident"] = (tenant, draft) =>
    this.#write(() => openIncident(this.#store, tenant, draft, this.#stamp()))
  closeIncident: Journal["closeIncident"] = (incident_id, by, resolution) =>
    this.#write(() => {
      const { incidents } = this.#store.rows
      const index = incidents.findIndex((one) => one.incident_id === incident_id && one.closed_at === null)
      const known = incidents[index]
      if (known) incidents[index] = { ...known, closed_at: this.#stamp(), closed_by: by, resolution }
    })

  checkpoint: Journal["checkpoint"] = (tenant, checkpoint_id) =>
    this.#read(() => {
      const row = this.#store.rows.sets.get(setKey({ table: "checkpoint", tenant, id: checkpoint_id }))
      return row && row.value !== null ? { checkpoint_id, version: row.version, at: row.at, value: row.value } : null
    })

  putCheckpoint: Journal["putCheckpoint"] = (tenant, checkpoint_id, expect_version, value) =>
    this.#write(() => {
      const set = { table: "checkpoint", tenant, id: checkpoint_id } as const
      const row = this.#store.rows.sets.get(setKey(set))
      const version = row === undefined || row.value === null ? 0 : row.version
      if (version !== expect_version) return { conflict: true as const, version }
      const at = this.#stamp()
      return { checkpoint_id, value, at, version: putSet(this.#store, { ...set, value }, at) }
    })

  purge: Journal["purge"] = (query) => this.#write(() => purgePayloads(this.#store, query, this.#stamp()))
  backup: Journal["backup"] = () =>
    Promise.reject(new JournalError("journal_unavailable", "a journal in memory has no file to copy"))
  facts: Journal["facts"] = () => this.#read(() => ({ incarnation: this.#store.incarnation }))

  close: Journal["close"] = async () => {
    if (this.#closed) return
    this.#duplicates.flush()
    this.#closed = true
    this.#detach()
    this.#listeners.clear()
  }

  #stamp(): number {
    return this.#store.time(this.#link.stamp())
  }

  #refuseClosed(): void {
    if (this.#closed) throw new JournalError("journal_closed", "the journal is closed")
  }

  async #read<T>(run: () => T): Promise<T> {
    this.#refuseClosed()
    return this.#link.read(run)
  }

  async #write<T>(run: () => T): Promise<T> {
    this.#refuseClosed()
    return this.#link.write(run, null)
  }

  async #change(write: JournalWrite): Promise<WriteResult> {
    this.#refuseClosed()
    const { operation_id } = write.operation.next
    const { result, at } = await this.#link.write(() => this.#commit(write), operation_id)
    this.#high_water = Math.max(this.#high_water, at)
    if (result.ok) this.#tell([operation_id, ...(write.also ?? []).map((one) => one.next.operation_id)])
    return result
  }

  /** At the store. */
  #commit(write: JournalWrite): { readonly result: WriteResult; readonly at: number } {
    const at = this.#stamp()
    const applied = applyWrite(this.#store, write, at)
    if (!applied.ok) return { result: { ok: false, conflict: applied.conflict, now: at }, at }
    this.#store.committed(this)
    const operation = this.#store.rows.operations.get(write.operation.next.operation_id)
    if (!operation) throw new JournalError("journal_corrupt", "the written row is not there")
    return { result: { ok: true, committed_at: applied.committed_at, operation }, at }
  }

  #tell(ids: readonly string[] | null): void {
    for (const listener of this.#listeners) listener(ids)
  }
}
