/**
 * Holds requests inside the provider at a named place until a test opens it: "in flight" as a condition that can be
 * waited for, not as a race against a timer.
 */
export type GatePlace = "open" | "before_effect" | "after_effect"

export class Gate {
  #closed: GatePlace = "open"
  #waiting: (() => void)[] = []
  #watchers: { readonly count: number; readonly seen: () => void }[] = []

  /** Closes the gate at one place, or opens it and lets everybody through. */
  set(place: GatePlace): void {
    this.#closed = place
    if (place !== "open") return
    const waiting = this.#waiting
    this.#waiting = []
    for (const pass of waiting) pass()
  }

  async pass(place: GatePlace): Promise<void> {
    if (this.#closed !== place) return
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      for (const { count, seen } of this.#watchers) if (this.#waiting.length >= count) seen()
    })
  }

  /** Resolves once that many requests stand at the gate. */
  async filled(count: number): Promise<void> {
    if (this.#waiting.length >= count) return
    await new Promise<void>((seen) => {
      this.#watchers.push({ count, seen })
    })
  }
}
