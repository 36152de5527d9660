/** Queries on rows in memory. None of them decides. */
import type { AdmissionView, DueAnswer, DueQuery, Journal, ObjectRow, OperationFilter, Page } from "@invokejs/engine"
import { canonicalJson, isTerminal, type ConfirmedObject, type Incident, type Operation } from "@invokejs/protocol"
import { objectRowKey, slotKey, type MemoryStore } from "./memory-store.ts"

export function readView(store: MemoryStore, query: Parameters<Journal["view"]>[0], now: number): AdmissionView {
  const { rows } = store
  const chains: Record<string, string> = {}
  const heads: Record<string, Operation> = {}
  for (const key of query.keys) {
    const chain = rows.chains.get(`${query.tenant}|${key}`)
    if (chain === undefined) continue
    chains[key] = chain
    const head = store.head(query.tenant, chain)
    if (head) heads[chain] = head
  }
  const slot = query.slot ? (rows.slots.get(slotKey(query.slot)) ?? null) : null
  return {
    now,
    chains,
    heads,
    slot,
    holder: slot?.operation_id ? (rows.operations.get(slot.operation_id) ?? null) : null,
    resource_writer:
      query.resource === undefined ? null : (rows.resources.get(`${query.tenant}|${query.resource}`) ?? null),
  }
}

export function findRevision(store: MemoryStore, tenant: string, chain: string, revision: number): Operation | null {
  for (const id of store.rows.heads.get(`${tenant}|${chain}`) ?? []) {
    const operation = store.rows.operations.get(id)
    if (operation?.revision === revision) return operation
  }
  return null
}

/** Newest first. The cursor is the last id of the page before. */
export function listOperations(
  store: MemoryStore,
  filter: OperationFilter,
  page: { readonly limit: number; readonly cursor?: string },
): Page<Operation> {
  const { cursor } = page
  const all = [...store.rows.operations.values()]
    .filter((one) => isMeant(store, one, filter) && (cursor === undefined || one.operation_id < cursor))
    .toSorted((a, b) => (a.operation_id < b.operation_id ? 1 : -1))
  const items = all.slice(0, page.limit)
  return { items, next_cursor: all.length > page.limit ? (items.at(-1)?.operation_id ?? null) : null }
}

function isMeant(store: MemoryStore, one: Operation, filter: OperationFilter): boolean {
  const { where, states, created_before: before, contradicted } = filter
  if (states !== undefined && !states.includes(one.state)) return false
  for (const name of ["tenant", "tool", "agent_id", "key", "run_id"] as const) {
    if (filter[name] !== undefined && one[name] !== filter[name]) return false
  }
  if (before !== undefined && one.created_at >= before) return false
  if (contradicted !== undefined && one.contradicted !== contradicted) return false
  if (where === undefined) return true
  return !store.rows.purged.has(one.operation_id) && { ...one.intent, ...one.identity }[where.field] === where.value
}

export function findConfirmations(
  store: MemoryStore,
  tenant: string,
  objects: readonly ConfirmedObject[],
  except: string,
): readonly ObjectRow[] {
  return objects.flatMap((object) => {
    const row = store.rows.objects.get(objectRowKey({ ...object, tenant }))
    return row && row.operation_id !== except ? [row] : []
  })
}

export function countRivals(store: MemoryStore, operation: Operation): number {
  const match = matchOf(operation)
  if (match === null) return 0
  let count = 0
  for (const one of store.rows.operations.values()) {
    if (one.operation_id === operation.operation_id || one.tenant !== operation.tenant) continue
    if (one.namespace !== operation.namespace || matchOf(one) !== match) continue
    const unnamed = one.object === null && (one.state === "succeeded" || one.state === "closed_unknown")
    if (!isTerminal(one.state) || unnamed) count += 1
  }
  return count
}

function matchOf({ expectation }: Operation): string | null {
  return expectation === null ? null : canonicalJson(expectation.match)
}

export function readDue(store: MemoryStore, { now, limit, tools }: DueQuery): DueAnswer {
  const due: Operation[] = []
  const lapsed: Operation[] = []
  let next_due_at: number | null = null
  let waiting_for_tool = 0
  for (const one of store.rows.operations.values()) {
    const { due_at, state, tool } = one
    const isDue = due_at !== null && due_at <= now
    if (!tools.includes(tool)) {
      if (isDue) waiting_for_tool += 1
      continue
    }
    if (isDue) due.push(one)
    else if (state === "dispatched" && leaseLost(store, one, now)) lapsed.push(one)
    if (due_at !== null && due_at > now) next_due_at = next_due_at === null ? due_at : Math.min(next_due_at, due_at)
  }
  due.sort((a, b) => (a.due_at ?? 0) - (b.due_at ?? 0))
  const next = next_due_at === null ? null : Math.ceil(next_due_at)
  return { due: due.slice(0, limit), lapsed: lapsed.slice(0, limit), next_due_at: next, waiting_for_tool }
}

/** The worker of the open attempt no longer holds the lease that it dispatched under, or is known to be gone. */
function leaseLost(store: MemoryStore, { attempts }: Operation, now: number): boolean {
  const last = attempts.at(-1)
  const worker = store.rows.workers.get(last?.worker_id ?? "")
  if (!worker || worker.lease_token !== last?.lease_token) return true
  return worker.lease_until <= now || worker.gone !== null || worker.closed_at !== null
}

export function listIncidents(store: MemoryStore, filter: Parameters<Journal["incidents"]>[0]): readonly Incident[] {
  return store.rows.incidents.filter(
    (one) =>
      (filter.tenant === undefined || one.tenant === filter.tenant) &&
      (filter.operation_id === undefined || one.operation_id === filter.operation_id) &&
      (filter.open === undefined || (one.closed_at === null) === filter.open),
  )
}
