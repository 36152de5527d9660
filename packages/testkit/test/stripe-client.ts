// A client of the Stripe-shaped provider that adds nothing: no retries, no keys of its own, no redirects.
import { startProvider, type RunningProvider, type StripeSettings } from "@invokejs/testkit"
import { onTestFinished } from "vitest"
import { scratchDirectory } from "./scratch-directory.ts"

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: StripeJson
}

/** What the tests read of objects, lists and errors. */
export interface StripeJson {
  readonly id: string
  readonly object: string
  readonly amount: number
  readonly amount_refunded: number
  readonly created: number
  readonly metadata: Readonly<Record<string, string>>
  readonly status: string
  readonly type: string
  readonly latest_charge: string | null
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null }
  readonly data: readonly StripeJson[]
  readonly has_more: boolean
  readonly error: { readonly type: string; readonly code?: string; readonly message: string; readonly charge?: string }
}

export async function startStripe(settings: Partial<StripeSettings> = {}): Promise<RunningProvider<"stripe">> {
  const provider = await startProvider("stripe", { directory: scratchDirectory(), settings })
  onTestFinished(() => provider.kill())
  return provider
}

export type Form = Readonly<Record<string, string | number>>

export async function post(
  provider: { readonly url: string },
  path: string,
  form: Form,
  options: { readonly key?: string; readonly secret?: string } = {},
): Promise<Answered> {
  const { key, secret = "sk_test_invoke" } = options
  const pairs = Object.entries(form).map(([name, value]): [string, string] => [name, String(value)])
  const headers = {
    authorization: `Bearer ${secret}`,
    "content-type": "application/x-www-form-urlencoded",
    ...(key === undefined ? {} : { "idempotency-key": key }),
  }
  const body = new URLSearchParams(pairs).toString()
  return answered(await fetch(provider.url + path, { method: "POST", headers, body, redirect: "manual" }))
}

export async function get(
  provider: { readonly url: string },
  path: string,
  secret = "sk_test_invoke",
): Promise<Answered> {
  return answered(await fetch(provider.url + path, { headers: { authorization: `Bearer ${secret}` } }))
}

async function answered(response: Response): Promise<Answered> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as StripeJson }
}

export const CHARGE = { amount: 2400, currency: "usd", customer: "cus_123", "metadata[operation_id]": "op_1" } as const

export async function charge(provider: { readonly url: string }, more: Form = {}, key?: string): Promise<StripeJson> {
  const { status, body, text } = await post(
    provider,
    "/v1/charges",
    { ...CHARGE, ...more },
    key === undefined ? {} : { key },
  )
  if (status !== 200) throw new Error(`the charge was refused: ${text}`)
  return body
}
