/**
 * What Stripe promises about its v1 API, as data with sources. Read on the dates given; Stripe may say otherwise since.
 *
 * `proved` is not here: a key permits a second dispatch only after `proveStripeKey` ran where it will be used.
 */
import type { ContractInput, Duration } from "@invokejs/engine"

export type StripeKeyInput = NonNullable<ContractInput["key"]>
export type StripeLookupInput = NonNullable<ContractInput["lookup"]>
export type StripeProof = NonNullable<StripeKeyInput["proved"]>

/** The version of Stripe's API whose answers these tools read: that of the npm package `stripe` 23.1.0. */
export const STRIPE_API_VERSION = "2026-10-28.endive"
export const STRIPE_BASE_URL = "https://api.stripe.com"

const READ_ON = "2026-11-29"

export const STRIPE_SOURCES = [
  {
    url: "https://docs.stripe.com/api/idempotent_requests",
    date: READ_ON,
    says:
      "Status and body of the first request under a key are kept once its endpoint begins to execute, and are given again for " +
      "the same key, a 500 too. Other parameters under the key are an error. Failed validation and a clash with a running " +
      "request are not kept. Keys have up to 255 characters and can go once they are 24 hours old. GET and DELETE ignore them.",
  },
  {
    url: "https://docs.stripe.com/error-low-level",
    date: READ_ON,
    says:
      "A 429, a 401 and most 400s for invalid parameters come before the layer of idempotency keys, so the same key can get " +
      "another answer later. Once an endpoint has begun, its answer is kept whatever it is.",
  },
  {
    url: "https://docs.stripe.com/search",
    date: READ_ON,
    says:
      "Search is not for reading after writing: data normally shows within a minute, later in an outage. Lists are not subject " +
      "to that delay.",
  },
  {
    url: "https://github.com/stripe/stripe-node/blob/v23.1.0/src/resources/Events.ts",
    date: READ_ON,
    says:
      "Events can be listed for 30 days, by up to 20 types. `request.idempotency_key` is the key of the request that caused " +
      "one; `request.id` is null where none did.",
  },
  {
    url: "https://github.com/stripe/stripe-node/blob/v23.1.0/src/resources/Refunds.ts",
    date: READ_ON,
    says:
      "A refund is pending, requires_action, succeeded, failed or canceled; failed refunds have a page of their own, " +
      "https://docs.stripe.com/refunds#failed-refunds.",
  },
  {
    url: "https://github.com/zulip/zulip/blob/main/zerver/webhooks/stripe/fixtures/refund_event.json",
    date: READ_ON,
    says: "A recorded event in which a refund that had succeeded became failed four seconds later.",
  },
  {
    url: "https://github.com/stripe/stripe-node/blob/v23.1.0/src/RequestSender.ts",
    date: READ_ON,
    says:
      "stripe 23.1.0: a closed connection is repeated once even with maxNetworkRetries 0, and the comment says that this may " +
      "find the first request processed; the client itself waits 80 s for an answer.",
  },
] as const satisfies NonNullable<ContractInput["sources"]>

export const STRIPE_KEY = {
  sentAs: "header:Idempotency-Key",
  retention: "24h",
  replay: "stored",
  inFlight: "refuses",
  replaysErrors: true,
  onMismatch: "refuses",
  scope: "account and mode",
  maxLength: 255,
  /** A decline is executed and stored, so it is the answer to every request under the key. */
  answersForKey: [402],
  coveredHeaders: ["Stripe-Account", "Stripe-Version"],
} as const satisfies StripeKeyInput

export interface StripeLookupTimes {
  /** Q. Stripe declares none. 3 min: more than twice the 80 s that its own client waits for one answer. */
  readonly maxExecution?: Duration
  /** V. Lists are said to show what was written; 10 s are for replicas that do not. */
  readonly visibility?: Duration
  readonly negatives?: number
  readonly spacing?: Duration
}

export const STRIPE_LOOKUP_TIMES = {
  maxExecution: "3m",
  visibility: "10s",
  negatives: 2,
  spacing: "10s",
} as const satisfies StripeLookupTimes

export interface StripeContractOptions {
  readonly transport: "invoke" | "opaque"
  readonly correlates: "operation" | "state"
  /** The path of the effect request, `:id` for a segment. */
  readonly path: string
  readonly proved?: StripeProof
  readonly lookup?: StripeLookupTimes
}

export function stripeContract({ transport, correlates, path, proved, lookup }: StripeContractOptions): ContractInput {
  return {
    applied: "outcome",
    key: { ...STRIPE_KEY, ...(proved === undefined ? {} : { proved }) },
    lookup: { correlates, consistency: "bounded", ...STRIPE_LOOKUP_TIMES, ...lookup, resolution: "1s" },
    ...(transport === "invoke" ? { effect: { method: "POST", path } } : {}),
    sources: STRIPE_SOURCES,
  }
}
