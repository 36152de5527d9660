/** The journal port over a memory store. Every call goes through a `link`, which is where a simulation puts its faults. */
import {
  JournalError,
  type AdmissionView,
  type DueAnswer,
  type Journal,
  type JournalWorkers,
  type JournalWrite,
  type OperationFilter,
  type WriteResult,
} from "@invokejs/engine"
import { canonicalJson, isTerminal, type Operation } from "@invokejs/protocol"
import { objectRowKey, slotKey, type MemoryStore } from "./memory-store.ts"

/** How a call reaches the store. `read` and `write` run at the store; both may be delayed, fail, or never answer. */
export interface Link {
  now(): number
  read<T>(run: () => T): Promise<T>
  write<T>(run: () => T): Promise<T>
  /** Whether the process that registered is proved gone. */
  gone(worker_id: string): string | null
}

export function memoryJournal(store: MemoryStore, link: Link, name = "simulated"): Journal {
  const write = (one: JournalWrite): Promise<WriteResult> =>
    link.write(() => {
      const now = link.now()
      const conflict = store.apply(one, now)
      const operation = store.operations.get(one.operation.next.operation_id)
      if (conflict) return { ok: false, conflict, now }
      if (!operation) throw new JournalError("journal_corrupt", "the written row is not there")
      return { ok: true, committed_at: now, operation }
    })
  const ids = () => [...store.operations.values()]
  return {
    identity: { name, journal_id: name, incarnation: "1", location: "memory", driver: "memory", schema_version: 1 },
    now: () => link.now(),
    quarantine: () => link.read(() => store.quarantine),
    liftQuarantine: () => link.write(() => void (store.quarantine = null)),
    view: (query) => link.read(() => view(store, query, link.now())),
    admit: write,
    dispatch: write,
    advance: write,
    settled: (event_id, operation_id) =>
      link.read(() => (store.written.has(event_id) ? (store.operations.get(operation_id) ?? null) : null)),
    noteDuplicate: () => undefined,
    operation: (id) => link.read(() => store.operations.get(id) ?? null),
    revision: (tenant, chain, revision) =>
      link.read(
        () => ids().find((one) => one.tenant === tenant && one.key === chain && one.revision === revision) ?? null,
      ),
    operations: (filter, page) => link.read(() => list(store, filter, page)),
    slot: (slot) => link.read(() => store.slots.get(slotKey(slot)) ?? null),
    heldBy: (id) => link.read(() => ids().filter((one) => one.state === "held" && one.held_by === id)),
    resourceWriter: (tenant, resource) => link.read(() => store.resources.get(`${tenant}|${resource}`) ?? null),
    confirmations: (tenant, objects, except) =>
      link.read(() =>
        objects.flatMap((object) => {
          const row = store.objects.get(objectRowKey({ ...object, tenant }))
          return row && row.operation_id !== except ? [row] : []
        }),
      ),
    rivals: (operation) => link.read(() => rivals(store, operation)),
    due: (query) => link.read(() => due(store, query.now, query.limit, query.tools)),
    events: (id, after, limit) =>
      link.read(() => (store.byOperation.get(id) ?? []).filter((one) => one.seq > after).slice(0, limit)),
    stream: (after, limit) =>
      link.read(() => {
        const start = after === null ? 0 : Number(after)
        const events = store.events.slice(start, start + limit)
        return { events, cursor: String(start + events.length) }
      }),
    subscribe: (listener) => store.subscribe(listener),
    incidents: (filter) =>
      link.read(() =>
        store.incidents.filter(
          (one) =>
            (filter.operation_id === undefined || one.operation_id === filter.operation_id) &&
            (filter.open !== true || one.closed_at === null),
        ),
      ),
    openIncident: (tenant, draft) => link.write(() => store.openIncident(tenant, draft, link.now())),
    closeIncident: () => link.write(() => undefined),
    checkpoint: () => link.read(() => null),
    putCheckpoint: () => Promise.reject(new JournalError("journal_unavailable", "checkpoints are not simulated")),
    purge: () => link.write(() => ({ purged: 0, refused: 0 })),
    backup: () => Promise.reject(new JournalError("journal_unavailable", "backups are not simulated")),
    facts: () => link.read(() => ({})),
    workers: workers(store, link),
    close: () => Promise.resolve(),
  }
}

function workers(store: MemoryStore, link: Link): JournalWorkers {
  return {
    register: (worker) =>
      link.write(() => {
        store.workers.set(worker.worker_id, { ...worker, lease_until: 0, gone: null, closed_at: null })
      }),
    renew: (lease, now) =>
      link.write(() => {
        const row = store.workers.get(lease.worker_id)
        if (
          !row ||
          row.lease_token !== lease.lease_token ||
          row.lease_until <= Math.max(now, link.now()) ||
          row.gone ||
          row.closed_at !== null
        )
          return false
        store.workers.set(lease.worker_id, { ...row, lease_until: Math.max(row.lease_until, lease.until) })
        return true
      }),
    close: (worker_id) =>
      link.write(() => {
        const row = store.workers.get(worker_id)
        if (row) store.workers.set(worker_id, { ...row, closed_at: link.now() })
      }),
    list: () => link.read(() => [...store.workers.values()]),
    gone: (worker_id) => link.read(() => link.gone(worker_id)),
    markGone: (worker_id, proof) =>
      link.write(() => {
        const row = store.workers.get(worker_id)
        if (row) store.workers.set(worker_id, { ...row, gone: { at: link.now(), proof } })
      }),
  }
}

function view(store: MemoryStore, query: Parameters<Journal["view"]>[0], now: number): AdmissionView {
  const chains: Record<string, string> = {}
  const heads: Record<string, Operation> = {}
  for (const key of query.keys) {
    const chain = store.chains.get(`${query.tenant}|${key}`)
    if (chain === undefined) continue
    chains[key] = chain
    const head = store.head(query.tenant, chain)
    if (head) heads[chain] = head
  }
  const slot = query.slot ? (store.slots.get(slotKey(query.slot)) ?? null) : null
  return {
    now,
    chains,
    heads,
    slot,
    holder: slot?.operation_id ? (store.operations.get(slot.operation_id) ?? null) : null,
    resource_writer:
      query.resource === undefined ? null : (store.resources.get(`${query.tenant}|${query.resource}`) ?? null),
  }
}

function list(store: MemoryStore, filter: OperationFilter, page: { limit: number; cursor?: string }) {
  const all = [...store.operations.values()]
    .filter(
      (one) =>
        (filter.states === undefined || filter.states.includes(one.state)) &&
        (filter.tool === undefined || one.tool === filter.tool),
    )
    .filter((one) => page.cursor === undefined || one.operation_id < page.cursor)
    .toSorted((a, b) => (a.operation_id < b.operation_id ? 1 : -1))
  const items = all.slice(0, page.limit)
  return { items, next_cursor: all.length > page.limit ? (items.at(-1)?.operation_id ?? null) : null }
}

function rivals(store: MemoryStore, operation: Operation): number {
  const match = canonicalJson(operation.expectation?.match ?? {})
  let count = 0
  for (const one of store.operations.values()) {
    if (
      one.operation_id === operation.operation_id ||
      one.namespace !== operation.namespace ||
      one.tenant !== operation.tenant
    )
      continue
    if (canonicalJson(one.expectation?.match ?? {}) !== match) continue
    if (!isTerminal(one.state) || (one.state === "succeeded" && one.object === null)) count += 1
  }
  return count
}

function due(store: MemoryStore, now: number, limit: number, tools: readonly string[]): DueAnswer {
  const due: Operation[] = []
  const lapsed: Operation[] = []
  let next: number | null = null
  let waiting = 0
  for (const one of store.operations.values()) {
    if (one.due_at === null) continue
    if (!tools.includes(one.tool)) {
      if (one.due_at <= now) waiting += 1
      continue
    }
    if (one.due_at <= now) due.push(one)
    else {
      next = next === null ? one.due_at : Math.min(next, one.due_at)
      const worker = store.workers.get(one.attempts.at(-1)?.worker_id ?? "")
      const lost = !worker || worker.lease_until <= now || worker.gone !== null || worker.closed_at !== null
      if (one.state === "dispatched" && lost) lapsed.push(one)
    }
  }
  due.sort((a, b) => (a.due_at ?? 0) - (b.due_at ?? 0))
  return { due: due.slice(0, limit), lapsed: lapsed.slice(0, limit), next_due_at: next, waiting_for_tool: waiting }
}
