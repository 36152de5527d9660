/** Queries that answer with operations. One named function per query; none of them decides. */
import type {
  AdmissionView,
  DueAnswer,
  DueQuery,
  ObjectRow,
  OperationFilter,
  Page,
  Slot,
  SlotName,
} from "@invokejs/engine"
import { isTerminal } from "@invokejs/protocol"
import type { ConfirmedObject, Operation } from "@invokejs/protocol"

import type { SqlValue } from "./driver.ts"
import { OPERATION_COLUMNS, operationOf } from "./operation-row.ts"
import type { OperationRow } from "./operation-row.ts"
import { matchDigest } from "./prepared-write.ts"
import type { StatementCache } from "./statement-cache.ts"

const SELECT = `SELECT ${OPERATION_COLUMNS} FROM operations`

export function findOperation(db: StatementCache, operation_id: string): Operation | null {
  const row = db.get<OperationRow>(`${SELECT} WHERE operation_id = ?`, operation_id)
  return row ? operationOf(row) : null
}

export function findRevision(db: StatementCache, tenant: string, chain: string, revision: number): Operation | null {
  const row = db.get<OperationRow>(
    `${SELECT} WHERE tenant = ? AND chain = ? AND revision = ?`,
    ...[tenant, chain, revision],
  )
  return row ? operationOf(row) : null
}

export function findHead(db: StatementCache, tenant: string, chain: string): Operation | null {
  const row = db.get<OperationRow>(
    `${SELECT} WHERE tenant = ? AND chain = ? ORDER BY revision DESC LIMIT 1`,
    ...[tenant, chain],
  )
  return row ? operationOf(row) : null
}

export function findChain(db: StatementCache, tenant: string, key: string): string | null {
  const sql = "SELECT chain FROM chain_keys WHERE tenant = ? AND key = ?"
  return db.get<{ chain: string }>(sql, tenant, key)?.chain ?? null
}

export function findSlot(db: StatementCache, { tenant, namespace, intent_digest }: SlotName): Slot | null {
  const row = db.get<Slot>(
    "SELECT tenant, namespace, intent_digest, operation_id, version FROM slots " +
      "WHERE tenant = ? AND namespace = ? AND intent_digest = ?",
    ...[tenant, namespace, intent_digest],
  )
  return row ? { ...row } : null
}

export function findResourceWriter(db: StatementCache, tenant: string, resource: string): string | null {
  const sql = "SELECT operation_id FROM resources WHERE tenant = ? AND resource = ?"
  return db.get<{ operation_id: string }>(sql, tenant, resource)?.operation_id ?? null
}

/** Everything that admission decides from; the caller holds one read transaction around it. */
export function readView(
  db: StatementCache,
  query: {
    readonly tenant: string
    readonly keys: readonly string[]
    readonly slot?: SlotName
    readonly resource?: string
  },
  now: number,
): AdmissionView {
  const { tenant } = query
  const chains: Record<string, string> = {}
  const heads: Record<string, Operation> = {}
  for (const key of query.keys) {
    const chain = findChain(db, tenant, key)
    if (chain === null) continue
    chains[key] = chain
    const head = heads[chain] ?? findHead(db, tenant, chain)
    if (head) heads[chain] = head
  }
  const slot = query.slot ? findSlot(db, query.slot) : null
  const holder = slot?.operation_id ? findOperation(db, slot.operation_id) : null
  const resource_writer = query.resource === undefined ? null : findResourceWriter(db, tenant, query.resource)
  return { now, chains, heads, slot, holder, resource_writer }
}

/** Newest first. The cursor is the last id of the page before. */
export function listOperations(
  db: StatementCache,
  filter: OperationFilter,
  page: { readonly limit: number; readonly cursor?: string },
): Page<Operation> {
  const conditions: string[] = []
  const parameters: SqlValue[] = []
  const where = (condition: string, ...values: SqlValue[]): void => {
    conditions.push(condition)
    parameters.push(...values)
  }
  if (filter.tenant !== undefined) where("tenant = ?", filter.tenant)
  if (filter.states) {
    where("state IN (SELECT value FROM json_each(?))", JSON.stringify(filter.states))
    // Said again in the words of the index of open operations, which is small however long the journal is.
    if (!filter.states.some(isTerminal)) where("terminal = 0")
  }
  if (filter.tool !== undefined) where("tool = ?", filter.tool)
  if (filter.agent_id !== undefined) where("agent_id = ?", filter.agent_id)
  if (filter.run_id !== undefined) where("run_id = ?", filter.run_id)
  if (filter.created_before !== undefined) where("created_at < ?", filter.created_before)
  if (filter.contradicted !== undefined) where("contradicted = ?", filter.contradicted ? 1 : 0)
  if (filter.key !== undefined) {
    const chains = "chain_keys AS k JOIN operations AS o ON o.tenant = k.tenant AND o.chain = k.chain"
    where(`n IN (SELECT o.n FROM ${chains} WHERE k.key = ?)`, filter.key)
  }
  if (filter.where) {
    const { field, value } = filter.where
    where("operation_id IN (SELECT operation_id FROM operation_fields WHERE field = ? AND value = ?)", field, value)
  }
  if (page.cursor !== undefined) where("operation_id < ?", page.cursor)
  const condition = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`
  const rows = db.all<OperationRow & { operation_id: string }>(
    `SELECT operation_id, ${OPERATION_COLUMNS} FROM operations ${condition} ORDER BY operation_id DESC LIMIT ?`,
    ...parameters,
    page.limit + 1,
  )
  const items = rows.slice(0, page.limit)
  return {
    items: items.map(operationOf),
    next_cursor: rows.length > page.limit ? (items.at(-1)?.operation_id ?? null) : null,
  }
}

export function findHeldBy(db: StatementCache, operation_id: string): readonly Operation[] {
  const sql = `${SELECT} WHERE held_by = ? AND state = 'held' ORDER BY operation_id`
  return db.all<OperationRow>(sql, operation_id).map(operationOf)
}

export function findConfirmations(
  db: StatementCache,
  tenant: string,
  objects: readonly ConfirmedObject[],
  except: string,
): readonly ObjectRow[] {
  return objects.flatMap(({ account, object_id, kind }) => {
    const row = db.get<ObjectRow>(
      "SELECT tenant, account, object_id, kind, operation_id FROM objects " +
        "WHERE tenant = ? AND account = ? AND object_id = ? AND kind = ? AND operation_id <> ?",
      ...[tenant, account, object_id, kind, except],
    )
    return row ? [{ ...row }] : []
  })
}

export function countRivals(db: StatementCache, operation: Operation): number {
  const digest = matchDigest(operation)
  if (digest === null) return 0
  const row = db.get<{ n: number }>(
    "SELECT count(*) AS n FROM operations WHERE tenant = ? AND namespace = ? AND match_digest = ? AND operation_id <> ? " +
      "AND match_digest IS NOT NULL AND (terminal = 0 OR (state IN ('succeeded', 'closed_unknown') AND object_id IS NULL))",
    ...[operation.tenant, operation.namespace, digest, operation.operation_id],
  )
  return row?.n ?? 0
}

const OF_TOOLS = "tool IN (SELECT value FROM json_each(?))"
/** The worker of the open attempt no longer holds the lease it dispatched under, or is known to be gone. */
const LEASE_LOST =
  "NOT EXISTS (SELECT 1 FROM workers AS w WHERE w.worker_id = operations.worker_id " +
  "AND w.lease_token = operations.lease_token AND w.lease_until > ? AND w.gone_at IS NULL AND w.closed_at IS NULL)"

export function readDue(db: StatementCache, { now, limit, tools }: DueQuery): DueAnswer {
  const names = JSON.stringify(tools)
  const due = db.all<OperationRow>(
    `${SELECT} WHERE due_at IS NOT NULL AND due_at <= ? AND ${OF_TOOLS} ORDER BY due_at LIMIT ?`,
    ...[now, names, limit],
  )
  // The unary plus keeps the planner on the index of dispatched operations, which is the small one.
  const lapsed = db.all<OperationRow>(
    `${SELECT} WHERE state = 'dispatched' AND ${OF_TOOLS} AND (+due_at IS NULL OR +due_at > ?) AND ${LEASE_LOST} LIMIT ?`,
    ...[names, now, now, limit],
  )
  const next = db.get<{ due_at: number | null }>(
    `SELECT min(due_at) AS due_at FROM operations WHERE due_at IS NOT NULL AND due_at > ? AND ${OF_TOOLS}`,
    ...[now, names],
  )
  const others = db.get<{ n: number }>(
    `SELECT count(*) AS n FROM operations WHERE due_at IS NOT NULL AND due_at <= ? AND NOT ${OF_TOOLS}`,
    ...[now, names],
  )
  return {
    due: due.map(operationOf),
    lapsed: lapsed.map(operationOf),
    next_due_at: next?.due_at ?? null,
    waiting_for_tool: others?.n ?? 0,
  }
}
