/**
 * The two kinds of request that the tools make of Stripe, whoever carries them: Invoke's own transport (`stripe-http.ts`)
 * or the official client (`stripe-sdk.ts`).
 */
import type { AttemptContext, ProbeContext } from "@invokejs/engine"

export type StripeParam = string | number | boolean | StripeParams | readonly string[] | undefined

/** Parameters as Stripe names them. What is undefined is not sent; the order is the order on the wire. */
export interface StripeParams {
  readonly [name: string]: StripeParam
}

export interface StripeAnswer {
  readonly status: number
  /** Stripe's own id of the request. Null: the answer does not carry one, so it may not be Stripe's. */
  readonly request_id: string | null
  /** `Idempotent-Replayed`: the stored answer of an earlier request under the same key. */
  readonly replayed: boolean
  /** The parsed JSON; undefined where it could not be read. */
  readonly body: unknown
  /** How many requests went out for this answer. The official client repeats one after a closed connection. */
  readonly sent: number
}

export interface StripeApi {
  /** Whether requests run through Invoke's transport, which sees their stages. */
  readonly transport: "invoke" | "opaque"
  /** The effect request. Throws where no answer came; its caller learns nothing from that. */
  post(
    path: string,
    params: StripeParams,
    call: Pick<AttemptContext, "providerKey" | "fetch" | "signal">,
  ): Promise<StripeAnswer>
  /** `path` with its query. Throws where no answer came. */
  get(path: string, call: Pick<ProbeContext, "fetch" | "signal">): Promise<StripeAnswer>
}

/** Form pairs as Stripe reads them: `metadata[operation_id]=x`, `payment_method_types[0]=card`. */
function formPairs(params: StripeParams, prefix = ""): [string, string][] {
  return Object.entries(params).flatMap(([name, value]): [string, string][] => {
    const path = prefix === "" ? name : `${prefix}[${name}]`
    if (value === undefined) return []
    if (typeof value !== "object") return [[path, String(value)]]
    if (isList(value)) return value.map((one, index) => [`${path}[${index}]`, one])
    return formPairs(value, path)
  })
}

export function formText(params: StripeParams): string {
  return new URLSearchParams(formPairs(params)).toString()
}

function isList(value: StripeParams | readonly string[]): value is readonly string[] {
  return Array.isArray(value)
}
