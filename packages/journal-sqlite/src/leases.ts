/**
 * A worker's lease: the right to start attempts until a moment of database time (protocol §5.7).
 *
 * LE1. Only the token that registered may hold it, and only until the worker is closed or proved gone.
 * LE2. A lapsed lease is never renewed. It may be taken again by a dispatch of the same token while none of that worker's
 *      attempts is open: then nobody can have begun to probe because it lapsed.
 */
import type { Lease } from "@invokejs/engine"

import { Moved } from "./transaction.ts"
import type { Transaction } from "./transaction.ts"

interface LeaseRow {
  readonly lease_token: string
  readonly lease_until: number
  readonly gone_at: number | null
  readonly closed_at: number | null
}

const LEASE = "SELECT lease_token, lease_until, gone_at, closed_at FROM workers WHERE worker_id = ?"
const EXTEND = "UPDATE workers SET lease_until = ? WHERE worker_id = ? AND lease_until < ?"
const OPEN_ATTEMPT =
  "SELECT 1 AS open FROM operations WHERE state = 'dispatched' AND worker_id = ? AND lease_token = ? LIMIT 1"

function rowOf({ db }: Transaction, lease: Lease): LeaseRow | null {
  const row = db.get<LeaseRow>(LEASE, lease.worker_id)
  if (!row || row.lease_token !== lease.lease_token || row.gone_at !== null || row.closed_at !== null) return null
  return row
}

/** Takes or renews the lease for a dispatch, or throws `Moved` on the lease. */
export function takeLease(txn: Transaction, lease: Lease): void {
  const row = rowOf(txn, lease)
  if (!row || lease.until <= txn.now) throw new Moved({ on: "lease" })
  const lapsed = row.lease_until <= txn.now
  if (lapsed && txn.db.get(OPEN_ATTEMPT, lease.worker_id, lease.lease_token)) throw new Moved({ on: "lease" })
  extend(txn, lease)
}

/** false: it had lapsed, and stays so (LE2). */
export function renewLease(txn: Transaction, lease: Lease, callers_now: number): boolean {
  const row = rowOf(txn, lease)
  if (!row || row.lease_until <= Math.max(txn.now, callers_now)) return false
  extend(txn, lease)
  return true
}

function extend({ db }: Transaction, { worker_id, until }: Lease): void {
  const whole = Math.floor(until)
  db.run(EXTEND, whole, worker_id, whole)
}
