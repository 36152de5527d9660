/**
 * Stripe's API over the context's `fetch`: one request, read status first.
 *
 * SH1. Status and request id are known before the body is read; a body that breaks off costs the body, not the status.
 * SH2. The same parameters give the same bytes on every attempt of a key generation.
 */
import { outcome } from "@invokejs/engine"
import { InvokeError } from "@invokejs/protocol"
import { formText, type StripeAnswer, type StripeApi } from "./stripe-api.ts"

export interface StripeHttpOptions {
  /** A secret or restricted key, or a function that is asked for one before each request, so that keys can be rotated. */
  readonly apiKey: string | (() => string | Promise<string>)
  readonly baseUrl: string
  readonly apiVersion: string
  /** A connected account: sent as `Stripe-Account`. */
  readonly account?: string
}

export function stripeHttp(options: StripeHttpOptions): StripeApi {
  const origin = checkedOrigin(options.baseUrl)
  const headers = async (): Promise<Record<string, string>> => ({
    authorization: `Bearer ${await secretOf(options.apiKey)}`,
    "stripe-version": options.apiVersion,
    ...(options.account === undefined ? {} : { "stripe-account": options.account }),
  })
  return {
    transport: "invoke",
    post: async (path, params, { providerKey, fetch, signal }) => {
      const response = await fetch(origin + path, {
        method: "POST",
        headers: {
          ...(await headers()),
          "content-type": "application/x-www-form-urlencoded",
          "idempotency-key": providerKey,
        },
        body: formText(params),
        signal,
      })
      return answerOf(response)
    },
    get: async (path, { fetch, signal }) => answerOf(await fetch(origin + path, { headers: await headers(), signal })),
  }
}

/** Asked before anything is sent: where it fails, nothing was. */
async function secretOf(apiKey: StripeHttpOptions["apiKey"]): Promise<string> {
  if (typeof apiKey === "string") return apiKey
  try {
    return await apiKey()
  } catch {
    throw outcome.notApplied({ code: "api_key_unavailable", message: "the function that gives the API key failed" })
  }
}

async function answerOf(response: Response): Promise<StripeAnswer> {
  return {
    status: response.status,
    request_id: response.headers.get("request-id"),
    replayed: response.headers.get("idempotent-replayed") === "true",
    body: await bodyOf(response),
    sent: 1,
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return JSON.parse(await response.text()) as unknown
  } catch {
    // SH1: what the status says stands by itself; the caller sees that there is no body.
    return undefined
  }
}

const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** A secret key must not cross a network in clear. */
function checkedOrigin(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (url && (url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname)))) return url.origin
  throw new InvokeError("definition_invalid", {
    happened: "stripeTools: baseUrl is no https URL, and a secret key would cross the network in clear",
    fix: 'Leave it out, or write `baseUrl: "https://api.stripe.com"`; http is for 127.0.0.1 alone.',
    detail: { path: "baseUrl" },
  })
}
