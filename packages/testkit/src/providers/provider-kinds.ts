/** The providers that can be started, by name. */
import { MAIL, type MailSettings } from "./mail/mail-provider.ts"
import { STRIPE } from "./stripe/stripe-provider.ts"
import type { StripeSettings } from "./stripe/stripe-settings.ts"
import { TICKET, type TicketSettings } from "./ticket/ticket-provider.ts"

export interface ProviderSettings {
  readonly stripe: StripeSettings
  readonly mail: MailSettings
  readonly ticket: TicketSettings
}

export type ProviderName = keyof ProviderSettings

export const PROVIDER_KINDS = { stripe: STRIPE, mail: MAIL, ticket: TICKET } as const
