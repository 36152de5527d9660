/** The providers that can be started, by name. */
import { STRIPE, type StripeSettings } from "./stripe/stripe-provider.ts"

export interface ProviderSettings {
  readonly stripe: StripeSettings
}

export type ProviderName = keyof ProviderSettings

export const PROVIDER_KINDS = { stripe: STRIPE } as const
