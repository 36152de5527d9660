/**
 * What starts work in this process: calls that name the same action go to the journal one after another.
 *
 * Owns: an order, and the knowledge whether a commit that may start an attempt is under way. The journal's unique rows decide
 * who admits, with or without this; it spares ten thousand identical calls from writing ten thousand admissions of which one
 * can win.
 */
export class SameKeyQueue {
  readonly #tails = new Map<string, Promise<void>>()
  readonly #running = new Set<Promise<void>>()

  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = keys.map((key) => this.#tails.get(key)).filter((tail) => tail !== undefined)
    let release: () => void = () => undefined
    const done = new Promise<void>((resolve) => {
      release = resolve
    })
    for (const key of keys) this.#tails.set(key, done)
    this.#running.add(done)
    try {
      if (before.length > 0) await Promise.all(before)
      return await work()
    } finally {
      release()
      this.#running.delete(done)
      for (const key of keys) if (this.#tails.get(key) === done) this.#tails.delete(key)
    }
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
