/**
 * The outside world of a simulation: a provider of one contract shape, which counts its own effects.
 *
 * Owns: the truth. The oracle reads it in the history; the engine only ever asks it.
 *
 * PV1. What a provider declares (Q, V, retention, in flight, clock) is true of it.
 * PV2. An unacknowledged request lands arbitrarily late within Q of its last byte.
 * PV3. Somebody between us and a provider without keys may send a request once more: then it is made twice, or the second is
 *      refused and that refusal is what we hear.
 */
import type { FaultCounts } from "../fault-counts.ts"
import type { Effect, History, SentRequest } from "../history.ts"
import type { Scheduler } from "../scheduler.ts"
import type { SeededRandom } from "../seeded-random.ts"
import { KeyLayer, type Worked } from "./key-layer.ts"
import type { ProviderShape } from "./provider-shape.ts"
import { SimResources } from "./sim-resources.ts"

/** What a request says. */
export interface Incoming {
  readonly process: string
  readonly operation_id: string
  readonly attempt: number
  readonly key: string
  readonly action: string
  /** What others can see of the action; the resource, for a state. */
  readonly label: string
  /** Of a state. */
  readonly value: string
  readonly body: string
}

export interface SimAnswer {
  readonly status: number
  readonly object_id?: string
  readonly retry_after_s?: number
}

export interface ProviderFaults {
  readonly lost_request: number
  readonly late_landing: number
  readonly lost_answer: number
  readonly refused_before_key: number
  readonly rejected: number
  readonly error_after_effect: number
  readonly error_without_effect: number
  readonly repeated: number
  readonly reversed: number
  readonly slow_work: number
}

export interface LookFaults {
  readonly look_unanswered: number
  readonly look_incomplete: number
  readonly look_slow: number
}

export interface SimObject {
  readonly object_id: string
  readonly operation_id: string | null
  readonly key: string | null
  readonly label: string
  readonly created_at: number
  readonly visible_at: number
  readonly indexed_at: number
  readonly done_at: number
  readonly reversed_at: number | null
}

export class SimProvider {
  readonly shape: ProviderShape
  readonly tool: string
  readonly resources: SimResources
  readonly objects: SimObject[] = []
  /** Requests that have not come to their end. */
  readonly in_flight = new Set<SentRequest>()
  reachable = true
  readonly #makes: "object" | "state"
  readonly #accepts: boolean
  readonly #names: Map<string, SimObject | string> | null
  readonly #scheduler: Scheduler
  readonly #random: SeededRandom
  readonly #counts: FaultCounts
  readonly #history: History
  readonly #keys: KeyLayer | null

  constructor(
    about: {
      readonly tool: string
      readonly makes: "object" | "state"
      readonly accepts: boolean
      readonly named: boolean
      readonly shape: ProviderShape
    },
    parts: {
      readonly scheduler: Scheduler
      readonly random: SeededRandom
      readonly counts: FaultCounts
      readonly history: History
    },
  ) {
    const { shape, tool } = about
    this.shape = shape
    this.tool = tool
    this.#makes = about.makes
    this.#accepts = about.accepts
    this.#names = about.named ? new Map() : null
    this.#scheduler = parts.scheduler
    this.#random = parts.random
    this.#counts = parts.counts
    this.#history = parts.history
    this.#keys = shape.key ? new KeyLayer(shape.key, parts.scheduler, parts.counts) : null
    this.resources = new SimResources(parts.scheduler, parts.random, shape.strong ? 0 : shape.visibility_ms, (write) =>
      parts.history.writes.push(write),
    )
  }

  /** A request whose last byte left now. Null: no answer will come. */
  async receive(incoming: Incoming, faults: ProviderFaults): Promise<SimAnswer | null> {
    const random = this.#random
    const { process, operation_id, attempt, key, action, body } = incoming
    const sent: SentRequest = {
      ...{ process, operation_id, attempt, key, action, body, tool: this.tool },
      n: this.#history.requests.length + 1,
      at: this.#scheduler.now,
      landed_at: null,
      repeated: false,
    }
    this.#history.requests.push(sent)
    if (!this.reachable || random.chance(faults.lost_request)) {
      this.#counts.add("lost_request")
      return null
    }
    const most = Math.floor(this.shape.max_execution_ms * 0.9)
    const late = random.chance(faults.late_landing)
    if (late) this.#counts.add("late_landing")
    const delay = late
      ? random.between(Math.floor(most / 2), most)
      : random.between(1, Math.min(200, Math.floor(most / 4)))
    this.in_flight.add(sent)
    const first = this.#deliver(incoming, sent, faults, { delay, most })
    const deliveries = [first]
    if (random.chance(faults.repeated) && this.#keys === null && this.#makes === "object" && !this.#names) {
      this.#counts.add("repeated_between")
      sent.repeated = true
      deliveries.push(first.then((answer) => this.#serveAgain(incoming, sent, answer)))
    }
    const ended = Promise.all(deliveries).finally(() => this.in_flight.delete(sent))
    const answer = (await ended).at(-1) ?? null
    if (late || random.chance(faults.lost_answer)) {
      this.#counts.add("lost_answer")
      return null
    }
    return answer
  }

  async #deliver(
    incoming: Incoming,
    sent: SentRequest,
    faults: ProviderFaults,
    { delay, most }: { readonly delay: number; readonly most: number },
  ): Promise<SimAnswer> {
    const random = this.#random
    await this.#scheduler.sleep(delay)
    sent.landed_at ??= this.#scheduler.now
    if (random.chance(faults.refused_before_key)) {
      this.#counts.add("refused_before_key")
      const status = random.pick([401, 403, 429, 503])
      return status === 429 || status === 503 ? { status, retry_after_s: random.between(1, 90) } : { status }
    }
    const work = async (): Promise<Worked> => {
      if (random.chance(faults.slow_work)) {
        this.#counts.add("slow_work")
        await this.#scheduler.sleep(random.between(0, most - delay))
      }
      return this.#work(incoming, sent, faults)
    }
    return this.#keys ? this.#keys.serve(sent, work) : (await work()).answer
  }

  #work(incoming: Incoming, sent: SentRequest, faults: ProviderFaults): Worked {
    const random = this.#random
    if (this.#names?.has(incoming.key)) {
      this.#counts.add("name_taken")
      return { answer: { status: 409 }, applied: null }
    }
    if (random.chance(faults.rejected)) {
      this.#counts.add("rejected")
      return { answer: { status: 422 }, applied: null }
    }
    if (random.chance(faults.error_without_effect)) {
      this.#counts.add("error_without_effect")
      return { answer: { status: 500 }, applied: null }
    }
    const made = this.#makes === "state" ? this.#set(incoming) : this.#make(incoming, sent, faults, false)
    const applied = { status: this.#accepts ? 202 : random.pick([200, 201]), object_id: made }
    if (!random.chance(faults.error_after_effect)) return { answer: applied, applied }
    this.#counts.add("error_after_effect")
    return { answer: { status: random.pick([500, 504]) }, applied }
  }

  /** PV3. What was refused once is refused again. */
  async #serveAgain(incoming: Incoming, sent: SentRequest, answer: SimAnswer): Promise<SimAnswer> {
    await this.#scheduler.sleep(this.#random.between(1, 50))
    if (!this.#history.effects.some((one) => one.request === sent.n)) return answer
    if (this.#random.chance(0.5)) {
      this.#counts.add("refused_as_repeated")
      return { status: 422 }
    }
    return { status: 200, object_id: this.#make(incoming, sent, null, true) }
  }

  #set({ label, value, operation_id, attempt }: Incoming): string {
    const { version } = this.resources.set({ tool: this.tool, resource: label, value, operation_id, attempt })
    return `${label}/${version}`
  }

  #make(incoming: Incoming, sent: SentRequest, faults: ProviderFaults | null, again: boolean): string {
    const random = this.#random
    const { now } = this.#scheduler
    const { shape } = this
    const object_id = `${this.tool}_${this.objects.length + 1}`
    const settled_at = now + (this.#accepts ? random.between(1_000, shape.settles_ms) : 0)
    const reversed = this.#accepts && faults !== null && random.chance(faults.reversed)
    if (reversed) this.#counts.add("reversed")
    const { operation_id, attempt, action, label, key } = incoming
    const effect: Effect = {
      ...{ tool: this.tool, action, operation_id, attempt, object_id },
      at: now,
      request: sent.n,
      repeated: again,
      reversed_at: reversed ? settled_at : null,
    }
    this.#history.effects.push(effect)
    // What is refused as a repetition is refused because it is seen.
    const lag = sent.repeated || shape.strong ? 0 : random.between(0, shape.visibility_ms)
    const object: SimObject = {
      ...{ object_id, operation_id, label, key: shape.key ? key : null },
      created_at: this.#stamp(now),
      visible_at: now + lag,
      indexed_at: now + random.between(0, shape.index_lag_ms),
      done_at: reversed ? Number.POSITIVE_INFINITY : Math.max(settled_at, now + random.between(0, shape.processing_ms)),
      reversed_at: effect.reversed_at,
    }
    this.objects.push(object)
    this.#names?.set(key, object)
    return object_id
  }

  #stamp(at: number): number {
    const { resolution_ms, clock_off_ms } = this.shape
    return Math.floor((at + clock_off_ms) / resolution_ms) * resolution_ms
  }

  /** An object that somebody else made, as long ago as that. */
  place(label: string, age_ms: number): void {
    const at = this.#scheduler.now - age_ms
    const object_id = `stranger_${this.objects.length + 1}`
    const seen = { visible_at: at, indexed_at: at, done_at: at, reversed_at: null }
    this.objects.push({ object_id, operation_id: null, key: null, label, created_at: this.#stamp(at), ...seen })
  }

  /** Takes a name for a tombstone. Null: it was free; else the object, or the tombstone's marker, that holds it. */
  async claim(name: string, marker: string, faults: LookFaults): Promise<SimObject | string | null> {
    await this.#reach(faults)
    const held = this.#names?.get(name) ?? null
    if (held === null) this.#names?.set(name, marker)
    this.#counts.add(held === null ? "fence_won" : typeof held === "string" ? "fence_met_fence" : "fence_met_original")
    await this.#scheduler.sleep(this.#random.between(1, 100))
    // The answer can be lost although the name is taken: the next one meets our own tombstone.
    if (this.#random.chance(faults.look_unanswered)) throw new Error("the provider's answer is lost")
    return held
  }

  /** The objects that a look can see, and whether it saw all pages. Throws where the provider does not answer. */
  async look(
    faults: LookFaults,
    indexed: boolean,
  ): Promise<{ readonly objects: readonly SimObject[]; readonly complete: boolean }> {
    await this.#reach(faults)
    const { now } = this.#scheduler
    const seen = this.objects.filter((one) => (indexed ? one.indexed_at : one.visible_at) <= now)
    if (seen.length < this.objects.length) this.#counts.add("stale_look")
    const slow = this.#random.chance(faults.look_slow)
    if (slow) this.#counts.add("look_slow")
    await this.#scheduler.sleep(slow ? this.#random.between(1_000, 19_000) : this.#random.between(1, 100))
    if (!this.#random.chance(faults.look_incomplete)) return { objects: seen, complete: true }
    this.#counts.add("look_incomplete")
    return { objects: seen.filter(() => this.#random.chance(0.5)), complete: false }
  }

  async readResource(resource: string, faults: LookFaults) {
    await this.#reach(faults)
    const read = this.resources.read(resource)
    await this.#scheduler.sleep(this.#random.between(1, 100))
    return read
  }

  async #reach(faults: LookFaults): Promise<void> {
    await this.#scheduler.sleep(this.#random.between(1, 50))
    if (this.reachable && !this.#random.chance(faults.look_unanswered)) return
    this.#counts.add("look_unanswered")
    throw new Error("the provider does not answer")
  }
}
