/** Queries that answer with events, incidents, workers, checkpoints and the journal's own state. */
import type { Quarantine, StoredCheckpoint, WorkerRow } from "@invokejs/engine"
import type { AuditEvent, Incident, Json } from "@invokejs/protocol"

import type { SqlValue } from "./driver.ts"
import type { StatementCache } from "./statement-cache.ts"

interface EventRow {
  readonly n: number
  readonly operation_id: string
  readonly tenant: string
  readonly seq: number
  readonly at: number
  readonly type: AuditEvent["type"]
  readonly from_state: AuditEvent["from"]
  readonly to_state: AuditEvent["to"]
  readonly actor: string
  readonly data: string | null
  readonly data_digest: string
  readonly prev_hash: string
  readonly hash: string
}

/** Purged data reads as `{ purged: true }`: digest and hash are what they were. */
function eventOf(row: EventRow): AuditEvent {
  const { n: _n, from_state, to_state, data, ...rest } = row
  return {
    ...rest,
    from: from_state,
    to: to_state,
    data: data === null ? { purged: true } : (JSON.parse(data) as AuditEvent["data"]),
  }
}

export function listEvents(
  db: StatementCache,
  operation_id: string,
  after_seq: number,
  limit: number,
): readonly AuditEvent[] {
  const sql = "SELECT * FROM events WHERE operation_id = ? AND seq > ? ORDER BY seq LIMIT ?"
  return db.all<EventRow>(sql, operation_id, after_seq, limit).map(eventOf)
}

/** The cursor is the position in commit order of the last event told. */
export function streamEvents(
  db: StatementCache,
  after: string | null,
  limit: number,
): { readonly events: readonly AuditEvent[]; readonly cursor: string | null } {
  const from = after === null ? 0 : Number(after)
  if (!Number.isSafeInteger(from) || from < 0) throw new Error(`"${after}" is not a cursor of this journal`)
  const rows = db.all<EventRow>("SELECT * FROM events WHERE n > ? ORDER BY n LIMIT ?", from, limit)
  return { events: rows.map(eventOf), cursor: rows.at(-1)?.n.toString() ?? after }
}

interface IncidentRow extends Omit<Incident, "detail"> {
  readonly n: number
  readonly detail: string
}

export function listIncidents(
  db: StatementCache,
  filter: { readonly tenant?: string; readonly open?: boolean; readonly operation_id?: string },
): readonly Incident[] {
  const conditions: string[] = []
  const parameters: SqlValue[] = []
  if (filter.tenant !== undefined) {
    conditions.push("tenant = ?")
    parameters.push(filter.tenant)
  }
  if (filter.operation_id !== undefined) {
    conditions.push("operation_id = ?")
    parameters.push(filter.operation_id)
  }
  if (filter.open !== undefined) conditions.push(filter.open ? "closed_at IS NULL" : "closed_at IS NOT NULL")
  const condition = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`
  return db
    .all<IncidentRow>(`SELECT * FROM incidents ${condition} ORDER BY n`, ...parameters)
    .map(({ n: _n, detail, ...row }) => ({ ...row, detail: JSON.parse(detail) as Incident["detail"] }))
}

export interface StoredWorker extends WorkerRow {
  readonly lock_file: string
  readonly lock_inode: string
  readonly lock_host: string
  readonly lock_boot_id: string
}

interface WorkerColumns extends Omit<StoredWorker, "tools" | "gone"> {
  readonly tools: string
  readonly gone_at: number | null
  readonly gone_proof: string | null
}

function workerOf({ gone_at, gone_proof, tools, ...row }: WorkerColumns): StoredWorker {
  const gone = gone_at === null ? null : { at: gone_at, proof: gone_proof ?? "" }
  return { ...row, tools: JSON.parse(tools) as string[], gone }
}

export function listWorkers(db: StatementCache): readonly StoredWorker[] {
  return db.all<WorkerColumns>("SELECT * FROM workers ORDER BY started_at, worker_id").map(workerOf)
}

export function findWorker(db: StatementCache, worker_id: string): StoredWorker | null {
  const row = db.get<WorkerColumns>("SELECT * FROM workers WHERE worker_id = ?", worker_id)
  return row ? workerOf(row) : null
}

export function findCheckpoint(db: StatementCache, tenant: string, checkpoint_id: string): StoredCheckpoint | null {
  const row = db.get<{ version: number; at: number; value: string }>(
    "SELECT version, at, value FROM sets WHERE kind = 'checkpoint' AND tenant = ? AND id = ? AND value IS NOT NULL",
    ...[tenant, checkpoint_id],
  )
  return row ? { checkpoint_id, version: row.version, at: row.at, value: JSON.parse(row.value) as Json } : null
}

export function findQuarantine(db: StatementCache): Quarantine | null {
  const row = db.get<Quarantine>(
    "SELECT since, reason, detail FROM quarantines WHERE lifted_at IS NULL ORDER BY n DESC LIMIT 1",
  )
  return row ? { ...row } : null
}
