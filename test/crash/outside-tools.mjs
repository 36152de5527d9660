// @ts-check
// One tool for each class that has an outside effect, all with one parameter: the marker that its effect carries.
//
//   idempotent             a charge under a proved provider key; nobody looks
//   write-once-checkable   a charge without a key, which carries the operation's id and can be looked up
//   irreversible           a mail: no key, and no question is answered

import { STAND_IN_PROOF, STRIPE_KEY } from "@invokejs/connectors/stripe"
import { absent, defineTool, found, outcome } from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import { z } from "zod"

/** @typedef {"idempotent" | "write-once-checkable" | "irreversible"} Safety */
/** @typedef {"invoke" | "opaque"} TransportKind */
/** @typedef {{ readonly method: string, readonly headers: Record<string, string>, readonly body: string }} EffectRequest */

export const API_KEY = "sk_test_crash"
const AMOUNT = 2_400

const common = /** @type {const} */ ({
  input: z.object({ marker: z.string() }),
  /** @param {{ marker: string }} params */
  identity: (params) => ({ marker: id(params.marker) }),
  timeout: "60s",
})

/**
 * @param {{ readonly safety: Safety, readonly transport: TransportKind, readonly url: string }} setup
 */
export function outsideTool(setup) {
  switch (setup.safety) {
    case "idempotent":
      return keyedCharge(setup)
    case "write-once-checkable":
      return checkableCharge(setup)
    case "irreversible":
      return mail(setup)
  }
}

/** @param {{ readonly transport: TransportKind, readonly url: string }} setup */
function keyedCharge({ transport, url }) {
  const key = { ...STRIPE_KEY, proved: STAND_IN_PROOF }
  return defineTool({
    ...common,
    name: "crash.keyed_charge",
    safety: "idempotent",
    // A provider that is away for seconds answers several attempts with a reset; each of them may have landed.
    attempts: 12,
    ...declared(transport),
    contract: { key, ...effectOf(transport, "/v1/charges") },
    execute: ({ params, fetch, providerKey }) => {
      const headers = transport === "opaque" ? { "idempotency-key": providerKey } : {}
      return send(transport, fetch, `${url}/v1/charges`, charge(params.marker, {}, headers))
    },
  })
}

/** @param {{ readonly transport: TransportKind, readonly url: string }} setup */
function checkableCharge({ transport, url }) {
  return defineTool({
    ...common,
    name: "crash.checkable_charge",
    safety: "write-once-checkable",
    ...declared(transport),
    contract: {
      lookup: { correlates: "operation", consistency: "bounded", maxExecution: "2s", visibility: 0, spacing: "1s" },
      ...effectOf(transport, "/v1/charges"),
    },
    execute: ({ params, fetch, operationId }) => {
      const request = charge(params.marker, { "metadata[operation_id]": operationId }, {})
      return send(transport, fetch, `${url}/v1/charges`, request)
    },
    probe: async ({ params, fetch, operationId }) => {
      const answer = await fetch(`${url}/v1/charges?customer=${params.marker}&limit=100`, { headers: bearer() })
      if (!answer.ok) throw new Error(`the provider answered ${answer.status}`)
      const { data, has_more } =
        /** @type {{ data: { id: string, amount: number, status: string, metadata: Record<string, string> }[], has_more: boolean }} */ (
          await answer.json()
        )
      const ours = data.find((one) => one.metadata["operation_id"] === operationId)
      if (ours === undefined) return absent({ complete: !has_more })
      const state = { marker: params.marker, amount: ours.amount, paid: ours.status === "succeeded" }
      return found({ id: ours.id, operationId, state })
    },
    expect: (params) => ({
      match: { marker: id(params.marker) },
      effect: { paid: true },
      invariant: { amount: AMOUNT },
    }),
  })
}

/** @param {{ readonly transport: TransportKind, readonly url: string }} setup */
function mail({ transport, url }) {
  return defineTool({
    ...common,
    name: "crash.mail",
    safety: "irreversible",
    ...declared(transport),
    contract: effectOf(transport, "/send"),
    execute: ({ params, fetch }) =>
      send(transport, fetch, `${url}/send`, {
        method: "POST",
        headers: { ...bearer(), "content-type": "application/json" },
        body: JSON.stringify({ to: "ada@example.com", subject: params.marker, body: "Due on Friday." }),
      }),
  })
}

/** @param {TransportKind} transport @returns {{ readonly applied: "returned" } | { readonly applied: "2xx", readonly transport: "invoke" }} */
function declared(transport) {
  return transport === "opaque" ? { applied: "returned" } : { applied: "2xx", transport: "invoke" }
}

/** @param {TransportKind} transport @param {string} path */
function effectOf(transport, path) {
  return transport === "opaque" ? {} : { effect: { method: "POST", path } }
}

/** @param {string} marker @param {Record<string, string>} more @param {Record<string, string>} headers @returns {EffectRequest} */
function charge(marker, more, headers) {
  const body = new URLSearchParams({ amount: String(AMOUNT), currency: "usd", customer: marker, ...more })
  return {
    method: "POST",
    headers: { ...bearer(), "content-type": "application/x-www-form-urlencoded", ...headers },
    body: body.toString(),
  }
}

function bearer() {
  return { authorization: `Bearer ${API_KEY}` }
}

/**
 * An opaque tool has to say itself what a refusal means; over Invoke's transport the status says it.
 *
 * @param {TransportKind} transport @param {import("@invokejs/engine").InvokeFetch} invokeFetch @param {string} url @param {EffectRequest} request
 */
async function send(transport, invokeFetch, url, request) {
  const answer = await (transport === "opaque" ? fetch(url, request) : invokeFetch(url, request))
  const text = await answer.text()
  if (transport === "opaque" && answer.status === 401) throw outcome.notApplied({ code: "unauthorized" })
  if (transport === "opaque" && answer.status === 405) throw outcome.rejected({ code: "method_not_allowed" })
  if (transport === "opaque" && !answer.ok) throw new Error(`the provider answered ${answer.status}`)
  return /** @type {{ id?: string }} */ (JSON.parse(text)).id ?? null
}
