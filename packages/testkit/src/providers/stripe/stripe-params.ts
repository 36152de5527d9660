/** Typed reading of a request's parameters, refusing as the real provider does, before execution begins. */
import { isObject, parseForm, type FormObject } from "./form-body.ts"
import { invalid, StripeError } from "./stripe-error.ts"
import type { Metadata } from "./stripe-objects.ts"

/** The largest amount the real provider takes. */
const AMOUNT_MAX = 99_999_999

export class StripeParams {
  readonly #form: FormObject

  /** Refuses a parameter that is not among the known ones. */
  constructor(text: string, known: readonly string[]) {
    this.#form = parseForm(text)
    for (const name of Object.keys(this.#form)) {
      if (!known.includes(name) && name !== "expand") {
        throw invalid(`Received unknown parameter: ${name}`, name, "parameter_unknown")
      }
    }
  }

  text(name: string): string | null {
    const value = this.#form[name]
    if (value === undefined || value === "") return null
    if (typeof value !== "string") throw invalid(`Invalid string: ${name}`, name)
    return value
  }

  required(name: string): string {
    const value = this.text(name)
    if (value === null) throw invalid(`Missing required param: ${name}.`, name, "parameter_missing")
    return value
  }

  /** A positive whole number of the currency's smallest unit. */
  amount(name: string): number | null {
    const value = this.text(name)
    if (value === null) return null
    if (!/^-?\d+$/.test(value)) throw invalid(`Invalid integer: ${value}`, name, "parameter_invalid_integer")
    const amount = Number(value)
    if (amount < 1) throw invalid("Invalid positive integer", name, "parameter_invalid_integer")
    if (amount > AMOUNT_MAX) throw invalid("Amount must be no more than $999,999.99", name, "amount_too_large")
    return amount
  }

  requiredAmount(name: string): number {
    const amount = this.amount(name)
    if (amount === null) throw invalid(`Missing required param: ${name}.`, name, "parameter_missing")
    return amount
  }

  currency(): string {
    const currency = this.required("currency").toLowerCase()
    if (!/^[a-z]{3}$/.test(currency)) throw invalid(`Invalid currency: ${currency}`, "currency")
    return currency
  }

  flag(name: string, otherwise: boolean): boolean {
    const value = this.text(name)
    if (value === null) return otherwise
    if (value !== "true" && value !== "false") throw invalid(`Invalid boolean: ${value}`, name)
    return value === "true"
  }

  oneOf<const Choice extends string>(name: string, choices: readonly Choice[]): Choice | null {
    const value = this.text(name)
    if (value === null) return null
    const choice = choices.find((candidate) => candidate === value)
    if (choice === undefined) throw invalid(`Invalid ${name}: must be one of ${choices.join(", ")}`, name)
    return choice
  }

  metadata(): Metadata {
    const value = this.#form["metadata"]
    if (value === undefined || value === "") return {}
    if (!isObject(value)) throw invalid("Invalid object", "metadata")
    const metadata: Record<string, string> = {}
    for (const [name, text] of Object.entries(value)) {
      if (typeof text !== "string") throw invalid("Metadata values must be strings", `metadata[${name}]`)
      metadata[name] = text
    }
    return metadata
  }
}

/** Refuses what the caller may not ask while the object is in this state; thrown while running, so it is stored. */
export function unexpectedState(message: string, code: string): StripeError {
  return new StripeError(400, { type: "invalid_request_error", message, code })
}
