/** Parts of the tools' parameters. Amounts are whole numbers of the currency's smallest unit, as Stripe takes them. */
import { z } from "zod"

export const stripeId = z.string().trim().min(1).max(255)

export const minorAmount = z.int().positive()

/** A three-letter code; Stripe writes it in lower case. */
export function currencyCode(otherwise: string) {
  return z
    .string()
    .trim()
    .toLowerCase()
    .regex(/^[a-z]{3}$/, "expects a three-letter currency code such as usd")
    .default(otherwise)
}

const RESERVED = ["operation_id", "idempotency_key"]

/** Stripe keeps up to 50 pairs: names of 40 characters, values of 500. Two of them are the connector's own. */
export const metadata = z
  .record(z.string().min(1).max(40), z.string().max(500))
  .refine((pairs) => Object.keys(pairs).length <= 48, "has more than 48 pairs; Stripe keeps 50, and two are taken")
  .refine((pairs) => RESERVED.every((name) => !(name in pairs)), `may not name ${RESERVED.join(" or ")}`)
  .optional()
