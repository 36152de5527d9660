/** `stripeTools`: the tools of one Stripe account, over Invoke's transport or through the application's own client. */
import { InvokeError } from "@invokejs/protocol"
import type { Duration } from "@invokejs/engine"
import { chargeCustomerTool } from "./charge-customer.ts"
import { createPaymentIntentTool } from "./create-payment-intent.ts"
import { cancelPaymentIntentTool, capturePaymentIntentTool, confirmPaymentIntentTool } from "./payment-intent-steps.ts"
import { refundPaymentTool } from "./refund-payment.ts"
import type { StripeApi } from "./stripe-api.ts"
import type { StripeConnection } from "./stripe-connection.ts"
import { STRIPE_API_VERSION, STRIPE_BASE_URL, type StripeLookupTimes, type StripeProof } from "./stripe-contract.ts"
import { stripeHttp, type StripeHttpOptions } from "./stripe-http.ts"
import { stripeSdk, type StripeClient } from "./stripe-sdk.ts"

interface CommonOptions {
  /** For calls that name no currency. Default `"usd"`. */
  readonly currency?: string
  /** A connected account, `acct_…`. Default: the account of the key. */
  readonly account?: string
  /** What `proveStripeKey` returned. Without it no second request leaves under a key before the first is refuted. */
  readonly proved?: StripeProof
  /** Other times for looking; see `STRIPE_LOOKUP_TIMES`. */
  readonly lookup?: StripeLookupTimes
  readonly timeout?: Duration
  readonly attempts?: number
  readonly deadline?: Duration
}

export interface StripeKeyOptions extends CommonOptions {
  readonly apiKey: StripeHttpOptions["apiKey"]
  /** Default `https://api.stripe.com`. */
  readonly baseUrl?: string
  /** Default `STRIPE_API_VERSION`. */
  readonly apiVersion?: string
  readonly client?: never
}

export interface StripeClientOptions extends CommonOptions {
  /** An instance of `Stripe` from the npm package `stripe`. The tools are opaque then: no stage proves that nothing left. */
  readonly client: StripeClient
  readonly apiKey?: never
  readonly baseUrl?: never
  readonly apiVersion?: never
}

export type StripeToolsOptions = StripeKeyOptions | StripeClientOptions

/** For `Invoke.open({ tools: [...stripeTools({ apiKey })] })`. */
export function stripeTools(options: StripeToolsOptions) {
  const { currency = "usd", account, proved, lookup, timeout, attempts, deadline } = options
  const stripe: StripeConnection = {
    api: apiOf(options),
    currency,
    ...(account === undefined ? {} : { account }),
    ...(proved === undefined ? {} : { proved }),
    ...(lookup === undefined ? {} : { lookup }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(deadline === undefined ? {} : { deadline }),
  }
  return [
    chargeCustomerTool(stripe),
    refundPaymentTool(stripe),
    createPaymentIntentTool(stripe),
    confirmPaymentIntentTool(stripe),
    capturePaymentIntentTool(stripe),
    cancelPaymentIntentTool(stripe),
  ] as const
}

/** As long as an attempt waits by default. */
const CLIENT_TIMEOUT_MS = 30_000

function apiOf(options: StripeToolsOptions): StripeApi {
  const account = options.account === undefined ? {} : { account: options.account }
  if (options.client !== undefined)
    return stripeSdk({ client: options.client, timeout_ms: CLIENT_TIMEOUT_MS, ...account })
  if (options.apiKey === undefined) {
    throw new InvokeError("definition_invalid", {
      happened: "stripeTools: neither apiKey nor client is given",
      fix: 'Write `stripeTools({ apiKey: "sk_test_…" })`, or `stripeTools({ client: new Stripe("sk_test_…") })`.',
      detail: { path: "apiKey" },
    })
  }
  const { apiKey, baseUrl = STRIPE_BASE_URL, apiVersion = STRIPE_API_VERSION } = options
  return stripeHttp({ apiKey, baseUrl, apiVersion, ...account })
}
