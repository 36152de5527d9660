/**
 * The outside world of a simulation: providers of every contract shape, which count their own effects.
 *
 * Owns: the truth. The oracle reads it; the engine only ever asks it.
 *
 * PV1. What a provider declares (Q, V, retention, in-flight) is true of it, unless a check breaks it on purpose.
 * PV2. An unacknowledged request lands arbitrarily late within Q of its last byte.
 */
import type { Scheduler } from "./scheduler.ts"
import type { SeededRandom } from "./seeded-random.ts"
import type { FaultCounts } from "./fault-counts.ts"
import type { Effect, History, SentRequest } from "./history.ts"

export interface SimEffect extends Effect {
  readonly created_at: number
  readonly visible_at: number
}

export interface SimRequest {
  readonly process: string
  readonly action: string
  readonly operation_id: string
  readonly key: string
  readonly attempt: number
}

export interface SimAnswer {
  readonly status: number
  readonly object_id?: string
}

export interface ProviderFaults {
  readonly lost_request: number
  readonly late_landing: number
  readonly lost_answer: number
  readonly refused_before_key: number
  readonly rejected: number
  readonly error_after_effect: number
  readonly error_without_effect: number
}

export interface ProviderShape {
  readonly keyed: boolean
  readonly max_execution_ms: number
  readonly visibility_ms: number
  readonly retention_ms: number
  /** Granularity of creation times. */
  readonly resolution_ms: number
}

export class SimProvider {
  readonly effects: SimEffect[] = []
  readonly shape: ProviderShape
  readonly #scheduler: Scheduler
  readonly #random: SeededRandom
  readonly #counts: FaultCounts
  readonly #tool: string
  readonly #history: History
  readonly #keys = new Map<string, { first: number; answer: SimAnswer | null }>()
  reachable = true

  constructor(
    tool: string,
    shape: ProviderShape,
    scheduler: Scheduler,
    random: SeededRandom,
    counts: FaultCounts,
    history: History,
  ) {
    this.#tool = tool
    this.#history = history
    this.shape = shape
    this.#scheduler = scheduler
    this.#random = random
    this.#counts = counts
  }

  /** A request whose last byte left now. Null: no answer will come. */
  async request(request: SimRequest, faults: ProviderFaults): Promise<SimAnswer | null> {
    const random = this.#random
    const sent: SentRequest = {
      ...request,
      n: this.#history.requests.length + 1,
      at: this.#scheduler.now,
      tool: this.#tool,
      body: request.action,
      landed_at: null,
    }
    this.#history.requests.push(sent)
    if (!this.reachable || random.chance(faults.lost_request)) {
      this.#counts.add("lost_request")
      return null
    }
    const late = random.chance(faults.late_landing)
    if (late) this.#counts.add("late_landing")
    const limit = this.shape.max_execution_ms
    await this.#scheduler.sleep(
      late ? random.between(Math.floor(limit / 2), limit - 1) : random.between(1, Math.min(200, limit - 1)),
    )
    sent.landed_at = this.#scheduler.now
    const answer = this.#execute(sent, faults)
    if (late || random.chance(faults.lost_answer)) {
      this.#counts.add("lost_answer")
      return null
    }
    return answer
  }

  #execute(request: SentRequest, faults: ProviderFaults): SimAnswer {
    const random = this.#random
    if (random.chance(faults.refused_before_key)) {
      this.#counts.add("refused_before_key")
      return { status: random.pick([401, 429]) }
    }
    if (!this.shape.keyed) return this.#apply(request, faults)
    const known = this.#keys.get(request.key)
    if (known && this.#scheduler.now - known.first < this.shape.retention_ms) {
      this.#counts.add("key_replayed")
      return known.answer ?? { status: 409 }
    }
    if (known) this.#counts.add("key_expired")
    const answer = this.#apply(request, faults)
    this.#keys.set(request.key, { first: this.#scheduler.now, answer })
    return answer
  }

  #apply(request: SentRequest, faults: ProviderFaults): SimAnswer {
    const random = this.#random
    if (random.chance(faults.rejected)) {
      this.#counts.add("rejected")
      return { status: 422 }
    }
    if (random.chance(faults.error_without_effect)) {
      this.#counts.add("error_without_effect")
      return { status: 500 }
    }
    const { now } = this.#scheduler
    const object_id = `obj_${this.effects.length + 1}`
    const { tool, action, operation_id, attempt, n } = request
    const effect = {
      ...{ tool, action, operation_id, attempt, object_id },
      request: n,
      at: now,
      repeated: false,
      reversed_at: null,
      created_at: Math.floor(now / this.shape.resolution_ms) * this.shape.resolution_ms,
      visible_at: now + random.between(0, this.shape.visibility_ms),
    }
    this.effects.push(effect)
    this.#history.effects.push(effect)
    if (random.chance(faults.error_after_effect)) {
      this.#counts.add("error_after_effect")
      return { status: 500 }
    }
    return { status: 200, object_id }
  }

  /** What a lookup sees. Throws where the provider does not answer. */
  async look(unanswered: number): Promise<readonly SimEffect[]> {
    await this.#scheduler.sleep(this.#random.between(1, 100))
    if (!this.reachable || this.#random.chance(unanswered)) {
      this.#counts.add("look_unanswered")
      throw new Error("the provider does not answer")
    }
    const { now } = this.#scheduler
    const seen = this.effects.filter((one) => one.visible_at <= now)
    if (seen.length < this.effects.length) this.#counts.add("stale_look")
    return seen
  }
}
