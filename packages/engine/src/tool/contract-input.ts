/**
 * What an author says about a provider, in the author's words: the input of `compileContract`.
 *
 * Data with sources: no functions, so that one contract can stand in its own file and serve several tools.
 */
import type { Duration } from "./duration.ts"

export interface KeyInput {
  /** Where the key travels: `header:Idempotency-Key`, `body:id`, `query:key`, `path:id`. */
  readonly sentAs: string
  /** How long the provider remembers a key. Undeclared = unprotected. */
  readonly retention?: Duration
  /** Default `executes`. */
  readonly replay?: "stored" | "executes" | "finishes"
  /** Default `races`. */
  readonly inFlight?: "refuses" | "waits" | "races"
  /** Default true: the next attempt uses a new key. */
  readonly replaysErrors?: boolean
  /** Default `ignores`. */
  readonly onMismatch?: "refuses" | "ignores"
  readonly scope?: string
  readonly maxLength?: number
  /** `hex`, `base32hex`, `alphanumeric`, `uuid4`, or the characters themselves. */
  readonly alphabet?: string
  readonly answersForKey?: readonly number[]
  readonly coveredHeaders?: readonly string[]
  /** Written by the conformance probe. Without it the key permits nothing. */
  readonly proved?: ProofInput
}

export interface ProofInput {
  /** `2026-05-31`. */
  readonly date: string
  readonly against: string
}

export interface LookupInput {
  readonly correlates?: "operation" | "created" | "state"
  /** Default `bounded`. */
  readonly consistency?: "strong" | "bounded" | "search"
  /** Q: the provider's worst execution time. Default 5 min. */
  readonly maxExecution?: Duration
  /** V: how long a written object may be missing from the lookup. Default 1 min. */
  readonly visibility?: Duration
  /** Default 2. */
  readonly negatives?: number
  /** Default max(10 s, V). */
  readonly spacing?: Duration
  /** Granularity of the provider's creation times. Default 1 s. */
  readonly resolution?: Duration
  /** Default 2 s. */
  readonly skew?: Duration
  /** Whether objects carry a creation time. Default true. */
  readonly creationTime?: boolean
}

export interface FenceInput {
  readonly kind: "tombstone"
  /** The fenced name can never be freed again. Default false: then winning it proves nothing. */
  readonly permanent?: boolean
  readonly proved?: ProofInput
}

export interface SourceInput {
  readonly url: string
  readonly date: string
  readonly says: string
}

export interface ContractInput {
  /** What a returned value means. A predicate stands on the tool itself: a contract is data. */
  readonly applied?: "returned" | "2xx" | "outcome"
  /** Statuses that prove non-application, beyond the built-in list. */
  readonly definite?: readonly number[]
  readonly key?: KeyInput
  readonly lookup?: LookupInput
  readonly fence?: FenceInput
  /** No other writer sets this resource. */
  readonly exclusive?: boolean
  /** One provider object may stand for many operations. */
  readonly shared?: boolean
  /** A full match found before attempt 1 is no reason to hold. */
  readonly many?: boolean
  readonly effect?: { readonly method: string; readonly path: string }
  readonly sources?: readonly SourceInput[]
}
