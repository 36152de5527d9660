/** Collects what one execution, or the passing of time, makes true: objects, effects, events. */
import type { Change } from "../ledger-line.ts"
import { jsonAnswer, type Execution, type ProviderAnswer } from "../provider.ts"
import type { LineIds } from "../provider-ids.ts"
import { seconds, type Charge, type PaymentIntent, type Refund, type StripeEvent } from "./stripe-objects.ts"

const COLLECTIONS = { charge: "charges", refund: "refunds", payment_intent: "payment_intents" } as const

export class StripeWriter {
  readonly ids: LineIds
  readonly now_ms: number
  readonly #cause: StripeEvent["request"]
  readonly #effects: Execution["effects"][number][] = []
  readonly #changes = new Map<string, Change>()

  constructor(ids: LineIds, now_ms: number, cause: StripeEvent["request"]) {
    this.ids = ids
    this.now_ms = now_ms
    this.#cause = cause
  }

  get changes(): readonly Change[] {
    return [...this.#changes.values()]
  }

  get created(): number {
    return seconds(this.now_ms)
  }

  put(object: Charge | Refund | PaymentIntent): void {
    this.#changes.set(object.id, { collection: COLLECTIONS[object.object], id: object.id, object })
  }

  /** Counts one effect in the world. */
  effect(kind: string, object: Charge | Refund | PaymentIntent): void {
    this.#effects.push({ kind, object_id: object.id, object })
  }

  event(type: string, object: Charge | Refund | PaymentIntent): void {
    const id = this.ids.next("evt_")
    const event: StripeEvent = {
      id,
      object: "event",
      created: this.created,
      livemode: false,
      type,
      data: { object },
      request: this.#cause,
    }
    this.#changes.set(id, { collection: "events", id, object: event })
  }

  execution(answer: ProviderAnswer): Execution {
    return { effects: this.#effects, changes: this.changes, answer }
  }

  answer(object: unknown): Execution {
    return this.execution(jsonAnswer(200, object))
  }
}
