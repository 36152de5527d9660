// @ts-check
// What the racers do: a mail, which no provider dedupes and nobody can look up. A second dispatch is a second mail.
//
// The same effect under each way of naming an action: the caller's key, declared identity, the run, and the intent.

import { defineTool } from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import { z } from "zod"

export const API_KEY = "sk_test_race"

/** @typedef {"explicit" | "derived" | "run" | "intent" | "retry"} Kind */

/** @type {readonly Kind[]} */
export const KINDS = ["explicit", "derived", "run", "intent", "retry"]

/** @param {string} url of the provider */
export function raceTools(url) {
  const definition = /** @type {const} */ ({
    safety: "irreversible",
    transport: "invoke",
    applied: "2xx",
    input: z.object({ round: z.string(), from: z.string().optional() }),
    contract: { effect: { method: "POST", path: "/send" } },
    timeout: "60s",
    // So that there is budget for a retry. An outcome that is not known goes to a person at once all the same.
    attempts: 2,
  })
  /** @param {{ params: { round: string }, fetch: import("@invokejs/engine").InvokeFetch }} context */
  const execute = async ({ params, fetch }) => {
    const answer = await fetch(`${url}/send`, {
      method: "POST",
      headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ to: "ada@example.com", subject: params.round, body: "Due on Friday." }),
    })
    return /** @type {{ id?: string }} */ (await answer.json()).id ?? null
  }
  return [
    defineTool({ ...definition, name: "race.keyed", execute }),
    defineTool({ ...definition, name: "race.derived", identity: (p) => ({ round: id(p.round) }), execute }),
    defineTool({ ...definition, name: "race.intent", intent: (p) => ({ round: id(p.round) }), execute }),
  ]
}

/**
 * One racer's call of a round. Under `intent` each racer brings a key and a word of its own.
 *
 * @param {Kind} kind @param {string} round @param {string} racer
 * @returns {import("@invokejs/engine").CallOptions}
 */
export function raceCall(kind, round, racer) {
  const params = { round }
  const wait = "10m"
  switch (kind) {
    case "explicit":
    case "retry":
      return { tool: "race.keyed", params, idempotencyKey: round, wait }
    case "derived":
      return { tool: "race.derived", params, wait }
    case "run":
      return { tool: "race.keyed", params, runId: round, wait }
    case "intent":
      return { tool: "race.intent", params: { round, from: racer }, idempotencyKey: `${round}:${racer}`, wait }
  }
}
