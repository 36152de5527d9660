/** Reading of Stripe's JSON: objects are told by their `object` field, and a field of another kind reads as absent. */

export interface StripeObject {
  readonly id: string
  /** `charge`, `refund`, `payment_intent`, `event`. */
  readonly object: string
  readonly [field: string]: unknown
}

export function stripeObject(value: unknown, kind: string): StripeObject | null {
  if (!isRecord(value)) return null
  const { id, object } = value
  return typeof id === "string" && id !== "" && object === kind ? { ...value, id, object } : null
}

export function textOf(object: { readonly [field: string]: unknown }, field: string): string | null {
  const value = object[field]
  return typeof value === "string" && value !== "" ? value : null
}

export function numberOf(object: { readonly [field: string]: unknown }, field: string): number | null {
  const value = object[field]
  return typeof value === "number" && Number.isFinite(value) ? value : null
}

/** A reference that may be expanded: the id, or the object with that id. */
export function referenceOf(object: { readonly [field: string]: unknown }, field: string): string | null {
  const value = object[field]
  return isRecord(value) ? textOf(value, "id") : textOf(object, field)
}

export function metadataOf(object: StripeObject): { readonly [name: string]: unknown } {
  const value = object["metadata"]
  return isRecord(value) ? value : {}
}

/** Money as comparisons read it: the amount in minor units together with its currency. */
export interface StripeMoney {
  readonly amount: number
  readonly currency: string
}

export function moneyOf(object: StripeObject, field = "amount"): StripeMoney | null {
  const amount = numberOf(object, field)
  const currency = textOf(object, "currency")
  return amount === null || currency === null ? null : { amount, currency: currency.toLowerCase() }
}

export function isRecord(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
