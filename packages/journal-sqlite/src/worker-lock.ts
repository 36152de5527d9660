/**
 * The kernel-released lock of a worker: a SQLite file held in an exclusive transaction. The kernel frees it when the
 * process ends, however it ends, and not while it is merely stopped.
 *
 * WL1. A process never opens the lock files that it holds itself: closing one would drop its own lock (POSIX).
 * WL2. A lock proves something only while the file is the one that was locked: its inode is compared before and after.
 * WL3. A lock is released by `releaseWorkerLock` or by the end of the process, never by closing a journal.
 */
import { createHash } from "node:crypto"
import { mkdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"

import type { Database, Driver } from "./driver.ts"
import { inodeOf } from "./file-inode.ts"
import { sqliteCode } from "./sqlite-error.ts"

export interface WorkerLock {
  readonly file: string
  readonly inode: string
}

export interface TakenLock extends WorkerLock {
  /** This call took it; otherwise the process held it already. */
  readonly fresh: boolean
}

const SQLITE_BUSY = 5

/** The locks of this process, whichever copy of this package took them. */
function heldLocks(): Map<string, Database> {
  const key = Symbol.for("invokejs.journal-sqlite.worker-locks")
  const shared = globalThis as unknown as { [key]?: Map<string, Database> }
  shared[key] ??= new Map()
  return shared[key]
}

function identityOf(file: string): string | null {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`
}

function fileFor(folder: string, worker_id: string): string {
  const name = /^[A-Za-z0-9_-]{1,100}$/.test(worker_id)
    ? worker_id
    : createHash("sha256").update(worker_id, "utf8").digest("hex")
  return join(folder, `${name}.lock`)
}

/** null: another process holds it. */
export function takeWorkerLock(driver: Driver, folder: string, worker_id: string): TakenLock | null {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = fileFor(folder, worker_id)
  const known = identityOf(file)
  const fresh = known === null || !heldLocks().has(known)
  if (fresh) {
    const db = driver.open(file, { readOnly: false })
    if (!lockExclusively(db)) {
      db.close()
      return null
    }
    // The file exists: it is open.
    heldLocks().set(identityOf(file)!, db)
  }
  const inode = inodeOf(file)
  return inode === null ? null : { file, inode, fresh }
}

/** Whether the lock's process is alive: `unknown` where the file is not the one that was locked. */
export function probeWorkerLock(driver: Driver, { file, inode }: WorkerLock): "held" | "free" | "unknown" {
  const identity = identityOf(file)
  if (identity === null || inodeOf(file) !== inode) return "unknown"
  if (heldLocks().has(identity)) return "held"
  let db: Database | undefined
  try {
    db = driver.open(file, { readOnly: false })
    if (!lockExclusively(db)) return "held"
    const same = inodeOf(file) === inode
    db.exec("ROLLBACK")
    return same ? "free" : "unknown"
  } catch {
    return "unknown"
  } finally {
    db?.close()
  }
}

/** Tidies up after a process that is known to be gone; leaves the lock of one that is not. */
export function removeFreeLock(driver: Driver, lock: WorkerLock): void {
  if (probeWorkerLock(driver, lock) === "free") rmSync(lock.file, { force: true })
}

/** `remove`: nobody will ask for it again. */
export function releaseWorkerLock({ file }: WorkerLock, remove: boolean): void {
  const identity = identityOf(file)
  const db = identity === null ? undefined : heldLocks().get(identity)
  if (identity === null || !db) return
  if (remove) rmSync(file, { force: true })
  heldLocks().delete(identity)
  db.close()
}

function lockExclusively(db: Database): boolean {
  try {
    // Nothing is ever written to the file, so it needs no rollback journal beside it.
    db.exec("PRAGMA journal_mode = MEMORY")
    db.exec("BEGIN EXCLUSIVE")
    return true
  } catch (error) {
    if (((sqliteCode(error) ?? 0) & 0xff) === SQLITE_BUSY) return false
    throw error
  }
}
