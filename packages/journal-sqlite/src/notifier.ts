/**
 * Tells listeners what was committed: at once for commits of this process, by polling for those of others.
 *
 * NO1. A commit is told after it is durable, never before.
 * NO2. A commit of another process is told as null within `POLL_MS`; one too many is told rather than one too few.
 * NO3. Polling runs only while somebody listens, and keeps no process alive.
 */
import type { Clock } from "@invokejs/engine"

/** How late a joiner may hear of another process's commit. A poll reads one number from shared memory. */
const POLL_MS = 100

type Listener = (operation_ids: readonly string[] | null) => void

export class Notifier {
  readonly #clock: Clock
  /** The connection's data version; throws where the journal cannot be read. */
  readonly #dataVersion: () => number
  /** Number of the last commit in the journal. */
  readonly #commits: () => number
  readonly #listeners = new Set<Listener>()
  readonly #own = new Set<number>()
  #version = -1
  #seen = 0
  #cancel: (() => void) | null = null

  constructor(clock: Clock, dataVersion: () => number, commits: () => number) {
    this.#clock = clock
    this.#dataVersion = dataVersion
    this.#commits = commits
  }

  subscribe(listener: Listener): () => void {
    // Wrapped, so that one function may listen twice.
    const own: Listener = (ids) => listener(ids)
    if (this.#listeners.size === 0) {
      this.#seen = this.#commits()
      this.#version = this.#dataVersion()
      this.#schedule()
    }
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size === 0) this.stop()
    }
  }

  committed(commit: number, operation_ids: readonly string[]): void {
    if (this.#listeners.size === 0) return
    if (commit > this.#seen) this.#own.add(commit)
    if (operation_ids.length > 0) this.#tell(operation_ids)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#own.clear()
  }

  #schedule(): void {
    this.#cancel = this.#clock.after(POLL_MS, () => {
      if (this.#cancel === null) return
      this.#poll()
      this.#schedule()
    })
  }

  #poll(): void {
    let current: number
    try {
      const version = this.#dataVersion()
      if (version === this.#version) return
      this.#version = version
      current = this.#commits()
    } catch {
      // Whoever reads next hears the error; a listener only has to look again.
      this.#tell(null)
      return
    }
    let mine = 0
    for (const commit of this.#own) {
      if (commit > current) continue
      mine += 1
      this.#own.delete(commit)
    }
    const foreign = current - this.#seen > mine
    this.#seen = current
    if (foreign) this.#tell(null)
  }

  #tell(ids: readonly string[] | null): void {
    // Apart from the commit that is told: a listener that throws must not keep others from hearing what became of theirs.
    for (const listener of this.#listeners) queueMicrotask(() => listener(ids))
  }
}
