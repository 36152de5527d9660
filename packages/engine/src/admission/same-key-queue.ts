/**
 * Calls of one process that name the same action go to the journal one after another.
 *
 * Owns: an order, nothing else. The journal's unique rows decide who admits, with or without this; it spares ten thousand
 * identical calls from writing ten thousand admissions of which one can win.
 */
export class SameKeyQueue {
  readonly #tails = new Map<string, Promise<void>>()

  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = keys.map((key) => this.#tails.get(key)).filter((tail) => tail !== undefined)
    let release: () => void = () => undefined
    const done = new Promise<void>((resolve) => {
      release = resolve
    })
    for (const key of keys) this.#tails.set(key, done)
    try {
      if (before.length > 0) await Promise.all(before)
      return await work()
    } finally {
      release()
      for (const key of keys) if (this.#tails.get(key) === done) this.#tails.delete(key)
    }
  }
}
