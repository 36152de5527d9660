/**
 * Virtual time: everything that happens in a run happens here, one thing after another.
 *
 * SC1. Between two things all promises that can go on have gone on.
 * SC2. Things of one moment happen in the order in which they were asked for.
 */
interface Entry {
  readonly at: number
  readonly order: number
  run: (() => void) | null
}

export class Scheduler {
  now: number
  events = 0
  readonly #heap: Entry[] = []
  #order = 0

  constructor(start: number) {
    this.now = start
  }

  /** Runs `fn` after `ms`. Returns a function that takes it back. */
  after(ms: number, fn: () => void): () => void {
    this.#order += 1
    const entry: Entry = { at: this.now + Math.max(0, Math.ceil(ms)), order: this.#order, run: fn }
    this.#push(entry)
    return () => {
      entry.run = null
    }
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve))
  }

  /** Lets time go on until `done` holds, nothing is left, or `until` is reached. */
  async run(until: number, done: () => boolean = () => false): Promise<void> {
    await drained()
    while (!done()) {
      const entry = this.#heap[0]
      if (!entry || entry.at > until) break
      this.#pop()
      if (!entry.run) continue
      this.now = Math.max(this.now, entry.at)
      this.events += 1
      entry.run()
      await drained()
    }
    if (!done()) this.now = Math.max(this.now, until)
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let index = heap.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent]
      if (!above || !before(entry, above)) break
      heap[index] = above
      index = parent
    }
    heap[index] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      const left = heap[child]
      if (!left) break
      const right = heap[child + 1]
      if (right && before(right, left)) child += 1
      const next = heap[child]
      if (!next || !before(next, last)) break
      heap[index] = next
      index = child
    }
    heap[index] = last
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/** Every promise that can go on has gone on when the next turn of the event loop begins. */
function drained(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
