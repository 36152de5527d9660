/**
 * The conformance probe of Stripe's idempotency keys: what the contract says of them, tried out where they will be used.
 *
 * Owns: the cases, and the record that `proved` of the contract takes.
 * Must not: touch real money. It runs with test-mode keys, or against a stand-in; every object carries `invoke_proof`.
 *
 * PR1. In sequence: the same request under the same key makes one object, and the second answer says that it is a replay.
 * PR2. The same key with another body is refused as `idempotency_error`, and makes nothing.
 * PR3. Overlapping: two requests at once make one object; the loser is refused with 409 or gets the winner's object.
 * PR4. A decline is replayed: it is the key's answer, not one request's.
 * PR5. What was made is counted in Stripe's lists, not in the answers.
 * PR6. It is a proof of the endpoints tried: charges, refunds, and payment intents made, confirmed, captured, cancelled.
 */
import { InvokeError } from "@invokejs/protocol"
import type { InvokeFetch } from "@invokejs/engine"
import { formText, type StripeAnswer, type StripeApi, type StripeParams } from "./stripe-api.ts"
import { STRIPE_API_VERSION, STRIPE_BASE_URL, type StripeProof } from "./stripe-contract.ts"
import { stripeHttp } from "./stripe-http.ts"
import { isRecord, metadataOf, stripeObject, textOf } from "./stripe-object.ts"

export interface ProveStripeKeyOptions {
  /** A test-mode key: `sk_test_…` or `rk_test_…`. */
  readonly apiKey: string
  /** The platform's `fetch`. */
  readonly fetch: InvokeFetch
  /** Default `https://api.stripe.com`. */
  readonly baseUrl?: string
  readonly apiVersion?: string
  /** Names a stand-in in the record. Stripe itself is named by its address. */
  readonly against?: string
}

/** Returns what `stripeTools({ proved })` takes. Throws, and says which case failed, where the keys do not hold. */
export async function proveStripeKey(options: ProveStripeKeyOptions): Promise<StripeProof> {
  const { apiKey, fetch, baseUrl = STRIPE_BASE_URL, apiVersion = STRIPE_API_VERSION } = options
  if (!/^[sr]k_test_/.test(apiKey)) {
    throw new InvokeError("invalid_request", {
      happened: "proveStripeKey got a key that is not a test-mode key",
      fix: "Pass a key that begins with sk_test_ or rk_test_: the probe makes charges.",
      detail: { field: "apiKey" },
    })
  }
  const api = stripeHttp({ apiKey, baseUrl, apiVersion })
  const run = await begin(api, fetch)
  await proveCharges(run)
  await proveDecline(run)
  await provePaymentIntents(run)
  const date = new Date(run.began_at).toISOString().slice(0, 10)
  const { host } = new URL(baseUrl)
  const named =
    host === new URL(STRIPE_BASE_URL).host
      ? `Stripe's test mode at ${host}, version ${apiVersion}`
      : `a stand-in at ${host}, not Stripe`
  return { date, against: options.against ?? named }
}

interface ProofRun {
  readonly api: StripeApi
  readonly fetch: InvokeFetch
  readonly signal: AbortSignal
  /** Stripe's own id of the first request: no other run has it. */
  readonly id: string
  readonly began_at: number
}

interface ProofCase {
  readonly name: string
  readonly path: string
  readonly body: StripeParams
  /** The same request with something changed. */
  readonly other: StripeParams
  /** What the endpoint answers with. */
  readonly kind: string
  /** Where what it made is listed; left out for steps of an object that is there already. */
  readonly list?: string
}

async function begin(api: StripeApi, fetch: InvokeFetch): Promise<ProofRun> {
  let date: string | null = null
  const dated: InvokeFetch = async (input, init) => {
    const response = await fetch(input, init)
    date = response.headers.get("date")
    return response
  }
  const { signal } = new AbortController()
  const answer = await api.get("/v1/charges?limit=1", { fetch: dated, signal })
  const began_at = Date.parse(date ?? "")
  if (answer.status !== 200 || answer.request_id === null || Number.isNaN(began_at)) {
    throw failed("begin", `GET /v1/charges was answered ${answer.status}, or without Date and Request-Id`)
  }
  return { api, fetch, signal, id: answer.request_id, began_at }
}

async function proveCharges(run: ProofRun): Promise<void> {
  const body = { amount: 100, currency: "usd", source: "tok_visa" }
  const charge = { path: "/v1/charges", body, other: { ...body, amount: 101 }, kind: "charge", list: "/v1/charges" }
  const charge_id = await proveCase(run, { ...charge, name: "charge" })
  await proveOverlap(run, { ...charge, name: "charge_overlap" })
  const part = { charge: charge_id, amount: 10 }
  const refund = {
    path: "/v1/refunds",
    body: part,
    other: { ...part, amount: 11 },
    kind: "refund",
    list: "/v1/refunds",
  }
  await proveCase(run, { ...refund, name: "refund" })
  await proveOverlap(run, { ...refund, name: "refund_overlap" })
}

async function provePaymentIntents(run: ProofRun): Promise<void> {
  const body = { amount: 100, currency: "usd", payment_method_types: ["card"], capture_method: "manual" }
  const path = "/v1/payment_intents"
  const kind = "payment_intent"
  const intent = { path, body, other: { ...body, amount: 101 }, kind, list: path }
  const intent_id = await proveCase(run, { ...intent, name: "intent" })
  const spare_id = await proveOverlap(run, { ...intent, name: "intent_overlap" })
  const method = { payment_method: "pm_card_visa" }
  const step = (id: string, verb: string) => ({ name: verb, path: `${path}/${id}/${verb}`, kind })
  await proveCase(run, { ...step(intent_id, "confirm"), body: method, other: { payment_method: "pm_card_mastercard" } })
  await proveCase(run, {
    ...step(intent_id, "capture"),
    body: { amount_to_capture: 50 },
    other: { amount_to_capture: 51 },
  })
  await proveCase(run, {
    ...step(spare_id, "cancel"),
    body: { cancellation_reason: "abandoned" },
    other: { cancellation_reason: "duplicate" },
  })
}

/** PR1, PR2, PR5. Returns the id of the object. */
async function proveCase(run: ProofRun, one: ProofCase): Promise<string> {
  const first = await send(run, one, one.body)
  const made = objectOf(one, first)
  const again = await send(run, one, one.body)
  if (objectOf(one, again) !== made) throw failed(one.name, "the same request under the same key made another object")
  if (!again.replayed) throw failed(one.name, "the second answer does not say that it is a replay")
  const other = await send(run, one, one.other)
  if (other.status !== 400 || errorType(other) !== "idempotency_error") {
    throw failed(one.name, `the key with another body was answered ${other.status}, not as idempotency_error`)
  }
  await count(run, one)
  return made
}

/** PR3, PR5. */
async function proveOverlap(run: ProofRun, one: ProofCase): Promise<string> {
  const answers = await Promise.all([send(run, one, one.body), send(run, one, one.body)])
  const made = new Set(answers.filter(({ status }) => status === 200).map((answer) => objectOf(one, answer)))
  const refused = answers.filter(({ status }) => status !== 200)
  const [id, ...more] = made
  if (id === undefined || more.length > 0) throw failed(one.name, `two requests at once made ${made.size} objects`)
  if (refused.some(({ status }) => status !== 409))
    throw failed(one.name, "a request at the same time was refused otherwise than by 409")
  await count(run, one)
  return id
}

/** PR4. */
async function proveDecline(run: ProofRun): Promise<void> {
  const body = { amount: 100, currency: "usd", source: "tok_chargeDeclined" }
  const one = { name: "decline", path: "/v1/charges", body, other: body, kind: "charge", list: "/v1/charges" }
  const first = await send(run, one, body)
  const again = await send(run, one, body)
  if (first.status !== 402 || again.status !== 402)
    throw failed(one.name, `answered ${first.status}, then ${again.status}, not 402`)
  if (!again.replayed) throw failed(one.name, "the second decline does not say that it is a replay")
  await count(run, one)
}

function send({ api, fetch, signal, id }: ProofRun, one: ProofCase, body: StripeParams): Promise<StripeAnswer> {
  const marked = one.list === undefined ? body : { ...body, metadata: { invoke_proof: `${id}:${one.name}` } }
  return api.post(one.path, marked, { providerKey: `invoke-proof:${id}:${one.name}`, fetch, signal })
}

async function count({ api, fetch, signal, id, began_at }: ProofRun, { name, kind, list }: ProofCase): Promise<void> {
  if (list === undefined) return
  // Both times are Stripe's own; a minute covers a run whose first answer and objects were dated by different machines.
  const since = Math.floor(began_at / 1_000) - 60
  const answer = await api.get(`${list}?${formText({ limit: 100, created: { gte: since } })}`, { fetch, signal })
  const data: unknown = isRecord(answer.body) ? answer.body["data"] : null
  if (!Array.isArray(data)) throw failed(name, `${list} was answered ${answer.status}`)
  const ours = data
    .map((one: unknown) => stripeObject(one, kind))
    .filter((one) => one !== null && metadataOf(one)["invoke_proof"] === `${id}:${name}`)
  if (ours.length !== 1) throw failed(name, `${ours.length} objects are listed where one was to be made`)
}

function objectOf({ name, kind }: ProofCase, { status, body }: StripeAnswer): string {
  const object = status === 200 ? stripeObject(body, kind) : null
  if (object === null) throw failed(name, `answered ${status}, not with a ${kind}`)
  return object.id
}

function errorType({ body }: StripeAnswer): string | null {
  const error = isRecord(body) ? body["error"] : null
  return isRecord(error) ? textOf(error, "type") : null
}

function failed(name: string, what: string): Error {
  return new Error(`the idempotency keys are not proved (${name}): ${what}`)
}
