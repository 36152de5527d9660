/**
 * The clock of one case: it stands still while anything is under way, and jumps to the next timer when nothing is.
 *
 * Owns: both readings and all timers of the engines of a case, and the decision that nothing is under way.
 * Must not: say how long something took. Five minutes pass in one step.
 *
 * CC1. Time goes on only when the world is quiet: no tool runs but one that waits for an answer that is kept from it.
 * CC2. A tool that really waits (its own timer, its own computation) is waited for, `PATIENCE_MS` without any sign of life.
 */
import { systemClock, type Clock } from "@invokejs/engine"
import { pause, realNow, turns } from "./real-time.ts"

/** A sign of life is a request, an answer, or the end of a function. A loaded machine may need a while for one. */
const PATIENCE_MS = 3_000

interface Timer {
  readonly at: number
  readonly order: number
  readonly fn: () => void
}

export interface Quiet {
  /** Something is under way that real time, not the case's, will end. */
  busy(): boolean
  /** Grows with every sign of life. */
  life(): number
  /** Whatever is under way is not waited for any more: time runs on over it. */
  giveUp(): void
}

export class CompressedClock implements Clock {
  readonly #timers = new Set<Timer>()
  readonly #start: number
  #now = 0
  #order = 0

  constructor(wall: number) {
    this.#start = Math.floor(wall)
  }

  wall(): number {
    return this.#start + this.#now
  }

  monotonic(): number {
    return this.#now
  }

  /** How far it is ahead of the machine's own clock. */
  ahead(): number {
    return Math.max(0, Math.round(this.wall() - systemClock.wall()))
  }

  /** Ms since the case began. */
  get elapsed(): number {
    return this.#now
  }

  after(ms: number, fn: () => void): () => void {
    this.#order += 1
    const timer = { at: this.#now + Math.max(0, ms), order: this.#order, fn }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Lets time pass until `done`; false when `limit_ms` of the case's time went by, or no timer is left. */
  async drive(quiet: Quiet, done: () => boolean | Promise<boolean>, limit_ms: number): Promise<boolean> {
    const end = this.#now + limit_ms
    for (;;) {
      await this.#calm(quiet)
      if (await done()) return true
      const next = this.#next()
      if (next === null || next.at > end) return false
      this.#now = Math.max(this.#now, next.at)
      this.#timers.delete(next)
      next.fn()
    }
  }

  /** Lets that much time pass, and everything that falls into it happen. */
  async pass(quiet: Quiet, ms: number): Promise<void> {
    let over = false
    const stop = this.after(ms, () => (over = true))
    await this.drive(quiet, () => over, ms)
    stop()
  }

  async #calm(quiet: Quiet): Promise<void> {
    let life = quiet.life()
    let since = realNow()
    for (;;) {
      await turns(4)
      if (!quiet.busy()) {
        await turns(4)
        if (!quiet.busy()) return
      }
      if (quiet.life() !== life) {
        life = quiet.life()
        since = realNow()
      } else if (realNow() - since > PATIENCE_MS) {
        quiet.giveUp()
        return
      }
      await pause(1)
    }
  }

  #next(): Timer | null {
    let next: Timer | null = null
    for (const timer of this.#timers) {
      if (next === null || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer
    }
    return next
  }
}
