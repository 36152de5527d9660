/**
 * How an attempt ended: from the stage its request reached, the answer, and the tool's word (protocol §5.3-5.6, ST-3).
 *
 * Owns: the class of one attempt, and whether it ever left. Pure; `transition()` decides what follows for the operation.
 * Must not: look at error codes. `ECONNRESET` has been seen with 0 and with 1 effects.
 *
 * CL1. Everything that is not proved is `unknown` (S3): a timeout, a cancel, an exception, a value that means nothing.
 * CL2. A stage proves something only where a living transport saw an effect request that can no longer leave, and did not.
 * CL3. A second effect request makes the attempt unknown, whatever the first was answered (R8).
 * CL4. On Invoke's transport a tool's word needs an answer to speak about: without one, it is a belief.
 * CL5. An attempt without an effect request is opaque, and never acknowledged where the contract names its effect.
 * CL6. Two words that contradict each other make `unknown`; the better one is never picked.
 */
import { looksFirst, statusMeaning } from "./definite-status.ts"
import { assertNever } from "./state.ts"
import type { Json } from "./canonical-json.ts"
import type { Contract } from "./contract.ts"
import type { Candidate } from "./evidence.ts"
import type { Reason } from "./operation.ts"
import type { AttemptOutcome } from "./operation-event.ts"

/** What a living transport saw of the attempt's effect request; its own process tells it. */
export interface StageObservation {
  readonly stage:
    | "none"
    | "requested"
    | "connecting"
    | "head_written"
    | "body_written"
    | "head_received"
    | "body_received"
  readonly effect_requested: boolean
  readonly second_effect: boolean
  /** Nothing of it can leave any more. */
  readonly ended: boolean
  /** Heads of the effect request that were handed to a socket. */
  readonly effect_wire_requests: number
  /** Of its final answer; known before the body is read. */
  readonly status: number | null
}

/** What the tool's function said, by returning or throwing. */
export type ToolWord =
  /** A plain value. `accepts` is the contract's predicate about it, null where there is none or it threw. */
  | {
      readonly kind: "returned"
      readonly output: Json | null
      readonly output_error?: string
      readonly candidate?: Candidate
      readonly accepts: boolean | null
    }
  /** `outcome.applied(v)` */
  | {
      readonly kind: "applied"
      readonly output: Json | null
      readonly output_error?: string
      readonly candidate?: Candidate
    }
  /** `outcome.accepted(ref)` */
  | { readonly kind: "accepted"; readonly output: Json | null; readonly reference?: string }
  /** `outcome.notApplied(…)`: may be retried. */
  | { readonly kind: "not_applied"; readonly reason: Reason; readonly retry_after_ms?: number }
  /** `outcome.rejected(…)`: permanent. */
  | { readonly kind: "rejected"; readonly reason: Reason }
  /** `outcome.unknown(…)`: the author knows that this answer proves nothing, whatever its status. */
  | { readonly kind: "unknown"; readonly reason: Reason }
  /** Any other throw. */
  | { readonly kind: "threw" }
  | { readonly kind: "timed_out" }

export interface OutcomeFacts {
  readonly transport: "invoke" | "opaque"
  /** null: opaque, or nobody living saw it. */
  readonly observation: StageObservation | null
  readonly word: ToolWord
  readonly contract: Contract
  readonly checkable: boolean
  /** The provider's `Retry-After`, already read. */
  readonly retry_after_ms?: number
}

export interface Classified {
  readonly outcome: AttemptOutcome
  /** false: proved never to have left the machine. */
  readonly left: boolean
}

export function classifyOutcome(facts: OutcomeFacts): Classified {
  const seen = facts.observation
  if (seen?.second_effect) return unknown("second_effect", "the tool asked for a second effect request")
  if (facts.transport === "opaque" || seen === null || !seen.effect_requested) return opaque(facts)
  if (!seen.ended) return unknown("still_running", "the tool ended before its effect request did")
  if (neverLeft(seen)) return unsent(facts)
  if (seen.status === null) {
    return facts.word.kind === "timed_out"
      ? unknown("timeout", "no answer within the attempt's timeout")
      : unknown("no_answer", "the request left and no answer came")
  }
  return answered(facts, seen.status)
}

/** Whether this observation proves that nothing of the attempt's effect left this process. The transport's self-test asks the same. */
export function neverLeft(seen: StageObservation): boolean {
  if (!seen.effect_requested || !seen.ended || seen.second_effect) return false
  if (seen.effect_wire_requests !== 0 || seen.status !== null) return false
  return seen.stage === "requested" || seen.stage === "connecting"
}

function unknown(code: string, text: string): Classified {
  return { outcome: { class: "unknown", reason: { code, text } }, left: true }
}

/** A tool of its own transport: its word is all there is. */
function opaque({ word, contract, transport, observation }: OutcomeFacts): Classified {
  const silent = transport === "invoke" && observation !== null && contract.effect !== undefined
  switch (word.kind) {
    case "returned":
      if (silent) return unknown("no_effect_request", "the tool never asked for its declared effect")
      if (contract.applied === "returned") return applied(word)
      if (contract.applied === "predicate") {
        return word.accepts === true
          ? applied(word)
          : unknown("not_accepted", "the value does not say that it was applied")
      }
      return unknown("value_means_nothing", "a returned value says nothing under this contract")
    case "applied":
      return silent ? unknown("no_effect_request", "the tool never asked for its declared effect") : applied(word)
    case "accepted":
      return silent ? unknown("no_effect_request", "the tool never asked for its declared effect") : accepted(word)
    case "not_applied":
    case "rejected":
      return byWord(word, { speaks_for: "attempt", look_first: false })
    case "unknown":
      return unknown(word.reason.code, word.reason.text)
    case "threw":
      return unknown("threw", "the tool threw; whether it was applied is not known")
    case "timed_out":
      return unknown("timeout", "the tool did not end within its timeout")
    default:
      return assertNever(word, "opaque")
  }
}

/** The transport proves that nothing left (CL2). */
function unsent({ word, contract, retry_after_ms: asked }: OutcomeFacts): Classified {
  const claims =
    word.kind === "applied" ||
    word.kind === "accepted" ||
    (word.kind === "returned" && (contract.applied === "returned" || word.accepts === true))
  if (claims) return unknown("contradictory", "the tool says applied; the transport saw that nothing left")
  return {
    outcome: {
      class: "not_applied",
      reason: { code: "never_left", text: "no byte of the request left this machine" },
      proof: "stage",
      speaks_for: "attempt",
      ...(asked === undefined ? {} : { retry_after_ms: asked }),
    },
    left: false,
  }
}

function answered(facts: OutcomeFacts, status: number): Classified {
  const { word, contract } = facts
  if (word.kind === "applied") return applied(word)
  if (word.kind === "accepted") return accepted(word)
  if (word.kind === "unknown") return unknown(word.reason.code, word.reason.text)
  const meaning = statusMeaning(status, contract.definite)
  switch (meaning) {
    case "applied":
    case "accepted":
      return positiveStatus(facts, status, meaning)
    case "rejected":
    case "not_applied":
      if (word.kind === "returned" && trusts(contract, word)) return contradicts(status)
      return negativeStatus(facts, status, meaning)
    case "word":
      return word.kind === "not_applied" || word.kind === "rejected"
        ? byWord(word, spoken(facts, status), "word", facts.retry_after_ms)
        : unknown(`http_${status}`, `the provider answered ${status}, and the tool does not say what that means`)
    case "unknown":
      return otherStatus(facts, status)
    default:
      return assertNever(meaning, "answered")
  }
}

/** Whether the author's rule takes this returned value for a yes. */
function trusts(contract: Contract, word: Extract<ToolWord, { kind: "returned" }>): boolean {
  return contract.applied === "returned" || (contract.applied === "predicate" && word.accepts === true)
}

function contradicts(status: number): Classified {
  return unknown("contradictory", `the provider answered ${status}; the tool returned as if it had said yes`)
}

/** 200, 201, 204, and 202. */
function positiveStatus(facts: OutcomeFacts, status: number, meaning: "applied" | "accepted"): Classified {
  const { word, contract } = facts
  if (word.kind === "not_applied" || word.kind === "rejected") {
    return contract.applied === "2xx" ? contradictedBy(status) : byWord(word, spoken(facts, status))
  }
  const output = word.kind === "returned" ? word.output : null
  if (contract.applied === "2xx") {
    if (meaning === "accepted") return accepted({ output })
    // The head decides: a body that cannot be read costs the object's id, not the knowledge.
    return word.kind === "returned"
      ? applied(word)
      : applied({ output: null, output_error: "the answer's body was not read" })
  }
  if (word.kind !== "returned") {
    return unknown("not_read", `the provider answered ${status}; the tool ended before it said what that means`)
  }
  if (!trusts(contract, word)) return unknown("not_accepted", "the value does not say that it was applied")
  // A plain return is no more than the provider's own word, and 202 is not yet a yes; a predicate read the value.
  return meaning === "accepted" && contract.applied === "returned" ? accepted({ output }) : applied(word)
}

function contradictedBy(status: number): Classified {
  return unknown("contradictory", `the contract takes ${status} for applied; the tool says it was not`)
}

function negativeStatus(facts: OutcomeFacts, status: number, meaning: "rejected" | "not_applied"): Classified {
  const { word, retry_after_ms: asked } = facts
  const scope = spoken(facts, status)
  if (word.kind === "not_applied" || word.kind === "rejected") return byWord(word, scope, "answer", asked)
  const reason = { code: `http_${status}`, text: `the provider answered ${status}` }
  return byWord(
    meaning === "rejected" ? { kind: "rejected", reason } : { kind: "not_applied", reason },
    scope,
    "answer",
    asked,
  )
}

/** Redirects, partial answers, and what DS2 lists: no rule but a predicate over a 2xx accepts them, nobody's word denies them. */
function otherStatus(facts: OutcomeFacts, status: number): Classified {
  const { word, contract } = facts
  const partly = status >= 200 && status < 300
  if (partly && word.kind === "returned" && contract.applied === "predicate" && word.accepts === true)
    return applied(word)
  if (partly && (word.kind === "not_applied" || word.kind === "rejected") && contract.applied !== "2xx") {
    return byWord(word, spoken(facts, status))
  }
  return unknown(`http_${status}`, `the provider answered ${status}, which does not say whether it was applied`)
}

interface Scope {
  readonly speaks_for: "attempt" | "generation"
  readonly look_first: boolean
}

/** Only a proved key layer answers for the earlier attempts of its key. */
function spoken({ contract, checkable }: OutcomeFacts, status: number): Scope {
  const { key } = contract
  const forKey = key?.proved !== undefined && key.answers_for_key?.includes(status) === true
  return { speaks_for: forKey ? "generation" : "attempt", look_first: checkable && looksFirst(status) }
}

function applied(word: {
  readonly output: Json | null
  readonly output_error?: string
  readonly candidate?: Candidate
}): Classified {
  return {
    outcome: {
      class: "applied",
      output: word.output,
      ...(word.output_error === undefined ? {} : { output_error: word.output_error }),
      ...(word.candidate === undefined ? {} : { candidate: word.candidate }),
    },
    left: true,
  }
}

function accepted(word: { readonly output: Json | null; readonly reference?: string }): Classified {
  return {
    outcome: {
      class: "accepted",
      output: word.output,
      ...(word.reference === undefined ? {} : { reference: word.reference }),
    },
    left: true,
  }
}

function byWord(
  word: Extract<ToolWord, { kind: "not_applied" | "rejected" }>,
  scope: Scope,
  proof: "answer" | "word" = "word",
  asked?: number,
): Classified {
  if (word.kind === "rejected") {
    return { outcome: { class: "rejected", reason: word.reason, proof, ...scope }, left: true }
  }
  const wait = word.retry_after_ms ?? asked
  return {
    outcome: {
      class: "not_applied",
      reason: word.reason,
      proof,
      speaks_for: scope.speaks_for,
      ...(wait === undefined ? {} : { retry_after_ms: wait }),
    },
    left: true,
  }
}
