/**
 * A provider's memory of keys, as its contract says it is.
 *
 * KY1. What took effect under a key is remembered for the retention, also where the answer was an error.
 * KY2. A key is remembered from the arrival of its first request.
 */
import type { FaultCounts } from "../fault-counts.ts"
import type { SentRequest } from "../history.ts"
import type { Scheduler } from "../scheduler.ts"
import type { SimAnswer } from "./sim-provider.ts"
import type { KeyShape } from "./provider-shape.ts"

interface Entry {
  readonly first_at: number
  readonly body: string
  readonly done: Promise<SimAnswer | null>
  /** null while it runs, or where it left nothing to replay. */
  answer: SimAnswer | null
}

export interface Worked {
  readonly answer: SimAnswer
  readonly applied: SimAnswer | null
}

export class KeyLayer {
  readonly #shape: KeyShape
  readonly #scheduler: Scheduler
  readonly #counts: FaultCounts
  readonly #entries = new Map<string, Entry>()

  constructor(shape: KeyShape, scheduler: Scheduler, counts: FaultCounts) {
    this.#shape = shape
    this.#scheduler = scheduler
    this.#counts = counts
  }

  async serve(request: SentRequest, work: () => Promise<Worked>): Promise<SimAnswer> {
    if (this.#shape.replay === "executes") return (await work()).answer
    const known = this.#known(request.key)
    if (!known) return this.#first(request, work)
    if (known.body !== request.body) {
      this.#counts.add("key_mismatch")
      if (this.#shape.on_mismatch === "refuses") return { status: 400 }
    }
    if (known.answer) return this.#replay(known.answer)
    return this.#besideOther(request, known, work)
  }

  async #besideOther(request: SentRequest, known: Entry, work: () => Promise<Worked>): Promise<SimAnswer> {
    this.#counts.add(`key_in_flight_${this.#shape.in_flight}`)
    switch (this.#shape.in_flight) {
      case "refuses":
        return { status: 409 }
      case "races":
        return (await work()).answer
      case "waits": {
        const answer = await known.done
        return answer ? this.#replay(answer) : this.serve(request, work)
      }
    }
  }

  #replay(answer: SimAnswer): SimAnswer {
    this.#counts.add("key_replayed")
    return answer
  }

  #known(key: string): Entry | null {
    const entry = this.#entries.get(key)
    if (!entry) return null
    if (this.#scheduler.now - entry.first_at < this.#shape.retention_ms) return entry
    this.#counts.add("key_expired")
    return null
  }

  async #first(request: SentRequest, work: () => Promise<Worked>): Promise<SimAnswer> {
    let finish: (answer: SimAnswer | null) => void = () => undefined
    const done = new Promise<SimAnswer | null>((resolve) => (finish = resolve))
    const entry: Entry = { first_at: this.#scheduler.now, body: request.body, done, answer: null }
    this.#entries.set(request.key, entry)
    const { answer, applied } = await work()
    entry.answer = applied ?? (this.#shape.replays_errors ? answer : null)
    if (entry.answer === null && this.#entries.get(request.key) === entry) this.#entries.delete(request.key)
    finish(entry.answer)
    return answer
  }
}
