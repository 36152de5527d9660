// Random walks of one operation: moves that a fast-check seed chooses, most of them legal somewhere, some nonsense everywhere.

import fc from "fast-check"
import { STATE_NAMES } from "@invokejs/protocol"
import type {
  Admission,
  AttemptOutcome,
  Candidate,
  Contract,
  Finding,
  Operation,
  OperationEvent,
  Rank,
  State,
} from "@invokejs/protocol"
import {
  blind,
  charge,
  contract,
  DAY,
  HOUR,
  keyContract,
  lookOf,
  lookupContract,
  MINUTE,
  nextId,
  resolution,
  SECOND,
  Story,
  stranger,
  T0,
  TOMBSTONE,
} from "./builders.ts"
import { ASKED, HELD, IN_STATE } from "./in-every-state.ts"

const CONTRACTS: { readonly [name: string]: Contract } = {
  checkable: contract(),
  once: contract({ attempts: 1 }),
  keyed: contract({ key: keyContract() }),
  replaying: contract({ key: keyContract({ replays_errors: true, answers_for_key: [402] }) }),
  racing: contract({ key: keyContract({ in_flight: "races", retention_ms: HOUR }) }),
  ignoring: contract({ key: keyContract({ on_mismatch: "ignores" }), fence: TOMBSTONE }),
  executing: contract({ key: keyContract({ replay: "executes" }) }),
  idempotent: blind({ key: keyContract({ retention_ms: 2 * HOUR }) }),
  racingBlind: blind({ key: keyContract({ in_flight: "races" }) }),
  irreversible: blind({ attempts: 1 }),
  reading: blind({ applied: "returned" }),
  created: contract({ lookup: lookupContract({ correlates: "created" }) }),
  timeless: contract({ lookup: lookupContract({ correlates: "created", creation_time: false }) }),
  state: contract({ lookup: lookupContract({ correlates: "state" }), has_resource: true }),
  exclusive: contract({ lookup: lookupContract({ correlates: "state" }), has_resource: true, exclusive: true }),
  searched: contract({ lookup: lookupContract({ consistency: "search" }) }),
  strong: contract({
    lookup: lookupContract({ consistency: "strong", max_execution_ms: SECOND, spacing_ms: 0, negatives: 1 }),
  }),
}

/** The contract that is loaded now: the frozen one, or any other after a deploy. */
export const loaded = fc.oneof(fc.constant(null), fc.constantFrom(...Object.values(CONTRACTS)))

export interface Move {
  readonly kind: number
  readonly a: number
  readonly b: number
  readonly c: number
}

export const moves = (length: number): fc.Arbitrary<readonly Move[]> =>
  fc.array(fc.record({ kind: fc.nat(999), a: fc.nat(999), b: fc.nat(999), c: fc.nat(999) }), { maxLength: length })

interface Beginning {
  readonly terms: string
  readonly admission: Admission
  /** Begins in this state instead, under a contract that leads there. */
  readonly state: State | null
}

/** A contract and an admission, or any state there is. */
export const beginning: fc.Arbitrary<Beginning> = fc.record({
  terms: fc.constantFrom(...Object.keys(CONTRACTS)),
  admission: fc.constantFrom<Admission>({ kind: "ready" }, { kind: "ready" }, { kind: "ready" }, ASKED, HELD),
  state: fc.oneof(
    { arbitrary: fc.constant(null), weight: 3 },
    { arbitrary: fc.constantFrom(...STATE_NAMES), weight: 1 },
  ),
})

export function begin({ terms, admission, state }: Beginning): Story {
  if (state !== null) return IN_STATE[state]()
  const safety = terms === "reading" ? ({ safety: "read-only" } as const) : {}
  return new Story({ contract: CONTRACTS[terms] ?? contract(), ...safety }, admission)
}

const pick = <T>(list: readonly T[], at: number): T => list[at % list.length] as T

const STEPS_MS = [0, 1, SECOND, 10 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 6 * MINUTE, 10 * MINUTE, HOUR, DAY]

/** Makes the move; whether it is legal is the transition's to say. */
export function make(story: Story, move: Move): void {
  const { kind, a, b } = move
  if (kind < 120) {
    story.wait(pick(STEPS_MS, a))
    return
  }
  if (kind < 220) {
    story.until(story.operation.due_at)
    return
  }
  story.offer(eventOf(story, move), (b % 100) / 100)
}

/** A timer is due or not by the claims that were heard; whether the operation then moves is not theirs to say. */
export function isTimer({ kind }: Move): boolean {
  return kind >= 700 && kind % WORDS < 2
}

const WORDS = 26

function eventOf(story: Story, move: Move): OperationEvent {
  const { kind, a, b } = move
  if (kind < 340) {
    return story.dispatchEvent({
      worker_id: pick(["worker-1", "worker-2"], a),
      transport: pick(["invoke", "invoke", "opaque"], b),
      ...(a % 11 === 0 ? { caller_executed: true } : {}),
      ...(story.operation.approval_id === null ? {} : { approval_until: story.now + pick([SECOND, HOUR], a) }),
    })
  }
  if (kind < 520) return outcomeEvent(story, move)
  if (kind < 700) return evidenceEvent(story, move)
  return otherEvent(story, move)
}

const OUTCOMES: readonly AttemptOutcome["class"][] = [
  "applied",
  "accepted",
  "not_applied",
  "not_applied",
  "rejected",
  "unknown",
  "unknown",
]

function outcomeEvent(story: Story, { a, b, c }: Move): OperationEvent {
  const reason = { code: pick(["http_500", "timeout", "key_body_changed", "never_left"], b), text: "so it ended" }
  const proof = pick(["stage", "answer", "word"] as const, c)
  const speaks_for = pick(["attempt", "attempt", "generation"] as const, b)
  const candidate = pick([charge(), charge({ object_id: "ch_2" }), undefined, undefined], c)
  const outcomes: { readonly [C in AttemptOutcome["class"]]: AttemptOutcome } = {
    applied: { class: "applied", output: { id: "ch_1" }, ...(candidate ? { candidate } : {}) },
    accepted: { class: "accepted", output: null },
    not_applied: {
      class: "not_applied",
      reason,
      proof,
      speaks_for,
      ...(b % 5 === 0 ? { retry_after_ms: MINUTE } : {}),
    },
    rejected: {
      class: "rejected",
      reason,
      proof: proof === "stage" ? "word" : proof,
      speaks_for,
      look_first: b % 3 === 0,
    },
    unknown: { class: "unknown", reason },
  }
  const number = story.operation.attempts.length === 0 ? 1 : (a % story.operation.attempts.length) + 1
  return {
    type: "outcome",
    attempt: number,
    outcome: outcomes[pick(OUTCOMES, a + b)],
    left: proof !== "stage" || c % 7 === 0,
    evidence_id: c % 13 === 0 ? "out-same" : nextId("out"),
    ...(b % 4 === 0 ? { http_status: pick([402, 422], c) } : {}),
    ...(b % 6 === 0 ? { request_digest: "digest" } : {}),
    ...(b % 9 === 0 ? { attested: true } : {}),
    ...(c % 10 === 0 ? { object_taken_by: "op-9" } : {}),
  }
}

function candidatesOf(story: Story, at: number): readonly Candidate[] {
  const key = story.operation.attempts[0]?.provider_key ?? "key-0"
  const lists: readonly (readonly Candidate[])[] = [
    [],
    [],
    [],
    [charge()],
    [charge({ state: { charged: false } })],
    [charge({ final: true, state: { charged: false } })],
    [charge({ state: { amount: 1 } })],
    [charge(), charge({ object_id: "ch_2" })],
    [stranger({ created_at: T0 - DAY, version: "v1" })],
    [stranger({ created_at: story.now, version: "v2" })],
    [stranger({ created_at: T0, version: "v1", state: { charged: false } })],
    [stranger({ provider_key: key, object_id: "ch_3" })],
    [charge({ tombstone: { generation: 0 } })],
  ]
  return pick(lists, at)
}

const RANKS: readonly Rank[] = ["observed", "observed", "observed", "signed", "attested", "claimed", "reported"]

function evidenceEvent(story: Story, { a, b, c }: Move): OperationEvent {
  const like = { generations: story.generations(), complete: c % 5 !== 0, search: c % 7 === 0 }
  const look = lookOf(candidatesOf(story, b), like)
  const findings: readonly Finding[] = [
    look,
    look,
    look,
    look,
    { kind: "unsure", reason: "cut off" },
    { kind: "applied", ...(b % 2 === 0 ? { candidate: pick([charge(), charge({ object_id: "ch_2" })], c) } : {}) },
    { kind: "accepted" },
    { kind: "reversed", reason: "bounced" },
    { kind: "not_applied", reason: "declined", permanent: b % 2 === 0 },
    { kind: "fenced", marker: "fence:op-1:0" },
  ]
  const finding = pick(findings, a)
  const probing = finding.kind === "look" || finding.kind === "unsure"
  return story.evidence(
    finding,
    {
      source:
        finding.kind === "fenced"
          ? "fence"
          : probing
            ? "probe"
            : pick(["webhook", "operator", "probe", "caller"] as const, c),
      rank: pick(RANKS, b + c),
      attempt: pick([null, null, 1, 2], a + c),
      generation: pick([null, 0, 0, 1], b),
      observed_from: story.now - pick([0, 0, 0, SECOND, HOUR, -HOUR], c),
      ...(c % 17 === 0 ? { evidence_id: "ev-same" } : {}),
    },
    { rivals: b % 6 === 0 ? 1 : 0, clock_stepped_at: c % 19 === 0 ? story.now - SECOND : null },
  )
}

function otherEvent(story: Story, { kind, a, b, c }: Move): OperationEvent {
  const reason = { code: pick(["policy", "waiting_for_tool", "waiting"], b), text: "for a reason" }
  const { operation, now } = story
  const words: readonly ((at: Operation) => OperationEvent)[] = [
    () => ({ type: "due" }),
    () => ({ type: "due" }),
    () => ({ type: "lapsed", why: pick(["time", "lease", "drain", "timeout"] as const, a) }),
    () => ({ type: "worker_gone", worker_id: pick(["worker-1", "worker-2"], a), proof: "its lock was found free" }),
    () => ({ type: "never_started", attempt: (a % 3) + 1, evidence_id: nextId("ns") }),
    () => ({ type: "probe_started", worker_id: pick(["w1", "w2"], a), until: now + pick([0, MINUTE], b) }),
    () => ({ type: "probe_unanswered", reason }),
    () => ({ type: "reconcile" }),
    () => ({ type: "looked_before", seen: ["ch_8"], version: "v1", full_match: pick([null, null, "ch_8"], a) }),
    () => ({ type: "postpone", until: now + pick([0, MINUTE, DAY], b), reason }),
    () => ({ type: "policy_refused", reason }),
    () => ({ type: "drifted", reason }),
    () => ({ type: "slot", free: a % 2 === 0, held_by: pick([null, "op-0", "op-8"], b), unresolved: c % 2 === 0 }),
    () => ({ type: "ask", approval_id: nextId("ap"), expires_at: now + pick([0, HOUR], b), reason }),
    () => ({ type: "approve", reason: "yes" }),
    () => ({ type: "approve", reason: "yes" }),
    () => ({ type: "deny", reason: "no" }),
    () => ({ type: "allow", reason: "meant" }),
    () => ({ type: "cancel", reason: "no longer wanted" }),
    () => ({
      type: "resolve",
      resolve: resolution(
        pick(["succeeded", "not_applied", "undone", "ready", "ready", "closed_unknown"] as const, a),
        {
          process_gone: b % 2 === 0,
          ...(c % 3 === 0 ? { object: charge() } : {}),
        },
      ),
      evidence_id: nextId("word"),
    }),
    (at) => ({ type: "retry", after_attempt: at.attempts.length, deadline_at: now + DAY, automatic: b % 2 === 0 }),
    () => ({
      type: "amend",
      to: pick(["succeeded", "undone", "not_applied", "closed_unknown"] as const, a),
      reason: "asked the provider",
      process_gone: b % 2 === 0,
      ...(c % 3 === 0 ? { object: charge({ object_id: "ch_5" }) } : {}),
    }),
    () => ({ type: "superseded", by: "op-2" }),
    () => ({ type: "compensated", by: pick(["op-3", "op-4"], a), settled: b % 2 === 0 }),
    () => ({ type: "restored", until: now - pick([0, SECOND], b) }),
    () => ({ type: "told" }),
  ]
  if (words.length !== WORDS) throw new Error(`WORDS is ${words.length}`)
  return pick(words, kind)(operation)
}
