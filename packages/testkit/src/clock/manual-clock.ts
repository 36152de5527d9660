/**
 * A clock that stands still until it is told to go: both readings and all timers of an engine under test.
 *
 * MC1. Timers fire in order of their time; between two of them everything that is ready runs first.
 * MC2. The two readings can be moved apart, as a suspend or a step of the wall clock does.
 */
import type { Clock } from "@invokejs/engine"

interface Timer {
  readonly at: number
  readonly order: number
  readonly fn: () => void
}

/** Turns of the event loop in which work that is ready may run before time goes on. */
const TURNS = 12

export class ManualClock implements Clock {
  #wall: number
  #monotonic = 1_000
  #order = 0
  readonly #timers = new Set<Timer>()

  constructor(wall: number = Date.UTC(2026, 0, 1)) {
    this.#wall = wall
  }

  wall(): number {
    return this.#wall
  }

  monotonic(): number {
    return this.#monotonic
  }

  after(ms: number, fn: () => void): () => void {
    this.#order += 1
    const timer = { at: this.#monotonic + Math.max(0, ms), order: this.#order, fn }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Lets time pass: every timer on the way fires at its moment. */
  async advance(ms: number): Promise<void> {
    const target = this.#monotonic + ms
    await this.idle()
    for (;;) {
      const next = this.#next(target)
      if (!next) break
      this.#go(next.at)
      this.#timers.delete(next)
      next.fn()
      await this.idle()
    }
    this.#go(target)
    await this.idle()
  }

  /** Lets time pass in steps until the condition holds; fails after `limit_ms` of this clock. */
  async until(holds: () => boolean | Promise<boolean>, limit_ms = 48 * 3_600_000): Promise<void> {
    const start = this.#monotonic
    for (;;) {
      await this.idle()
      if (await holds()) return
      const next = this.#next(start + limit_ms)
      if (!next) throw new Error(`the condition did not hold within ${limit_ms} ms of manual time`)
      await this.advance(Math.max(1, next.at - this.#monotonic))
    }
  }

  /** Only the wall clock moves: a suspended machine, or a step. */
  stepWall(ms: number): void {
    this.#wall += ms
  }

  /** Runs what is ready, without letting time pass. */
  async idle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve))
  }

  #go(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic
    this.#monotonic = monotonic
  }

  #next(target: number): Timer | null {
    let next: Timer | null = null
    for (const timer of this.#timers) {
      if (timer.at > target) continue
      if (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer
    }
    return next
  }
}
