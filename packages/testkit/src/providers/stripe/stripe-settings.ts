import { COMMON_DEFAULTS, type CommonSettings, type SettingChoices } from "../provider-settings.ts"

export interface StripeSettings extends CommonSettings {
  /** How long a key replays, by the provider's clock. */
  readonly key_retention_ms: number
  /** How long an event stays unlisted after what it tells. */
  readonly events_lag_ms: number
  /** Charges stay `pending` so long, then take `charges_settle_as`. 0: they succeed at once. */
  readonly charges_settle_after_ms: number
  readonly charges_settle_as: "succeeded" | "failed"
  /** The same for refunds. */
  readonly refunds_settle_after_ms: number
  readonly refunds_settle_as: "succeeded" | "failed"
  /** Added by the provider to every amount it charges. */
  readonly surcharge: number
}

const DAY_MS = 24 * 60 * 60 * 1000

export const STRIPE_DEFAULTS: StripeSettings = {
  ...COMMON_DEFAULTS,
  key_retention_ms: DAY_MS,
  events_lag_ms: 0,
  charges_settle_after_ms: 0,
  charges_settle_as: "succeeded",
  refunds_settle_after_ms: 0,
  refunds_settle_as: "succeeded",
  surcharge: 0,
}

export const STRIPE_CHOICES: SettingChoices = {
  charges_settle_as: ["succeeded", "failed"],
  refunds_settle_as: ["succeeded", "failed"],
}

/** Events can be listed for 30 days. */
export const EVENTS_KEPT_MS = 30 * DAY_MS
