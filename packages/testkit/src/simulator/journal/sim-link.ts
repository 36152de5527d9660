/**
 * A process's way to the store in a simulation, with everything that can happen on it.
 *
 * SL1. The answer of a commit can be lost: it took place, it did not, or it takes place after its maker was told that nobody
 *      knows, before a locking read of the operation is answered (R23).
 */
import { JournalError } from "@invokejs/engine"
import type { FaultCounts } from "../fault-counts.ts"
import type { Scheduler } from "../scheduler.ts"
import type { SeededRandom } from "../seeded-random.ts"
import type { SimProcess } from "../world/sim-process.ts"
import type { Link } from "./link.ts"

export interface LinkFaults {
  /** Probability per write that the journal does not take it. */
  readonly unavailable: number
  /** Probability per read that the journal does not answer it. */
  readonly unreadable: number
  /** Probability per write that its commit's answer is lost. */
  readonly doubt: number
  readonly slow: number
}

/** Commits that are on their way at the store although their makers have been answered. */
export class Landings {
  readonly #landing = new Map<string, Set<Promise<void>>>()

  add(operation_id: string, landed: Promise<void>): void {
    const known = this.#landing.get(operation_id) ?? new Set()
    this.#landing.set(operation_id, known)
    known.add(landed)
    void landed.then(() => known.delete(landed))
  }

  async over(operation_id: string): Promise<void> {
    await Promise.all([...(this.#landing.get(operation_id) ?? [])])
  }
}

/** The clock of the database: its own machine's, or that of the machine on which the processes are. */
export interface DatabaseClock {
  readonly offset_ms: number
  /** Whether it is the wall clock of each process itself, as with a file. */
  readonly local: boolean
}

export interface LinkParts {
  readonly process: SimProcess
  readonly scheduler: Scheduler
  readonly random: SeededRandom
  readonly counts: FaultCounts
  readonly landings: Landings
  readonly database: () => DatabaseClock
  /** How far off this process's idea of the database's clock is. */
  readonly clock_error_ms: number
  readonly faults: () => LinkFaults
  /** Whether a dead process leaves a proof that it is dead. */
  readonly proves: boolean
}

/** The longest time for which a commit lands after its answer: within the tolerance for its `at`. */
const LATE_MS = 1_500

export function simLink(parts: LinkParts): Link {
  const { process, scheduler, random, counts, landings, faults, database } = parts
  const latency = () => {
    if (!random.chance(faults().slow)) return random.between(0, 3)
    counts.add("journal_slow")
    return random.between(50, 20_000)
  }
  const stamp = () => (database().local ? process.wall() : scheduler.now + database().offset_ms)
  const refuse = <T>(): Promise<T> => Promise.reject(new JournalError("journal_unavailable", "simulated"))

  function read<T>(run: () => T): Promise<T> {
    if (random.chance(faults().unreadable)) {
      counts.add("journal_unreadable")
      return process.outside(() => refuse<T>(), 0, latency())
    }
    return process.outside(run, 0, latency())
  }

  function doubtful<T>(run: () => T, operation_id: string | null): Promise<T> {
    const fate = random.pick(
      operation_id === null ? (["landed", "lost"] as const) : (["landed", "lost", "late"] as const),
    )
    counts.add(`commit_in_doubt_${fate}`)
    const delay = latency()
    return process.outside(
      () => {
        if (fate === "landed") run()
        if (fate === "late" && operation_id !== null) {
          landings.add(
            operation_id,
            scheduler.sleep(random.between(1, LATE_MS)).then(() => void run()),
          )
        }
        return Promise.reject<T>(new JournalError("commit_in_doubt", "simulated"))
      },
      delay,
      delay,
    )
  }

  return {
    owner: process,
    clock: () => (database().local ? process.wall() : stamp() + parts.clock_error_ms),
    stamp,
    after: (ms, fn) => process.clock.after(ms, fn),
    gone: (owner) => (parts.proves && (owner as SimProcess).state === "dead" ? "its lock is free" : null),
    read,
    write: (run, operation_id) => {
      if (random.chance(faults().unavailable)) {
        counts.add("journal_unavailable")
        return process.outside(() => refuse(), 0, latency())
      }
      if (random.chance(faults().doubt)) return doubtful(run, operation_id)
      return process.outside(run, latency(), latency())
    },
    settle: (operation_id, run) => {
      if (random.chance(faults().unavailable)) {
        counts.add("journal_unavailable")
        return process.outside(() => refuse(), 0, latency())
      }
      return process.outside(() => landings.over(operation_id).then(run), latency(), latency())
    },
  }
}
