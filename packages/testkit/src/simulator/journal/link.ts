/**
 * How a process reaches the store: the door through which a simulation puts its faults.
 *
 * LK1. What `read` and `write` are given runs at the store, at one moment. Both may be late, fail, or never answer.
 * LK2. `settle` waits until nothing of that operation is under way at the store (R23).
 */
export interface Link {
  /** What the process's clock says that database time is. */
  clock(): number
  /** What stamps a commit that is made now. */
  stamp(): number
  after(ms: number, fn: () => void): () => void
  read<T>(run: () => T): Promise<T>
  write<T>(run: () => T, operation_id: string | null): Promise<T>
  settle<T>(operation_id: string, run: () => T): Promise<T>
  /** The process itself: whose ids its workers have. */
  readonly owner: object
  /** Proof that the worker's process is gone; null: none. */
  gone(owner: object): string | null
}

/** No faults: every call is answered at once. */
export function plainLink(parts: Pick<Link, "clock" | "after" | "owner">): Link {
  const atOnce = async <T>(run: () => T): Promise<T> => run()
  return {
    ...parts,
    stamp: parts.clock,
    read: atOnce,
    write: atOnce,
    settle: (_operation_id, run) => atOnce(run),
    gone: () => null,
  }
}
