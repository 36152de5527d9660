/**
 * Gathers what arrives while one commit is in flight into the next one, on the caller's side of the writer.
 *
 * Owns: the queue, and what a caller is told when the writer ends with its commit unanswered.
 * Must not: run SQL.
 *
 * GC1. At most one batch is in flight; entries keep their order.
 * GC2. The queue is bounded: a caller hears `overloaded` at once rather than wait without end.
 * GC3. A batch whose writer ended is in doubt; entries that were never handed over are handed to the next writer.
 * GC4. While something is pending the writer keeps the process alive; otherwise it does not.
 */
import { JournalError } from "@invokejs/engine"

import type { CopyOrder } from "./backup.ts"
import type { Entry } from "./entries.ts"
import type { BatchReply, EntryReply } from "./journal-writer.ts"

/** One side of a writer, in this thread or another. */
export interface WriterLink {
  commit(entries: readonly Entry[]): Promise<BatchReply>
  copyTo(order: CopyOrder): Promise<void>
  /** Brings the sibling file up to the last commit, when there is time. */
  seal(): void
  close(): Promise<void>
  /** Nothing more can be asked of it, and nothing more was written. */
  ended(): boolean
  /** Whether the writer's thread keeps the process alive. */
  hold(alive: boolean): void
}

/** About what a fast disk commits in a tenth of a second: more waiting means that the disk is not keeping up. */
const QUEUE_MAX = 8_192
/** Bodies and their copies held in memory for the queue. */
const QUEUE_BYTES_MAX = 128 * 1024 * 1024
/** One commit holds the write lock that other processes wait for, so it is kept to a few ms of work. */
const BATCH_MAX = 512
const BATCH_BYTES_MAX = 4 * 1024 * 1024

export interface Answered {
  readonly reply: EntryReply
  readonly now: number
}

interface Waiting {
  readonly entry: Entry
  readonly bytes: number
  readonly resolve: (answered: Answered) => void
  readonly reject: (error: JournalError) => void
}

export class GroupCommit {
  readonly #connect: () => Promise<WriterLink>
  readonly #heard: (reply: BatchReply, entries: readonly Entry[]) => void
  #link: WriterLink | null
  #connecting: Promise<WriterLink> | null = null
  #queue: Waiting[] = []
  #bytes = 0
  #busy = false
  #held = 0
  #closed = false
  #idle: (() => void)[] = []

  constructor(
    link: WriterLink,
    connect: () => Promise<WriterLink>,
    heard: (reply: BatchReply, entries: readonly Entry[]) => void,
  ) {
    this.#link = link
    this.#connect = connect
    this.#heard = heard
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Answers with the entry's own reply and the database time of the transaction that it was judged in. */
  submit(entry: Entry): Promise<Answered> {
    const bytes = entry.kind === "write" ? entry.write.change.body.length : 0
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new JournalError("journal_closed", "the journal is closed"))
      if (this.#queue.length >= QUEUE_MAX || this.#bytes + bytes > QUEUE_BYTES_MAX) {
        return reject(new JournalError("overloaded", `${this.#queue.length} writes wait for the journal`))
      }
      this.#queue.push({ entry, bytes, resolve, reject })
      this.#bytes += bytes
      this.#pump()
    })
  }

  async copyTo(order: CopyOrder): Promise<void> {
    const link = await this.#linked()
    this.#hold(link, 1)
    try {
      await link.copyTo(order)
    } finally {
      this.#hold(link, -1)
    }
  }

  /** Only while nothing is under way: a commit that follows seals by itself. */
  seal(): void {
    if (!this.#busy) this.#link?.seal()
  }

  /** Ends the writer once everything is answered; `before` runs in between. */
  async close(before: () => void): Promise<void> {
    this.#closed = true
    await this.#quiet()
    before()
    const link = this.#link
    this.#link = null
    if (!link) return
    link.hold(true)
    await link.close()
  }

  /** Settles when nothing waits and nothing is in flight. */
  #quiet(): Promise<void> {
    if (!this.#busy && this.#queue.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  #pump(): void {
    if (this.#busy || this.#queue.length === 0) return
    this.#busy = true
    // The rest of this turn's entries join the batch.
    queueMicrotask(() => void this.#run())
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#commit(this.#nextBatch())
    }
    this.#busy = false
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #nextBatch(): readonly Waiting[] {
    let count = 0
    let bytes = 0
    for (const waiting of this.#queue) {
      if (count > 0 && (count >= BATCH_MAX || bytes + waiting.bytes > BATCH_BYTES_MAX)) break
      count += 1
      bytes += waiting.bytes
    }
    this.#bytes -= bytes
    return this.#queue.splice(0, count)
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    let link: WriterLink
    try {
      link = await this.#linked()
    } catch (error) {
      for (const waiting of batch) waiting.reject(error as JournalError)
      return
    }
    this.#hold(link, 1)
    const entries = batch.map(({ entry }) => entry)
    let reply: BatchReply
    try {
      reply = await link.commit(entries)
    } catch (error) {
      const doubt = new JournalError("commit_in_doubt", "the writer ended with this commit unanswered", {
        cause: error,
      })
      for (const waiting of batch) waiting.reject(doubt)
      return
    } finally {
      this.#hold(link, -1)
    }
    this.#heard(reply, entries)
    for (const [index, waiting] of batch.entries()) {
      const answer = reply.replies[index]
      if (answer) waiting.resolve({ reply: answer, now: reply.now })
    }
  }

  /** What is under way keeps the process alive (GC4). */
  #hold(link: WriterLink, more: 1 | -1): void {
    this.#held += more
    link.hold(this.#held > 0)
  }

  async #linked(): Promise<WriterLink> {
    if (this.#link !== null && !this.#link.ended()) return this.#link
    // Whoever asks meanwhile gets the same writer: there is one per process.
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = null))
    this.#link = await this.#connecting
    return this.#link
  }
}
