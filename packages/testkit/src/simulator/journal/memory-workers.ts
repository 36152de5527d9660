/** Workers of a journal in memory: who may hold a lease, and who is proved gone. */
import type { JournalWorkers } from "@invokejs/engine"
import { hasOpenAttempt } from "./apply-write.ts"
import type { Link } from "./link.ts"
import { leaseRow, type MemoryStore } from "./memory-store.ts"

/** `call` refuses a closed journal; `now` is the database time of a commit that is made now. */
export function memoryWorkers(
  store: MemoryStore,
  link: Link,
  { call, now }: { readonly call: () => void; readonly now: () => number },
): JournalWorkers {
  const rows = () => store.rows.workers
  const write = async <T>(run: () => T): Promise<T> => {
    call()
    return link.write(run, null)
  }
  return {
    register: (worker) =>
      write(() => {
        const known = rows().get(worker.worker_id)
        if (known && known.owner !== link.owner)
          throw new Error(`worker ${worker.worker_id} belongs to another process; take a new id`)
        const gone = known?.gone ?? null
        rows().set(worker.worker_id, { ...worker, lease_until: 0, gone, closed_at: null, owner: link.owner })
      }),
    renew: (lease, callers_now) =>
      write(() => {
        const row = leaseRow(store, lease)
        if (!row || row.lease_until <= Math.max(now(), callers_now)) return false
        rows().set(lease.worker_id, { ...row, lease_until: Math.max(row.lease_until, lease.until) })
        return true
      }),
    close: (worker_id) =>
      write(() => {
        const row = rows().get(worker_id)
        if (!row || row.closed_at !== null || hasOpenAttempt(store, worker_id)) return
        rows().set(worker_id, { ...row, closed_at: now() })
      }),
    list: async () => {
      call()
      return link.read(() =>
        [...rows().values()]
          .toSorted((a, b) => a.started_at - b.started_at || (a.worker_id < b.worker_id ? -1 : 1))
          .map(({ owner: _owner, ...row }) => row),
      )
    },
    gone: async (worker_id) => {
      call()
      return link.read(() => {
        const row = rows().get(worker_id)
        if (!row) return null
        if (row.gone !== null) return row.gone.proof
        return row.closed_at === null ? link.gone(row.owner) : "closed"
      })
    },
    markGone: (worker_id, proof) =>
      write(() => {
        const row = rows().get(worker_id)
        if (row && row.gone === null) rows().set(worker_id, { ...row, gone: { at: now(), proof } })
      }),
  }
}
