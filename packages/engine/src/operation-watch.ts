/**
 * Waiting for an operation to move: joiners and first callers wait on its row (protocol §2, "Joining").
 *
 * Owns: the list of those who wait, woken by the journal's notice, with polling as ground truth.
 *
 * WA1. A waiter survives its leader: it waits on the row, not on a promise of another call.
 * WA2. A waiter is never promoted to dispatcher.
 * WA3. The end of a wait, or an aborted signal, ends the waiting, never the operation.
 */
import type { Operation } from "@invokejs/protocol"
import type { Clock } from "./ports/clock.ts"
import type { Journal } from "./ports/journal.ts"

/** How often the row is read without a notice: another process may have written and its notice be lost. */
const POLL_MS = 1_000

interface Waiter {
  readonly enough: (operation: Operation) => boolean
  readonly done: (operation: Operation | null) => void
}

export class OperationWatch {
  readonly #journal: Journal
  readonly #clock: Clock
  readonly #waiting = new Map<string, Set<Waiter>>()
  readonly #reading = new Map<string, boolean>()
  readonly #unsubscribe: () => void
  #stopPoll: (() => void) | null = null
  #closed = false

  constructor(journal: Journal, clock: Clock) {
    this.#journal = journal
    this.#clock = clock
    this.#unsubscribe = journal.subscribe((ids) => this.#notice(ids))
  }

  /** Resolves with the first row that is `enough`, or with the newest one when the wait is over. */
  async wait(
    operation: Operation,
    options: {
      readonly enough: (operation: Operation) => boolean
      readonly wait_ms: number
      readonly signal?: AbortSignal
    },
  ): Promise<Operation> {
    if (options.enough(operation) || options.wait_ms <= 0 || options.signal?.aborted || this.#closed) return operation
    const id = operation.operation_id
    const waiting = new Promise<Operation | null>((resolve) => {
      const waiter: Waiter = { enough: options.enough, done: (row) => finish(row) }
      const stopTimer = this.#clock.after(options.wait_ms, () => finish(null), { keep_alive: true })
      const onAbort = () => finish(null)
      const finish = (row: Operation | null) => {
        stopTimer()
        options.signal?.removeEventListener("abort", onAbort)
        this.#remove(id, waiter)
        resolve(row)
      }
      options.signal?.addEventListener("abort", onAbort, { once: true })
      const set = this.#waiting.get(id) ?? new Set()
      set.add(waiter)
      this.#waiting.set(id, set)
      this.#schedule()
    })
    void this.#check(id)
    return (await waiting) ?? (await this.#journal.operation(id).catch(() => null)) ?? operation
  }

  /** Ends every wait with the row as it is now, while it can still be read (WA3). */
  async close(): Promise<void> {
    this.#closed = true
    this.#unsubscribe()
    this.#stopPoll?.()
    this.#stopPoll = null
    for (const [id, waiters] of [...this.#waiting]) {
      const row = await this.#journal.operation(id).catch(() => null)
      for (const waiter of [...waiters]) waiter.done(row)
    }
  }

  #remove(id: string, waiter: Waiter): void {
    const set = this.#waiting.get(id)
    set?.delete(waiter)
    if (set?.size === 0) this.#waiting.delete(id)
  }

  #notice(ids: readonly string[] | null): void {
    if (this.#waiting.size === 0) return
    for (const id of ids ?? [...this.#waiting.keys()]) if (this.#waiting.has(id)) void this.#check(id)
  }

  /** One read serves all who wait for the row; a notice during it makes another. */
  async #check(id: string): Promise<void> {
    if (this.#reading.has(id)) {
      this.#reading.set(id, true)
      return
    }
    this.#reading.set(id, false)
    await this.#read(id)
    const again = this.#reading.get(id) === true
    this.#reading.delete(id)
    if (again && this.#waiting.has(id)) await this.#check(id)
  }

  async #read(id: string): Promise<void> {
    const row = await this.#journal.operation(id).catch(() => null)
    if (!row) return
    for (const waiter of this.#waiting.get(id) ?? []) if (waiter.enough(row)) waiter.done(row)
  }

  #schedule(): void {
    if (this.#stopPoll || this.#closed || this.#waiting.size === 0) return
    this.#stopPoll = this.#clock.after(POLL_MS, () => {
      this.#stopPoll = null
      this.#notice(null)
      this.#schedule()
    })
  }
}
