import type { StripeProof } from "./stripe-contract.ts"

/**
 * A run of `proveStripeKey` against the Stripe-shaped provider of `@invokejs/testkit`, for demos and tests. It shows that the
 * stand-in keeps what Stripe documents. It does not show that Stripe does: for that, run `proveStripeKey` with a key of yours.
 */
export const STAND_IN_PROOF = {
  date: "2026-11-29",
  against: "the stripe provider of @invokejs/testkit 0.1.0, a stand-in, not Stripe",
} as const satisfies StripeProof
