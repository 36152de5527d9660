/** Reading access to the account's objects, shared by the endpoints. */
import type { Collection, ObjectStore } from "../object-store.ts"
import { missing } from "./stripe-error.ts"
import type { Charge, PaymentIntent, Refund, StripeEvent } from "./stripe-objects.ts"
import type { StripeSettings } from "./stripe-settings.ts"

export class StripeAccount {
  readonly charges: Collection<Charge>
  readonly refunds: Collection<Refund>
  readonly payment_intents: Collection<PaymentIntent>
  readonly events: Collection<StripeEvent>
  readonly settings: () => StripeSettings

  constructor(store: ObjectStore, settings: () => StripeSettings) {
    this.charges = store.collection("charges")
    this.refunds = store.collection("refunds")
    this.payment_intents = store.collection("payment_intents")
    this.events = store.collection("events")
    this.settings = settings
  }

  charge(id: string, param?: string): Charge {
    const charge = this.charges.get(id)
    if (charge === null) throw missing("charge", id, param)
    return charge
  }

  refund(id: string, param?: string): Refund {
    const refund = this.refunds.get(id)
    if (refund === null) throw missing("refund", id, param)
    return refund
  }

  payment_intent(id: string, param?: string): PaymentIntent {
    const intent = this.payment_intents.get(id)
    if (intent === null) throw missing("payment_intent", id, param)
    return intent
  }
}
