/**
 * Evidence: a dated, ranked fact about attempts of a key generation (protocol §6).
 *
 * Owns: the shapes of what was seen and of what a tool expects to see.
 * Must not: draw conclusions. `judge()` does.
 *
 * EV1. Evidence is dated by the *start* of the look, never by its answer.
 * EV2. A claim decides nothing; it makes the next probe due.
 * EV3. Twice is once: `evidence_id` is unique in an operation.
 */
import type { Json } from "./canonical-json.ts"

export const RANKS = ["observed", "reported", "signed", "attested", "claimed"] as const
export type Rank = (typeof RANKS)[number]

/** One object of the outside world as a look saw it. */
export interface Candidate {
  readonly object_id: string
  readonly account?: string
  readonly kind?: string
  /** The operation id the object carries, if it carries one. */
  readonly operation_id?: string
  /** The provider key the object carries, if it carries one. */
  readonly provider_key?: string
  /** Provider's creation time, ms since the epoch. */
  readonly created_at?: number
  /** The provider's own version of the object (etag, sha, updated_at). */
  readonly version?: string
  /** The tool's word that the object will not change by itself any more. */
  readonly final?: boolean
  /** Our own tombstone, recognised by its marker. */
  readonly tombstone?: { readonly generation: number }
  readonly state: { readonly [field: string]: Json }
  /** What the call answers with when this object confirms it; the state where it is absent. */
  readonly output?: Json
}

export type Finding =
  /** A lookup that was answered: what it found, and whether its silence means anything. */
  | {
      readonly kind: "look"
      readonly candidates: readonly Candidate[]
      readonly complete: boolean
      /** Whether it came from a search index: never a negative. */
      readonly search: boolean
      /** Key generations whose keys, or whose match, the look searched. */
      readonly generations: readonly number[]
    }
  /** A lookup that was answered, but says nothing. */
  | { readonly kind: "unsure"; readonly reason: string }
  /** A positive that needs no further proof: an answer, a signed event, a person's word. */
  | { readonly kind: "applied"; readonly candidate?: Candidate; readonly output?: Json }
  /** The provider took the request and has not finished. */
  | { readonly kind: "accepted"; readonly reference?: string }
  /** Applied, then reversed or bounced. */
  | { readonly kind: "reversed"; readonly reason: string; readonly candidate?: Candidate }
  /** Proof that the named attempt, or every attempt of the generation, was not applied. */
  | { readonly kind: "not_applied"; readonly reason: string; readonly permanent: boolean }
  /** A tombstone of ours won the fenced name: the original can never be applied under that generation. */
  | { readonly kind: "fenced"; readonly marker: string }

export interface Evidence {
  readonly evidence_id: string
  readonly source: "probe" | "fence" | "transport" | "answer" | "webhook" | "operator" | "caller"
  readonly rank: Rank
  /** The attempt it speaks about; null when it names only a generation. */
  readonly attempt: number | null
  /** The generation it speaks about; null when it names none. */
  readonly generation: number | null
  /** Database time at the start of the look (EV1). */
  readonly observed_from: number
  readonly recorded_at: number
  readonly finding: Finding
  readonly body_digest?: string
  /** Who said so, for attested and claimed evidence. */
  readonly by?: string
}

/** Comparisons are typed by the same normalisers as identity: a value and what it means. */
export type Comparison =
  | { readonly op: "eq" | "ne" | "gte" | "lte"; readonly value: Typed }
  | { readonly op: "in"; readonly values: readonly Typed[] }
  | { readonly op: "exists" }
  | { readonly op: "matches"; readonly pattern: string }

/** A value with its normaliser, e.g. `{ type: "minor", value: "2400 usd" }`. */
export interface Typed {
  readonly type: "id" | "text" | "minor" | "decimal" | "instant" | "boolean" | "number" | "json"
  readonly value: string
}

/** What a tool expects to find if its call was applied; frozen at admission. */
export interface Expectation {
  /** Which object is ours. */
  readonly match: { readonly [path: string]: Comparison }
  /** What the call makes true. */
  readonly effect: { readonly [path: string]: Comparison }
  /** What must hold if it is ours. */
  readonly invariant: { readonly [path: string]: Comparison }
}

/** Why a positive is ours. */
export const CAUSES = ["acknowledged", "operation", "created", "state_holds", "reported", "signed", "attested"] as const
export type Cause = (typeof CAUSES)[number]

export const VERDICTS = ["inconclusive", "diverged", "refuted", "confirmed"] as const
export type Verdict = (typeof VERDICTS)[number]
