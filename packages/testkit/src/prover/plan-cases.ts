/**
 * Which cases a tool is put through: every fault at every point, as far as its class and its fake allow.
 *
 * PL1. What does not apply to a tool is left out; what applies and cannot be tried is listed, with the reason.
 */
import type { Contract } from "@invokejs/protocol"
import type { Fault } from "../fault-proxy/fault.ts"
import type { CasePlan } from "./case-plan.ts"
import { lookCases, strangerCases } from "./plan-look-cases.ts"
import { seconds } from "./say-time.ts"
import type { EffectRequest } from "./case-faults.ts"

/** What the call without a fault has taught about the tool. */
export interface Facts {
  readonly contract: Contract
  readonly effect: EffectRequest
  /** The effect request has a body, so that there is a place after its head. */
  readonly has_body: boolean
  readonly checkable: boolean
  /** How late the provider may act on a request, and how long its lookups may be behind: the fake's word, or the contract's. */
  readonly lands_ms: number
  readonly shows_ms: number
  /** A second fake can show the world without the effect. */
  readonly two_fakes: boolean
  /** The fake's own time can be made to pass. */
  readonly follows_clock: boolean
  readonly has_other: boolean
  /** Parameters that are words of a model. */
  readonly words: readonly string[]
}

const RST: Fault = { kind: "drop_answer", then: "rst" }
const HEAD_END = "\r\n\r\n"

export function planCases(facts: Facts): readonly CasePlan[] {
  return [
    ...requestCases(facts),
    ...answerCases(),
    ...statusCases(),
    ...timeCases(facts),
    ...repeatCases(facts),
    ...crashCases(),
    ...(facts.checkable ? lookCases(facts) : []),
    ...(facts.checkable ? strangerCases(facts) : []),
  ]
}

function requestCases({ has_body }: Facts): readonly CasePlan[] {
  const cut = (id: string, says: string, at: Extract<Fault, { kind: "cut" }>["at"]): CasePlan => ({
    id: `request.${id}`,
    says: `the effect request is cut ${says}`,
    wire: { kind: "cut", direction: "request", at, by: "rst" },
  })
  return [
    {
      id: "request.unreachable",
      says: "nothing listens at the provider's address for a second",
      unreachable_ms: 1_000,
    },
    {
      id: "request.refused",
      says: "the connection is reset before the effect request is read",
      wire: { kind: "refuse", by: "rst" },
    },
    cut("first_byte", "after its first byte", { after_bytes: 1 }),
    cut("in_head", "before the end of its head", { before_marker: HEAD_END }),
    ...(has_body ? [cut("after_head", "between its head and its body", { after_marker: HEAD_END })] : []),
    cut("whole", "after its last byte: it arrives, and the connection is gone", { after_message: true }),
  ]
}

function answerCases(): readonly CasePlan[] {
  const lost = (id: string, says: string, wire: Fault): CasePlan => ({ id: `answer.${id}`, says, wire })
  return [
    lost("lost_rst", "the effect takes place, and the connection is reset before the answer", RST),
    lost("lost_fin", "the effect takes place, and the connection ends before the answer", {
      kind: "drop_answer",
      then: "fin",
    }),
    lost("in_status_line", "the answer breaks off in its status line", {
      kind: "cut",
      direction: "answer",
      at: { after_bytes: 9 },
      by: "rst",
    }),
    lost("without_body", "the answer's head arrives, and nothing of its body", {
      kind: "truncate_answer",
      keep_bytes: 0,
      then: "rst",
    }),
    lost("half_body", "the answer's body breaks off", { kind: "truncate_answer", keep_bytes: 5, then: "fin" }),
    lost("garbled_head", "the answer's status line is no status line", { kind: "garble_answer", part: "status_line" }),
    lost("garbled_body", "the answer's body is not what a parser reads", { kind: "garble_answer", part: "body" }),
    lost("twice", "the answer comes twice on one connection", { kind: "answer_twice" }),
  ]
}

const STATUSES = [500, 502, 503, 429, 401] as const

/** With a body that parses: what a tool that does not look at the status takes for the answer. */
function said(status: number): {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
} {
  const error = { type: "api_error", message: `answered ${status}` }
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify({ error }) }
}

function statusCases(): readonly CasePlan[] {
  return STATUSES.flatMap((status) => [
    {
      id: `status.${status}_before`,
      says: `HTTP ${status} is answered, and nothing has been done`,
      wire: { kind: "answer_instead" as const, ...said(status) },
      answers: { status, after_effect: false },
    },
    {
      id: `status.${status}_after`,
      says: `HTTP ${status} is answered after the effect took place`,
      wire: { kind: "replace_answer" as const, ...said(status) },
      answers: { status, after_effect: true },
    },
  ])
}

function timeCases({ contract, lands_ms }: Facts): readonly CasePlan[] {
  const beyond = contract.timeout_ms + 5_000
  return [
    {
      id: "time.swallowed",
      says: "the effect request is never acted on, and never answered",
      door: { kind: "swallow" },
    },
    {
      id: "time.answer_late",
      says: `the effect takes place at once, and is answered ${seconds(beyond)} later`,
      door: { kind: "keep_answer", ms: beyond },
    },
    {
      id: "time.answer_never",
      says: "the effect takes place at once, and is never answered",
      door: { kind: "keep_answer", ms: 3_600_000 },
    },
    ...(lands_ms > beyond
      ? [
          {
            id: "time.lands_after_timeout",
            says: `the provider acts on the request ${seconds(beyond)} after it was sent`,
            door: { kind: "hold" as const, ms: beyond },
          },
        ]
      : []),
    ...(lands_ms > 1_000
      ? [
          {
            id: "time.lands_late",
            says: `the provider acts on the request ${seconds(lands_ms - 500)} after it was sent`,
            door: { kind: "hold" as const, ms: lands_ms - 500 },
          },
        ]
      : []),
  ]
}

function repeatCases({ words }: Facts): readonly CasePlan[] {
  return [
    { id: "repeat.at_once", says: "two callers make the same call at the same moment", at_once: true },
    {
      id: "repeat.delivered_twice",
      says: "an intermediary delivers the effect request twice, one after the other",
      wire: { kind: "duplicate_request" },
      repeats_requests: true,
    },
    {
      id: "repeat.delivered_twice_at_once",
      says: "an intermediary delivers the effect request twice at the same moment",
      wire: { kind: "duplicate_request", overlap: true },
      repeats_requests: true,
    },
    ...words.map((word) => ({
      id: `repeat.reworded_${word}`,
      says: `the same call is made again with other words in \`${word}\``,
      reworded: word,
    })),
  ]
}

function crashCases(): readonly CasePlan[] {
  return [
    { id: "crash.before_send", says: "the process dies before anything is sent", dies: "before_send" },
    {
      id: "crash.after_effect",
      says: "the process dies between the effect and its record; another one goes on",
      door: { kind: "crash" },
    },
  ]
}
