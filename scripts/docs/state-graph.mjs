// @ts-check
// Walks every state that `transition()` can reach and collects the edges, so that diagram and tables are drawn from what the
// code does and not from what somebody remembers.
//
// It owns the walk: which contracts, admissions and events are tried. What an event may do is decided by the protocol alone.
// Invariants:
//   SG1  Only steps that `transition()` allows become edges. An edge that nobody walked is missing, never invented.
//   SG2  The walk is deterministic: no clock, no randomness. The same code gives the same text.

import { DEFAULTS, propose, transition } from "@invokejs/protocol"
import { ATTEMPTS_WALKED, REASON, triesOn } from "./state-events.mjs"

/** @import { Operation, Contract } from "@invokejs/protocol" */
/** @typedef {"by itself" | "late" | "verb" | "not built"} EdgeKind */
/** @typedef {{ from: string, by: string, to: string, kind: EdgeKind }} Edge */
/** @import { Try } from "./state-events.mjs" */

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR
const START = 1_767_225_600_000
const PROVED = { date: "2026-01-01", against: "its stand-in" }

const LOOKUP = {
  correlates: /** @type {const} */ ("created"),
  consistency: /** @type {const} */ ("bounded"),
  max_execution_ms: DEFAULTS.max_execution_ms,
  visibility_ms: DEFAULTS.visibility_ms,
  negatives: 1,
  spacing_ms: DEFAULTS.spacing_min_ms,
  resolution_ms: SECOND,
  skew_ms: DEFAULTS.skew_ms,
  creation_time: false,
}

/** @type {Contract} */
const BLIND = {
  applied: "returned",
  has_resource: false,
  exclusive: false,
  shared: false,
  many: false,
  timeout_ms: DEFAULTS.timeout_ms,
  attempts: ATTEMPTS_WALKED,
  deadline_ms: DEFAULTS.deadline_ms,
  settle_by_ms: DEFAULTS.settle_by_ms,
}

const KEY = {
  sent_as: "header:Idempotency-Key",
  retention_ms: DAY,
  replay: /** @type {const} */ ("stored"),
  in_flight: /** @type {const} */ ("refuses"),
  replays_errors: true,
  on_mismatch: /** @type {const} */ ("refuses"),
  proved: PROVED,
}

/** One that can be looked up, and one that has nothing but a provider key. @type {Contract[]} */
const CONTRACTS = [
  { ...BLIND, lookup: LOOKUP },
  { ...BLIND, key: KEY },
]

/** @param {Contract} contract @returns {Parameters<typeof propose>[0]} */
function proposal(contract) {
  return {
    operation_id: "op-1",
    tenant: "default",
    tool: "tool",
    tool_version: "1",
    namespace: "tool",
    safety: contract.lookup ? "write-once-checkable" : contract.key ? "idempotent" : "irreversible",
    checkable: contract.lookup !== undefined,
    key: "key",
    key_kind: "explicit",
    revision: 1,
    identity_version: "1",
    identity: null,
    intent: null,
    intent_digest: null,
    fingerprint: "",
    params: {},
    expectation: {
      match: { name: { op: "eq", value: { type: "id", value: "ours" } } },
      effect: { done: { op: "eq", value: { type: "boolean", value: "true" } } },
      invariant: {},
    },
    resource: null,
    contract,
    agent_id: "default",
    run_id: null,
    turn_id: null,
    group_id: null,
    labels: {},
    retry_on_repeat: true,
    supersedes: null,
    repeats: null,
    compensates: null,
  }
}

/** @returns {Operation[]} */
function births() {
  const context = { now: START, unit: 0, actor: "walk" }
  return CONTRACTS.flatMap((contract) => [
    propose(proposal(contract), { kind: "ready" }, context).next,
    propose(proposal(contract), { kind: "held", by: "op-0", reason: REASON }, context).next,
    propose(proposal(contract), { kind: "refused", holder: "op-0", reason: REASON }, context).next,
    propose(
      proposal(contract),
      { kind: "awaiting_approval", approval_id: "ap-1", expires_at: START + HOUR, reason: REASON },
      context,
    ).next,
  ])
}

/** When events are tried: soon, when the timer is due and every window is over, past the deadline. @param {Operation} operation */
function moments({ updated_at, due_at, deadline_at }) {
  const over = Math.max(due_at ?? 0, updated_at + 2 * HOUR)
  return [updated_at + SECOND, over, Math.max(over, deadline_at + SECOND)]
}

/** What of an operation decides where it can go: operations that agree in it are walked once. @param {Operation} operation */
function shape(operation) {
  const { state, contract, attempts, contradicted, barred, looked_before, held_by, updated_at, deadline_at } = operation
  return JSON.stringify([
    [state, CONTRACTS.findIndex((one) => one.lookup === contract.lookup && one.key === contract.key)],
    attempts.map((one) => [one.status, one.settled_at === null, one.refused === undefined]),
    [
      contradicted,
      barred,
      looked_before,
      held_by === null,
      updated_at >= deadline_at,
      operation.verdict === "diverged",
    ],
  ])
}

/** Every edge between two different states. @returns {Edge[]} */
export function walkStates() {
  /** @type {Map<string, Edge>} */
  const edges = new Map()
  const seen = new Set()
  const pending = births()
  for (let next = 0; next < pending.length; next += 1) {
    const operation = pending[next]
    if (operation === undefined || seen.has(shape(operation))) continue
    seen.add(shape(operation))
    for (const now of moments(operation)) {
      for (const one of triesOn(operation, now)) {
        const step = transition(operation, one.event, { now, unit: 0, actor: "walk" })
        if (!step.ok) continue
        pending.push(step.next)
        keep(edges, edgeOf(operation, one, step.next))
      }
    }
  }
  return [...edges.values()]
}

/** @param {Map<string, Edge>} edges @param {Edge} edge */
function keep(edges, edge) {
  const name = `${edge.from} ${edge.by} ${edge.to}`
  if (edge.from !== edge.to && (!edges.has(name) || edge.kind === "by itself")) edges.set(name, edge)
}

/** @param {Operation} operation @param {Try} one @param {Operation} next @returns {Edge} */
function edgeOf(operation, { label, kind, about }, next) {
  const words = label === "look" ? `look ${isLate(operation, label, about) ? "" : (next.verdict ?? "")}`.trim() : label
  const ends = { from: nameOf(operation), to: nameOf(next) }
  if (kind !== undefined) return { ...ends, by: kind === "not built" ? `${label} (not built)` : label, kind }
  return isLate(operation, label, about)
    ? { ...ends, by: `late ${words}`, kind: "late" }
    : { ...ends, by: words, kind: "by itself" }
}

const LOOKED_AT = ["unknown", "needs_review", "accepted"]

/** News of an attempt that is not the running one, or a step that follows from such news. @param {Operation} operation @param {string} label @param {number | undefined} about */
function isLate({ state, attempts, barred }, label, about) {
  if (label === "look" && !LOOKED_AT.includes(state)) return true
  if (about !== undefined && (state !== "dispatched" || about !== attempts.length)) return true
  return (
    barred ||
    attempts.some(({ status }) => (status === "accepted" && state !== "accepted") || status === "acknowledged")
  )
}

/** A contradicted operation keeps its state and is closed until it is amended. @param {Operation} operation */
function nameOf({ state, contradicted }) {
  return contradicted ? "contradicted" : state
}
