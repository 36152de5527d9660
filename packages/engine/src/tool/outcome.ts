/**
 * The words with which a tool says what happened, where a returned value or a thrown error does not say enough.
 *
 * Owns: `outcome.*` and how they are recognised.
 *
 * OU1. Recognised by a registered symbol: two copies of the package understand each other, and no provider's JSON can forge one.
 * OU2. `applied` and `accepted` are returned, `notApplied` and `rejected` are thrown; either way they are heard.
 */
import { durationMs, type Duration } from "./duration.ts"
import type { FoundObject } from "./probe-answer.ts"

const OUTCOME = Symbol.for("@invokejs/outcome")

export interface AppliedOutcome<V> {
  readonly kind: "applied"
  readonly value: V
  readonly object?: FoundObject
}

export interface AcceptedOutcome {
  readonly kind: "accepted"
  readonly reference?: string
}

export interface RefusalInput {
  /** Short and stable: `card_declined`. */
  readonly code: string
  readonly message?: string
}

export interface NotAppliedInput extends RefusalInput {
  /** When the provider asked to be tried again. */
  readonly retryAfter?: Duration
}

/** Thrown by `outcome.notApplied`, `outcome.rejected` and `outcome.unknown`: what the tool knows about this attempt. */
export class OutcomeError extends Error {
  override readonly name = "OutcomeError"
  readonly kind: "not_applied" | "rejected" | "unknown"
  readonly code: string
  readonly retry_after_ms?: number

  constructor(kind: "not_applied" | "rejected" | "unknown", { code, message, retryAfter }: NotAppliedInput) {
    super(message ?? code)
    this.kind = kind
    this.code = code
    const retry_after_ms = durationMs(retryAfter)
    if (retry_after_ms !== null) this.retry_after_ms = retry_after_ms
    Object.defineProperty(this, OUTCOME, { value: true })
  }
}

export const outcome = {
  /** The effect took place; `object` names what it made. */
  applied<V>(value: V, about: { readonly object?: FoundObject } = {}): AppliedOutcome<V> {
    return branded({ kind: "applied", value, ...(about.object === undefined ? {} : { object: about.object }) })
  },
  /** The provider took the request and finishes later. `reference` is its name for it. */
  accepted(reference?: string): AcceptedOutcome {
    return branded({ kind: "accepted", ...(reference === undefined ? {} : { reference }) })
  },
  /** Throw it: this attempt was not applied, and another one may work. */
  notApplied(input: NotAppliedInput): OutcomeError {
    return new OutcomeError("not_applied", input)
  },
  /** Throw it: this answer proves nothing either way, whatever its status says (a 400 about the key of a request still running). */
  unknown(input: RefusalInput): OutcomeError {
    return new OutcomeError("unknown", input)
  },
  /** Throw it: the provider refused this action for good. */
  rejected(input: RefusalInput): OutcomeError {
    return new OutcomeError("rejected", input)
  },
} as const

function branded<O extends object>(value: O): O {
  return Object.freeze(Object.defineProperty(value, OUTCOME, { value: true }))
}

export type OutcomeWord = AppliedOutcome<unknown> | AcceptedOutcome | OutcomeError

/** Whether a returned or thrown value is one of the words (OU1). */
export function isOutcome(value: unknown): value is OutcomeWord {
  return typeof value === "object" && value !== null && (value as { readonly [OUTCOME]?: unknown })[OUTCOME] === true
}

/** What a caller gets from a tool's function that may return words. */
export type OutputFrom<Returned> =
  Awaited<Returned> extends infer Value
    ? Value extends AppliedOutcome<infer V>
      ? V
      : Value extends AcceptedOutcome
        ? never
        : Value
    : never
