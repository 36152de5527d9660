/**
 * The workers of a journal, and the proof that one of them is gone.
 *
 * JW1. The lock is taken before the row is written, so a row always has had a lock.
 * JW2. Gone is proved by the lock of a worker of this very kernel found free, or by this host registered under a new boot
 *      id with the lock not held. A lock on another machine, or a missing file, proves nothing.
 */
import type { JournalWorkers, Lease, WorkerRow } from "@invokejs/engine"

import type { Driver } from "./driver.ts"
import type { EntryKind, EntryOf, ReplyOf } from "./entries.ts"
import type { Machine } from "./machine.ts"
import { findWorker, listWorkers } from "./read-timeline.ts"
import type { StoredWorker } from "./read-timeline.ts"
import { journalError } from "./journal-error.ts"
import type { StatementCache } from "./statement-cache.ts"
import { releaseWorkerLock, removeFreeLock, probeWorkerLock, takeWorkerLock } from "./worker-lock.ts"
import type { TakenLock, WorkerLock } from "./worker-lock.ts"

export interface WorkersSetup {
  readonly driver: Driver
  readonly path: string
  readonly machine: Machine
  readonly submit: <K extends EntryKind>(entry: EntryOf<K>) => Promise<ReplyOf<K>>
  readonly read: <T>(query: (db: StatementCache) => T) => T
}

export function openWorkers({ driver, path, machine, submit, read }: WorkersSetup): JournalWorkers {
  const locks = new Map<string, WorkerLock>()
  const folder = `${path}-workers`

  const lockOf = (worker_id: string): TakenLock => {
    try {
      const lock = takeWorkerLock(driver, folder, worker_id)
      if (lock !== null) return lock
    } catch (error) {
      throw journalError(error, path, `register worker ${worker_id} with`)
    }
    throw new Error(`worker ${worker_id} belongs to another process that is alive`)
  }

  return {
    register: async (worker) => {
      const lock = lockOf(worker.worker_id)
      const registered = await submit<"register">({
        kind: "register",
        fresh: lock.fresh,
        worker: {
          ...worker,
          tools: JSON.stringify(worker.tools),
          lock_file: lock.file,
          lock_inode: lock.inode,
          lock_host: machine.host,
          lock_boot_id: machine.boot_id,
        },
      })
      if (!registered) {
        // The file stays: it is the proof that its former holder is gone.
        releaseWorkerLock(lock, false)
        throw new Error(`worker ${worker.worker_id} belonged to another process; take a new id`)
      }
      locks.set(worker.worker_id, lock)
    },
    renew: (lease: Lease, now) => submit<"renew">({ kind: "renew", lease, now }),
    close: async (worker_id) => {
      const closed = await submit<"close_worker">({ kind: "close_worker", worker_id })
      const lock = locks.get(worker_id)
      if (!closed || !lock) return
      releaseWorkerLock(lock, true)
      locks.delete(worker_id)
    },
    list: async () => read((db) => listWorkers(db).map(publicRow)),
    gone: async (worker_id) =>
      read((db) => {
        const worker = findWorker(db, worker_id)
        return worker && proofOf(driver, machine, worker, () => listWorkers(db))
      }),
    markGone: async (worker_id, proof) => {
      await submit<"mark_gone">({ kind: "mark_gone", worker_id, proof })
      const worker = read((db) => findWorker(db, worker_id))
      // The row now bears the proof; the file of a process that ended is of no more use.
      if (worker) removeFreeLock(driver, { file: worker.lock_file, inode: worker.lock_inode })
    },
  }
}

function publicRow(worker: StoredWorker): WorkerRow {
  const { lock_file: _file, lock_inode: _inode, lock_host: _host, lock_boot_id: _boot, ...row } = worker
  return row
}

function proofOf(
  driver: Driver,
  machine: Machine,
  worker: StoredWorker,
  others: () => readonly StoredWorker[],
): string | null {
  if (worker.gone !== null) return worker.gone.proof
  if (worker.closed_at !== null) return "closed"
  if (worker.lock_boot_id === "" || machine.boot_id === "") return null
  const lock = probeWorkerLock(driver, { file: worker.lock_file, inode: worker.lock_inode })
  if (lock === "held") return null
  if (worker.lock_boot_id === machine.boot_id) return lock === "free" ? `lock_free: ${worker.lock_file}` : null
  if (worker.lock_host === "") return null
  const booted = [
    { lock_host: machine.host, lock_boot_id: machine.boot_id },
    ...others().filter(({ started_at }) => started_at > worker.started_at),
  ].find((other) => other.lock_host === worker.lock_host && other.lock_boot_id !== worker.lock_boot_id)
  return booted ? `rebooted: ${worker.lock_host} from ${worker.lock_boot_id} to ${booted.lock_boot_id}` : null
}
