/**
 * The rows of workers: who may hold a lease, and who is known to be gone.
 *
 * WR1. A worker id belongs to the process that registered it for ever; the same process may register it anew with another
 *      token, no other process may. So an attempt's worker id names one process.
 * WR2. A worker with an open attempt is not closed: its lock must stay until its process ends.
 */
import type { Outcome, Transaction } from "./transaction.ts"

export interface RegisteredWorker {
  readonly worker_id: string
  readonly lease_token: string
  readonly host: string
  readonly boot_id: string
  readonly pid: number
  readonly started_at: number
  readonly tools: string
  readonly lock_file: string
  readonly lock_inode: string
  readonly lock_host: string
  readonly lock_boot_id: string
}

/** A closed worker had no open attempt, so nobody has to ask about it; people may want to see it for a while. */
const CLOSED_KEPT_MS = 7 * 24 * 3_600_000

/** An attempt of the worker, in any operation still unresolved, whose promise has not settled and that is not gone. */
const OPEN_ATTEMPT =
  "SELECT 1 FROM operations, json_each(operations.body, '$.attempts') AS attempt " +
  "WHERE operations.terminal = 0 AND operations.attempts > 0 AND attempt.value ->> 'worker_id' = ? " +
  "AND attempt.value ->> 'settled_at' IS NULL AND attempt.value ->> 'gone_at' IS NULL LIMIT 1"

/** `fresh`: the process took the id's lock just now. false: the id belongs to another process (WR1). */
export function registerWorker({ db, now }: Transaction, worker: RegisteredWorker, fresh: boolean): Outcome<boolean> {
  const {
    worker_id,
    lease_token,
    host,
    boot_id,
    pid,
    started_at,
    tools,
    lock_file,
    lock_inode,
    lock_host,
    lock_boot_id,
  } = worker
  const known = db.get("SELECT 1 FROM workers WHERE worker_id = ?", worker_id)
  if (known !== undefined && fresh) return { wrote: false, value: false }
  db.run("DELETE FROM workers WHERE closed_at < ?", now - CLOSED_KEPT_MS)
  db.run(
    "INSERT INTO workers (worker_id, lease_token, lease_until, host, boot_id, pid, started_at, tools, lock_file, " +
      "lock_inode, lock_host, lock_boot_id) VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET lease_token = excluded.lease_token, lease_until = 0, " +
      "started_at = excluded.started_at, tools = excluded.tools, closed_at = NULL WHERE gone_at IS NULL",
    ...[
      worker_id,
      lease_token,
      host,
      boot_id,
      pid,
      Math.floor(started_at),
      tools,
      lock_file,
      lock_inode,
      lock_host,
      lock_boot_id,
    ],
  )
  return { wrote: true, value: true }
}

/** false: it has an open attempt (WR2). */
export function closeWorker({ db, now }: Transaction, worker_id: string): Outcome<boolean> {
  if (db.get(OPEN_ATTEMPT, worker_id)) return { wrote: false, value: false }
  db.run("UPDATE workers SET closed_at = ? WHERE worker_id = ? AND closed_at IS NULL", now, worker_id)
  return { wrote: true, value: true }
}

export function markWorkerGone({ db, now }: Transaction, worker_id: string, proof: string): Outcome<null> {
  const changed = db.run(
    "UPDATE workers SET gone_at = ?, gone_proof = ? WHERE worker_id = ? AND gone_at IS NULL",
    ...[now, proof, worker_id],
  )
  return { wrote: changed > 0, value: null }
}
