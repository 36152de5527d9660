/**
 * A process of the simulation: one engine behind ports that can be delayed, frozen or cut off at every await.
 *
 * PR1. A dead process hears nothing any more; what it had sent goes on.
 * PR2. A frozen process hears everything later, in order, when it thaws. Its clocks go on, or stand still as in a suspend.
 */
import type { Clock } from "@invokejs/engine"
import type { Scheduler } from "../scheduler.ts"

/** What processes of one machine share: the wall clock, which people and daemons set. */
export interface Machine {
  wall_offset_ms: number
}

export class SimProcess {
  readonly name: string
  readonly machine: Machine
  readonly #scheduler: Scheduler
  readonly #held: (() => void)[] = []
  #state: "alive" | "frozen" | "dead" = "alive"
  #suspendedAt: number | null = null
  #suspended = 0

  constructor(name: string, scheduler: Scheduler, machine: Machine) {
    this.name = name
    this.machine = machine
    this.#scheduler = scheduler
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

  wall(): number {
    return this.#scheduler.now + this.machine.wall_offset_ms
  }

  get clock(): Clock {
    const scheduler = this.#scheduler
    return {
      wall: () => this.wall(),
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
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
