/**
 * Stripe's API through the application's own `Stripe` client (npm `stripe`): an opaque transport.
 *
 * SD1. Our key is on every effect request. Left without one the client makes its own, anew for every call.
 * SD2. The client repeats a POST once after a closed connection, also with `maxNetworkRetries: 0` (stripe 23.1.0). Its
 *      `request` events are counted, so that a refusal of the second request is not taken for one of the first.
 * SD3. An error without a status is no answer: it is thrown on, and means nothing.
 */
import type { StripeAnswer, StripeApi, StripeParams } from "./stripe-api.ts"
import { isRecord } from "./stripe-object.ts"

/** What is used of the official client. An instance of `Stripe` is one. */
export interface StripeClient {
  rawRequest(method: string, path: string, params?: object, options?: StripeClientRequest): Promise<unknown>
  on(event: "request", listener: (event: StripeRequestEvent) => void): unknown
  off(event: "request", listener: (event: StripeRequestEvent) => void): unknown
}

export interface StripeClientRequest {
  readonly idempotencyKey?: string
  readonly maxNetworkRetries?: number
  readonly timeout?: number
  readonly stripeAccount?: string
}

export interface StripeRequestEvent {
  readonly method: string
  readonly idempotency_key?: string
}

export interface StripeSdkOptions {
  readonly client: StripeClient
  readonly account?: string
  /** How long the client waits for one answer. */
  readonly timeout_ms: number
}

export function stripeSdk({ client, account, timeout_ms }: StripeSdkOptions): StripeApi {
  const options = {
    maxNetworkRetries: 0,
    timeout: timeout_ms,
    ...(account === undefined ? {} : { stripeAccount: account }),
  }
  return {
    transport: "opaque",
    post: async (path, params, { providerKey }) => {
      let sent = 0
      const count = ({ method, idempotency_key }: StripeRequestEvent): void => {
        if (method === "POST" && idempotency_key === providerKey) sent += 1
      }
      client.on("request", count)
      try {
        const answer = await request(client, "POST", path, present(params), { ...options, idempotencyKey: providerKey })
        return { ...answer, sent }
      } finally {
        client.off("request", count)
      }
    },
    get: (path) => request(client, "GET", path, undefined, options),
  }
}

async function request(
  client: StripeClient,
  method: "GET" | "POST",
  path: string,
  params: object | undefined,
  options: StripeClientRequest,
): Promise<StripeAnswer> {
  try {
    const body = await client.rawRequest(method, path, params, options)
    const { statusCode, headers } = lastResponseOf(body)
    return answer(statusCode, headers, body)
  } catch (error) {
    if (!isRecord(error) || typeof error["statusCode"] !== "number") throw error
    const { rawType, code, decline_code, statusCode, headers } = error
    return answer(statusCode, headers, { error: { type: rawType, code, decline_code } })
  }
}

function answer(status: number, headers: unknown, body: unknown): StripeAnswer {
  const named = isRecord(headers) ? headers : {}
  const request_id = named["request-id"]
  return {
    status,
    request_id: typeof request_id === "string" ? request_id : null,
    replayed: named["idempotent-replayed"] === "true",
    body,
    sent: 1,
  }
}

/** The client hangs the raw response on the body, where no enumeration sees it. It returns bodies of successes only. */
function lastResponseOf(body: unknown): { readonly statusCode: number; readonly headers: unknown } {
  const last = isRecord(body) ? body["lastResponse"] : undefined
  const { statusCode, headers } = isRecord(last) ? last : { statusCode: undefined, headers: undefined }
  return { statusCode: typeof statusCode === "number" ? statusCode : 200, headers }
}

/** The client writes an undefined parameter as an empty one, which to Stripe means "unset it". */
function present(params: StripeParams): object {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined))
}
