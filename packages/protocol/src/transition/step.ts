/**
 * What one transition yields, and the only way to build it.
 *
 * Owns: the version step, `updated_at`, and the rule that terminal states have no timer.
 *
 * SP1. Every step raises the version by one (S4).
 * SP2. A terminal state has no `due_at`; every other has one (L1).
 */
import { isTerminal, type State } from "../state.ts"
import type { AuditDraft, AuditEventType } from "../audit-event.ts"
import type { Json } from "../canonical-json.ts"
import type { IncidentDraft, IncidentKind } from "../incident.ts"
import type { Illegal } from "../operation-event.ts"
import type { Operation, Reason } from "../operation.ts"

export interface TransitionContext {
  readonly now: number
  /** Uniform in [0, 1): jitter. */
  readonly unit: number
  /** Who caused it, for the timeline. */
  readonly actor: string
}

export interface Step {
  readonly ok: true
  readonly next: Operation
  readonly events: readonly AuditDraft[]
  readonly incidents: readonly IncidentDraft[]
}

export type Transition = Step | Illegal

/** Collects what one transition does; `finish()` seals it. */
export class StepBuilder {
  readonly #from: Operation
  readonly #context: TransitionContext
  readonly #events: AuditDraft[] = []
  readonly #incidents: IncidentDraft[] = []
  #next: Operation

  constructor(operation: Operation, context: TransitionContext) {
    this.#from = operation
    this.#next = operation
    this.#context = context
  }

  get operation(): Operation {
    return this.#next
  }

  get now(): number {
    return this.#context.now
  }

  get unit(): number {
    return this.#context.unit
  }

  set(change: Partial<Operation>): this {
    this.#next = { ...this.#next, ...change }
    return this
  }

  /** Moves to a state; `state_since` starts anew only where the state changes. */
  enter(state: State, change: Partial<Operation> = {}): this {
    const moved = state !== this.#next.state
    this.#next = {
      ...this.#next,
      ...change,
      state,
      ...(moved ? { state_since: this.now } : {}),
      ...(isTerminal(state)
        ? { settled_at: this.now, due_at: null, probes: { ...this.#next.probes, lease: null } }
        : {}),
    }
    return this
  }

  event(type: AuditEventType, data: { readonly [name: string]: Json } = {}, actor = this.#context.actor): this {
    this.#events.push({ type, from: this.#from.state, to: this.#next.state, actor, data: wellFormed(data) })
    return this
  }

  incident(kind: IncidentKind, detail: { readonly [name: string]: Json }): this {
    this.#incidents.push({ kind, operation_id: this.#from.operation_id, detail })
    return this
  }

  finish(): Step {
    const terminal = isTerminal(this.#next.state)
    if (!terminal && this.#next.due_at === null) {
      throw new Error(`SP2: ${this.#next.state} without a timer (${this.#from.operation_id})`)
    }
    return {
      ok: true,
      next: {
        ...this.#next,
        version: this.#from.version + 1,
        updated_at: this.now,
        ...(terminal ? { due_at: null } : {}),
      },
      events: this.#events,
      incidents: this.#incidents,
    }
  }
}

/**
 * Half of a surrogate pair, from a provider's text or a cut of ours, is no JSON that a digest could cover: one bad character must
 * not make a fact unrecordable.
 */
function wellFormed(value: { readonly [name: string]: Json }): { readonly [name: string]: Json } {
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, wellFormedJson(one)]))
}

function wellFormedJson(value: Json): Json {
  if (typeof value === "string") return value.toWellFormed()
  if (typeof value !== "object" || value === null) return value
  return isList(value) ? value.map(wellFormedJson) : wellFormed(value)
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

export function illegal(operation: Operation, text: string, code: Illegal["code"] = "illegal_transition"): Illegal {
  return { ok: false, code, text, state: operation.state }
}

export function reasonData(reason: Reason): { readonly [name: string]: Json } {
  return { code: reason.code, text: reason.text }
}
