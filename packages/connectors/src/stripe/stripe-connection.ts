/** What every tool of the connector is made from: who carries requests, and what is known about the account. */
import type { AttemptContext, Duration } from "@invokejs/engine"
import {
  stripeContract,
  type StripeContractOptions,
  type StripeLookupTimes,
  type StripeProof,
} from "./stripe-contract.ts"
import type { StripeApi } from "./stripe-api.ts"

export interface StripeConnection {
  readonly api: StripeApi
  /** Part of an object's identity; undefined is the key's own account. */
  readonly account?: string
  /** For calls that name no currency. */
  readonly currency: string
  readonly proved?: StripeProof
  readonly lookup?: StripeLookupTimes
  readonly timeout?: Duration
  readonly attempts?: number
  readonly deadline?: Duration
}

/** The options of `defineTool` that follow from the connection. */
export function toolOptions(
  { api, proved, lookup, timeout, attempts, deadline }: StripeConnection,
  { correlates, path }: Pick<StripeContractOptions, "correlates" | "path">,
) {
  const { transport } = api
  return {
    ...(transport === "invoke" ? { transport } : {}),
    contract: stripeContract({
      transport,
      correlates,
      path,
      ...(proved === undefined ? {} : { proved }),
      ...(lookup === undefined ? {} : { lookup }),
    }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(deadline === undefined ? {} : { deadline }),
  }
}

export type EffectContext = Pick<AttemptContext, "operationId" | "providerKey" | "fetch" | "signal">
