// @ts-check
// What can happen to an operation, as the walk of the states tries it: the engine's events, the ends of attempts, looks, verbs.

import { DEFAULTS } from "@invokejs/protocol"

/** @import { AttemptOutcome, Candidate, Operation, OperationEvent } from "@invokejs/protocol" */
/** @typedef {{ label: string, event: OperationEvent, kind?: "verb" | "not built", about?: number }} Try */

const HOUR = 3_600_000
const DAY = 24 * HOUR
export const ATTEMPTS_WALKED = 2
export const REASON = { code: "walk", text: "the walk says so" }

/** @param {boolean} done @returns {Candidate} */
const object = (done) => ({ object_id: "obj-1", operation_id: "op-1", final: true, state: { name: "ours", done } })

/** What looks can find: nothing, our object as it should be, our object in another final state. */
const FOUND = [[], [object(true)], [object(false)]]

/** @param {Operation} operation @param {number} now @returns {Try[]} */
function looks(operation, now) {
  if (!operation.checkable || operation.attempts.length === 0) return []
  const generations = [...new Set([...operation.attempts.map((one) => one.generation), operation.generation])]
  return FOUND.map((candidates, index) => ({
    label: "look",
    event: /** @type {const} */ ({
      type: "evidence",
      context: { now, taken: [], rivals: 0, clock_stepped_at: null },
      evidence: {
        evidence_id: `look-${operation.version}-${index}`,
        source: "probe",
        rank: "observed",
        attempt: null,
        generation: null,
        observed_from: now,
        recorded_at: now,
        finding: { kind: "look", candidates, complete: true, search: false, generations },
      },
    }),
  }))
}

/** @param {Operation} operation @param {number} now @returns {Try[]} */
function outcomes(operation, now) {
  const word = { reason: REASON, proof: /** @type {const} */ ("word"), speaks_for: /** @type {const} */ ("attempt") }
  /** @type {AttemptOutcome[]} */
  const classes = [
    { class: "applied", output: {} },
    { class: "accepted", output: {} },
    { class: "not_applied", ...word },
    { class: "rejected", ...word, look_first: false },
    { class: "rejected", ...word, look_first: true },
    { class: "unknown", reason: REASON },
  ]
  return operation.attempts.flatMap(({ attempt }) =>
    classes.map((outcome, index) => ({
      label: `outcome ${outcome.class}`,
      about: attempt,
      event: /** @type {OperationEvent} */ ({
        type: "outcome",
        attempt,
        outcome,
        left: true,
        evidence_id: `out-${now}-${attempt}-${index}`,
      }),
    })),
  )
}

/** @param {Operation} operation @param {number} now @returns {Try[]} */
function verbs(operation, now) {
  const to = /** @type {const} */ (["succeeded", "not_applied", "undone", "ready", "closed_unknown"])
  const amends = /** @type {const} */ (["succeeded", "undone", "not_applied", "closed_unknown"])
  const last = operation.attempts.at(-1)?.attempt ?? 0
  /** @type {[string, OperationEvent][]} */
  const events = [
    ["allow", { type: "allow", reason: "meant" }],
    ["approve", { type: "approve", reason: "yes" }],
    ["deny", { type: "deny", reason: "no" }],
    ["cancel", { type: "cancel", reason: "no" }],
    ["reconcile", { type: "reconcile" }],
    ["retry", { type: "retry", after_attempt: last, deadline_at: now + DAY, automatic: false }],
    ...to.map(
      (state) =>
        /** @type {[string, OperationEvent]} */ ([
          "resolve",
          {
            type: "resolve",
            evidence_id: `res-${operation.version}`,
            resolve: { to: state, reason: "seen", evidence: { ticket: "T-1" }, process_gone: true },
          },
        ]),
    ),
    ...amends.map(
      (state) =>
        /** @type {[string, OperationEvent]} */ ([
          "amend",
          { type: "amend", to: state, reason: "seen", process_gone: true, evidence_id: `am-${operation.version}` },
        ]),
    ),
  ]
  return events.map(([label, event]) => ({ label, event, kind: NOT_BUILT.includes(label) ? "not built" : "verb" }))
}

/** Approvals and policies are not built; the states hear them already. */
const NOT_BUILT = ["policy", "drift", "ask", "approve", "deny"]

/** @param {Operation} operation @param {number} now @returns {Try[]} */
function engineEvents(operation, now) {
  const worker_id = "w-1"
  /** @type {[string, OperationEvent][]} */
  const events = [
    ["timer", { type: "due" }],
    ["lapse", { type: "lapsed", why: "timeout" }],
    ["lapse", { type: "lapsed", why: "lease" }],
    ["worker gone", { type: "worker_gone", worker_id, proof: "lock_free" }],
    ["policy", { type: "policy_refused", reason: REASON }],
    ["drift", { type: "drifted", reason: REASON }],
    ["ask", { type: "ask", approval_id: "ap-2", expires_at: now + HOUR, reason: REASON }],
    ["slot free", { type: "slot", free: true, held_by: null }],
    ["slot filled", { type: "slot", free: false, held_by: "op-0" }],
    ["look before", { type: "looked_before", seen: [], version: null, full_match: null }],
    ["look before", { type: "looked_before", seen: [], version: null, full_match: "obj-0" }],
    ["probe unanswered", { type: "probe_unanswered", reason: REASON }],
  ]
  if (operation.attempts.length < ATTEMPTS_WALKED) {
    const provider_key = `key-${operation.generation}`
    events.push([
      "dispatch",
      {
        type: "dispatch",
        worker_id,
        lease_token: "t",
        lease_until: now + DEFAULTS.lease_ms,
        provider_key,
        transport: "opaque",
        contract: operation.contract,
        judged_version: operation.version,
        approval_until: now + HOUR,
        tool_version: "1",
      },
    ])
  }
  return events.map(([label, event]) =>
    NOT_BUILT.includes(label) ? { label, event, kind: "not built" } : { label, event },
  )
}

/** Everything that is tried on the operation at this moment. @param {Operation} operation @param {number} now */
export function triesOn(operation, now) {
  return [engineEvents, outcomes, looks, verbs].flatMap((make) => make(operation, now))
}
