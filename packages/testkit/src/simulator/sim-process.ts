/**
 * A process of the simulation: one engine behind ports that can be delayed, frozen or cut off at every await.
 *
 * PR1. A dead process hears nothing any more; what it had sent goes on.
 * PR2. A frozen process hears everything later, in order, when it thaws. Its clocks go on, or stand still as in a suspend.
 */
import { JournalError, type Clock } from "@invokejs/engine"
import type { Scheduler } from "./scheduler.ts"
import type { SeededRandom } from "./seeded-random.ts"
import type { Link } from "./memory-journal.ts"
import type { FaultCounts } from "./fault-counts.ts"

export interface LinkFaults {
  /** Probability per call that the journal does not take it. */
  readonly unavailable: number
  /** Probability per write that its commit's answer is lost. */
  readonly doubt: number
  readonly slow: number
}

export class SimProcess {
  readonly name: string
  readonly #scheduler: Scheduler
  readonly #random: SeededRandom
  readonly #counts: FaultCounts
  readonly #faults: () => LinkFaults
  readonly #held: (() => void)[] = []
  #state: "alive" | "frozen" | "dead" = "alive"
  #suspendedAt: number | null = null
  #suspended = 0
  #wallOffset = 0

  constructor(name: string, scheduler: Scheduler, random: SeededRandom, counts: FaultCounts, faults: () => LinkFaults) {
    this.name = name
    this.#scheduler = scheduler
    this.#random = random
    this.#counts = counts
    this.#faults = faults
  }

  get state(): "alive" | "frozen" | "dead" {
    return this.#state
  }

  kill(): void {
    this.#state = "dead"
    this.#held.length = 0
  }

  /** `suspend`: the monotonic clock stands still meanwhile. */
  freeze(suspend: boolean): void {
    if (this.#state !== "alive") return
    this.#state = "frozen"
    if (suspend) this.#suspendedAt = this.#scheduler.now
  }

  thaw(): void {
    if (this.#state !== "frozen") return
    this.#state = "alive"
    if (this.#suspendedAt !== null) this.#suspended += this.#scheduler.now - this.#suspendedAt
    this.#suspendedAt = null
    for (const resume of this.#held.splice(0)) this.#deliver(resume)
  }

  stepWall(ms: number): void {
    this.#wallOffset += ms
  }

  get clock(): Clock {
    const scheduler = this.#scheduler
    return {
      wall: () => scheduler.now + this.#wallOffset,
      monotonic: () => (this.#suspendedAt ?? scheduler.now) - this.#suspended,
      after: (ms, fn) => scheduler.after(ms, () => this.#deliver(fn)),
    }
  }

  /** Something arrives at this process. */
  #deliver(fn: () => void): void {
    if (this.#state === "dead") return
    if (this.#state === "frozen") {
      this.#held.push(() => this.#deliver(fn))
      return
    }
    fn()
  }

  /** Runs `ask` somewhere outside after `there` ms and hears its answer `back` ms later, if it still hears. */
  outside<T>(ask: () => T | Promise<T>, there: number, back: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#scheduler.after(there, () => {
        const hear = (settle: () => void) => this.#scheduler.after(back, () => this.#deliver(settle))
        try {
          Promise.resolve(ask()).then(
            (value) => hear(() => resolve(value)),
            (error: unknown) => hear(() => reject(asError(error))),
          )
        } catch (error) {
          hear(() => reject(asError(error)))
        }
      })
    })
  }

  link(gone: (worker_id: string) => string | null): Link {
    const random = this.#random
    const latency = () => (random.chance(this.#faults().slow) ? this.#slow() : random.between(0, 3))
    return {
      now: () => this.#scheduler.now,
      gone,
      read: (run) => this.outside(run, 0, latency()),
      write: (run) => {
        const { unavailable, doubt } = this.#faults()
        if (random.chance(unavailable)) {
          this.#counts.add("journal_unavailable")
          return this.outside(() => Promise.reject(new JournalError("journal_unavailable", "simulated")), 0, latency())
        }
        if (random.chance(doubt)) return this.#doubtful(run, latency())
        return this.outside(run, latency(), latency())
      },
    }
  }

  /** The commit's answer is lost; it took place, or not. The truth is known by the time somebody asks with a lock. */
  #doubtful<T>(run: () => T, delay: number): Promise<T> {
    const landed = this.#random.chance(0.5)
    this.#counts.add(landed ? "commit_in_doubt_landed" : "commit_in_doubt_lost")
    return this.outside(
      () => {
        if (landed) run()
        return Promise.reject<T>(new JournalError("commit_in_doubt", "simulated"))
      },
      delay,
      delay,
    )
  }

  #slow(): number {
    this.#counts.add("journal_slow")
    return this.#random.between(50, 20_000)
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
