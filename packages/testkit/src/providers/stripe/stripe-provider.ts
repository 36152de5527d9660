/**
 * A stand-in shaped after Stripe's v1 API: charges, refunds, PaymentIntents, events, and its idempotency layer.
 *
 * Order of judgement on a POST: bearer key (401), key layer (replay, 400, 409), validation (400, 404: not stored),
 * execution (everything it answers is stored). 429 and load shedding are ordered from outside and come before it all.
 */
import type { KeyRecord } from "../ledger-line.ts"
import type { LineIds } from "../provider-ids.ts"
import { jsonAnswer, type Plan, type Provider, type ProviderAnswer } from "../provider.ts"
import type { ProviderRequest, ProviderWorld } from "../provider.ts"
import type { ProviderKind } from "../provider-server.ts"
import { KeyLayer } from "./key-layer.ts"
import { StripeAccount } from "./stripe-account.ts"
import { CHARGE_PARAMS, captureCharge, createCharge, type Run } from "./stripe-charges.ts"
import { missing, StripeError, stripeErrorAnswer, stripeWords } from "./stripe-error.ts"
import { listPage } from "./stripe-lists.ts"
import { StripeParams } from "./stripe-params.ts"
import * as intents from "./stripe-payment-intents.ts"
import { createRefund, REFUND_PARAMS } from "./stripe-refunds.ts"
import { settleDue } from "./stripe-settlement.ts"
import { EVENTS_KEPT_MS, STRIPE_CHOICES, STRIPE_DEFAULTS, type StripeSettings } from "./stripe-settings.ts"
import { StripeWriter } from "./stripe-writer.ts"

export const STRIPE: ProviderKind<StripeSettings> = {
  name: "stripe",
  defaults: STRIPE_DEFAULTS,
  choices: STRIPE_CHOICES,
  requestIdPrefix: "req_",
  open: (world) => new StripeProvider(world),
}

class StripeProvider implements Provider {
  readonly #world: ProviderWorld<StripeSettings>
  readonly #account: StripeAccount
  readonly #keys = new KeyLayer()

  constructor(world: ProviderWorld<StripeSettings>) {
    this.#world = world
    this.#account = new StripeAccount(world.store, world.settings)
  }

  plan(request: ProviderRequest): Plan {
    try {
      this.#authenticate(request)
      if (request.method === "GET") return { kind: "answer", answer: jsonAnswer(200, this.#read(request)) }
      if (request.method !== "POST") throw unrecognized(request)
      return this.#planPost(request)
    } catch (error) {
      if (error instanceof StripeError) return { kind: "answer", answer: error.answer() }
      throw error
    }
  }

  due(ids: LineIds): StripeWriter["changes"] {
    const writer = new StripeWriter(ids, this.#world.clock.now_ms(), { id: null, idempotency_key: null })
    settleDue(this.#account, writer)
    return writer.changes
  }

  ordered(status: number): ProviderAnswer {
    return stripeErrorAnswer(status, stripeWords(status))
  }

  learn(key: KeyRecord, request_id: string, answer: { readonly status: number; readonly body: string }): void {
    this.#keys.learn(key, request_id, answer)
  }

  #authenticate(request: ProviderRequest): void {
    const { api_key } = this.#world.settings()
    if (api_key === "" || request.headers.get("authorization") === `Bearer ${api_key}`) return
    throw new StripeError(401, stripeWords(401))
  }

  #planPost(request: ProviderRequest): Plan {
    const now_ms = this.#world.clock.now_ms()
    const replay = this.#keys.replay(request, now_ms, this.#world.settings().key_retention_ms)
    if (replay !== null) return { kind: "answer", answer: replay }
    const run = this.#endpoint(request)
    const key = this.#keys.claim(request, now_ms)
    return {
      kind: "execute",
      key,
      run: () => {
        const cause = { id: request.id, idempotency_key: key?.record.key ?? null }
        const writer = new StripeWriter(request.ids, this.#world.clock.now_ms(), cause)
        try {
          const execution = run(writer)
          return key === null ? execution : withKeyEcho(execution, key.record.key)
        } catch (error) {
          if (error instanceof StripeError) return { effects: [], changes: [], answer: error.answer() }
          throw error
        }
      },
    }
  }

  /** Validates, and answers with what would run. Throws what is refused before execution begins. */
  #endpoint(request: ProviderRequest): Run {
    const [, collection, id, act] = /^\/v1\/([a-z_]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(request.path) ?? []
    const params = (known: readonly string[]): StripeParams => new StripeParams(request.body, known)
    switch (`${collection ?? ""}${id === undefined ? "" : "/:id"}${act === undefined ? "" : `/${act}`}`) {
      case "charges":
        return createCharge(this.#account, params(CHARGE_PARAMS))
      case "charges/:id/capture":
        return captureCharge(this.#account, id ?? "", params(["amount"]))
      case "refunds":
        return createRefund(this.#account, params(REFUND_PARAMS))
      case "payment_intents":
        return intents.createPaymentIntent(this.#account, params(intents.PAYMENT_INTENT_PARAMS))
      case "payment_intents/:id/confirm":
        return intents.confirmPaymentIntent(this.#account, id ?? "", params(intents.CONFIRM_PARAMS))
      case "payment_intents/:id/capture":
        return intents.capturePaymentIntent(this.#account, id ?? "", params(intents.CAPTURE_PARAMS))
      case "payment_intents/:id/cancel":
        return intents.cancelPaymentIntent(this.#account, id ?? "", params(intents.CANCEL_PARAMS))
      default:
        throw unrecognized(request)
    }
  }

  #read(request: ProviderRequest): unknown {
    const [, collection, id] = /^\/v1\/([a-z_]+)(?:\/([^/]+))?$/.exec(request.path) ?? []
    const account = this.#account
    const now_ms = this.#world.clock.now_ms()
    const { list_lag_ms } = this.#world.settings()
    switch (collection) {
      case "charges":
        if (id !== undefined) return account.charge(id)
        return listPage(request, account.charges.behind(list_lag_ms, now_ms), {
          customer: (charge) => charge.customer,
          payment_intent: (charge) => charge.payment_intent,
        })
      case "refunds":
        if (id !== undefined) return account.refund(id)
        return listPage(request, account.refunds.behind(list_lag_ms, now_ms), {
          charge: (refund) => refund.charge,
          payment_intent: (refund) => refund.payment_intent,
        })
      case "payment_intents":
        if (id !== undefined) return account.payment_intent(id)
        return listPage(request, account.payment_intents.behind(list_lag_ms, now_ms), {
          customer: (intent) => intent.customer,
        })
      case "events":
        return this.#readEvents(request, id, now_ms)
      default:
        throw unrecognized(request)
    }
  }

  #readEvents(request: ProviderRequest, id: string | undefined, now_ms: number): unknown {
    const events = this.#account.events
      .behind(this.#world.settings().events_lag_ms, now_ms)
      .filter((event) => event.created * 1000 > now_ms - EVENTS_KEPT_MS)
    if (id === undefined)
      return listPage(request, events, { type: (event) => event.type, types: (event) => event.type })
    const event = events.find((candidate) => candidate.id === id)
    if (event === undefined) throw missing("event", id)
    return event
  }
}

function withKeyEcho(execution: ReturnType<Run>, key: string): ReturnType<Run> {
  const { answer } = execution
  return { ...execution, answer: { ...answer, headers: { ...answer.headers, "idempotency-key": key } } }
}

function unrecognized(request: ProviderRequest): StripeError {
  const message = `Unrecognized request URL (${request.method}: ${request.path}).`
  return new StripeError(404, { type: "invalid_request_error", message })
}
