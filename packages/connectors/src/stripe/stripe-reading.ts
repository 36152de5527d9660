/**
 * What one answer of Stripe to an effect request says about that effect.
 *
 * Owns: the reading of statuses and error types, with Stripe's documented order of its layers (sources in the contract).
 * Must not: repeat Stripe's words. Messages of a provider can carry instructions to a model; codes are checked for their form.
 *
 * RD1. 401, 403 and 429 come before the key layer: they speak for this one request and prove nothing about an earlier one.
 * RD2. 409 means that a request under the key is running: neither applied nor not applied.
 * RD3. `idempotency_error` means that the key was first used with another body. That other body may well have been applied.
 * RD4. 402 with a card error is a decline: executed, stored and replayed under the key.
 * RD5. 5xx proves nothing, replayed or not.
 * RD6. A refusal speaks for the attempt only if its request was the only one.
 */
import { outcome, type AcceptedOutcome, type AppliedOutcome } from "@invokejs/engine"
import type { StripeAnswer } from "./stripe-api.ts"
import { isRecord, stripeObject, textOf, type StripeObject } from "./stripe-object.ts"

export type StripeReading =
  | { readonly says: "object"; readonly object: StripeObject }
  /** Stripe said 200, and the rest of its answer is lost. */
  | { readonly says: "taken" }
  /** Another body holds the key (RD3). */
  | { readonly says: "key_used" }
  /** Refused for good: the same request would be refused again. */
  | { readonly says: "refused"; readonly code: string; readonly text: string }
  /** Not applied, and the same request may be accepted later. */
  | { readonly says: "not_applied"; readonly code: string; readonly text: string }
  | { readonly says: "nothing"; readonly text: string }

/** `kind` is the object that the endpoint answers with. */
export function readAnswer(answer: StripeAnswer, kind: string): StripeReading {
  const { status, body, request_id, sent } = answer
  if (status === 200) {
    const object = stripeObject(body, kind)
    if (object) return { says: "object", object }
    // An answer without Stripe's request id may come from whoever stands in between.
    return request_id === null ? nothing(answer, "it is not an answer of Stripe's") : { says: "taken" }
  }
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : null
  if (error === null) return nothing(answer, "without an error of Stripe's")
  if (status === 400 && error["type"] === "idempotency_error") return { says: "key_used" }
  if (sent !== 1) return nothing(answer, `after ${sent} requests, of which it speaks for one`)
  return readRefusal(answer, error)
}

function readRefusal(answer: StripeAnswer, error: { readonly [field: string]: unknown }): StripeReading {
  const code = codeOf(error, "code")
  switch (answer.status) {
    case 400:
    case 404:
      return refused(code ?? "invalid_request", "Stripe refused the request as invalid")
    case 401:
      return notApplied("unauthenticated", "Stripe does not accept the API key")
    case 403:
      return notApplied("forbidden", "the API key has no right to this request")
    case 402: {
      if (error["type"] !== "card_error") return nothing(answer, "without a card error")
      const decline = codeOf(error, "decline_code")
      return refused(code ?? "card_declined", `the payment was declined${decline === null ? "" : ` (${decline})`}`)
    }
    case 429:
      // A lock timeout comes from inside the endpoint; no page of Stripe's says that nothing was done before it.
      return code === "lock_timeout"
        ? nothing(answer, "lock_timeout")
        : notApplied(code ?? "rate_limit", "Stripe limits the rate of requests")
    default:
      return nothing(answer, code ?? codeOf(error, "type") ?? "an error")
  }
}

/** The outcome word of a reading. `settle` reads the object that Stripe answered with. Throws what a tool throws. */
export function wordOf<State>(
  reading: StripeReading,
  settle: (object: StripeObject) => AppliedOutcome<State> | AcceptedOutcome,
): AppliedOutcome<State> | AcceptedOutcome {
  switch (reading.says) {
    case "object":
      return settle(reading.object)
    case "taken":
    case "key_used":
      // Something under this key was taken by Stripe, and no silence of a list may deny it: it waits for what a look finds.
      return outcome.accepted()
    case "refused":
      throw outcome.rejected({ code: reading.code, message: reading.text })
    case "not_applied":
      throw outcome.notApplied({ code: reading.code, message: reading.text })
    case "nothing":
      throw outcome.unknown({ code: "unclear_answer", message: reading.text })
  }
}

const CODE = /^[a-z][a-z0-9_]{0,63}$/

/** A code of Stripe's, or null: anything that does not look like one is not passed on. */
export function codeOf(error: { readonly [field: string]: unknown }, field: string): string | null {
  const code = textOf(error, field)
  return code !== null && CODE.test(code) ? code : null
}

function refused(code: string, text: string): StripeReading {
  return { says: "refused", code, text }
}

function notApplied(code: string, text: string): StripeReading {
  return { says: "not_applied", code, text }
}

function nothing({ status, replayed, request_id }: StripeAnswer, why: string): StripeReading {
  const named = request_id === null ? "" : `, ${request_id}`
  return { says: "nothing", text: `Stripe answered ${status} (${why}${replayed ? ", replayed" : ""}${named})` }
}
