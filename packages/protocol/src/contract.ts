/**
 * What a tool says about its provider: data, frozen into the dispatch record (protocol §3).
 *
 * Owns: the shape of a contract and how two versions of one combine (`stricter`).
 * Must not: believe it. `key` and `fence` permit dispatches and are believed only after a conformance probe (`proved`).
 *
 * CO1. Where a contract changes while an operation is open, the stricter value holds.
 */
export interface KeyContract {
  /** Where the key travels, e.g. `header:Idempotency-Key` or `body:id`. */
  readonly sent_as: string
  /** How long the provider remembers a key. Undeclared = unprotected. */
  readonly retention_ms?: number
  /** What a replay of a known key does: returns the stored answer, executes again, or finishes started work. */
  readonly replay: "stored" | "executes" | "finishes"
  /** What happens to a second request with the key while the first one runs. */
  readonly in_flight: "refuses" | "waits" | "races"
  /** Whether a stored error is replayed, so that a new attempt needs the next generation. */
  readonly replays_errors: boolean
  /** What the provider does with the same key and another body. */
  readonly on_mismatch: "refuses" | "ignores"
  readonly scope?: string
  readonly max_length?: number
  readonly alphabet?: string
  /** Statuses the provider's key layer gives about that key itself: they speak for earlier attempts too. */
  readonly answers_for_key?: readonly number[]
  /** Request headers the provider compares together with the body. */
  readonly covered_headers?: readonly string[]
  /** When and against what the conformance probe last passed. Without it the key permits nothing. */
  readonly proved?: Proof
}

export interface LookupContract {
  readonly correlates: "operation" | "created" | "state"
  readonly consistency: "strong" | "bounded" | "search"
  /** Q. */
  readonly max_execution_ms: number
  /** V. */
  readonly visibility_ms: number
  readonly negatives: number
  readonly spacing_ms: number
  /** Granularity of the provider's creation times; 1 000 where it gives whole seconds. */
  readonly resolution_ms: number
  readonly skew_ms: number
  /** Whether objects carry a creation time. Without one, `created` tools look before attempt 1. */
  readonly creation_time: boolean
}

export interface FenceContract {
  readonly kind: "effect" | "tombstone"
  /** Whether the fenced name can never be freed again. If not, winning it proves nothing. */
  readonly permanent: boolean
  readonly proved?: Proof
}

export interface Proof {
  readonly date: string
  readonly against: string
}

export type AppliedRule = "2xx" | "returned" | "predicate" | "outcome"

export interface Contract {
  readonly applied: AppliedRule
  /** Statuses that prove non-application, beyond the built-in list. */
  readonly definite?: readonly number[]
  readonly key?: KeyContract
  readonly lookup?: LookupContract
  readonly fence?: FenceContract
  /** Template of the state-setting target, filled at admission; a `state` tool must have one. */
  readonly has_resource: boolean
  /** No other writer sets this resource. */
  readonly exclusive: boolean
  /** One provider object may stand for many operations. */
  readonly shared: boolean
  /** A full match found before attempt 1 is no reason to hold. */
  readonly many: boolean
  readonly effect?: { readonly method: string; readonly path: string }
  readonly timeout_ms: number
  readonly attempts: number
  readonly deadline_ms: number
  readonly settle_by_ms: number
}

function larger(a: number, b: number): number {
  return Math.max(a, b)
}

function stricterKey(a: KeyContract | undefined, b: KeyContract | undefined): KeyContract | undefined {
  if (!a || !b) return undefined
  const retention =
    a.retention_ms === undefined || b.retention_ms === undefined ? undefined : Math.min(a.retention_ms, b.retention_ms)
  const { retention_ms: _dropped, proved: _proof, answers_for_key: _answers, ...rest } = b
  return {
    ...rest,
    ...(retention === undefined ? {} : { retention_ms: retention }),
    ...(a.proved && b.proved ? { proved: b.proved } : {}),
    ...(a.answers_for_key && b.answers_for_key
      ? { answers_for_key: b.answers_for_key.filter((status) => a.answers_for_key?.includes(status)) }
      : {}),
    replay: a.replay === b.replay ? b.replay : "executes",
    in_flight: a.in_flight === b.in_flight ? b.in_flight : "races",
    replays_errors: a.replays_errors || b.replays_errors,
    on_mismatch: a.on_mismatch === "ignores" ? "ignores" : b.on_mismatch,
  }
}

const CONSISTENCY = ["strong", "bounded", "search"] as const

function stricterLookup(a: LookupContract | undefined, b: LookupContract | undefined): LookupContract | undefined {
  if (!a || !b) return a ?? b
  return {
    correlates: b.correlates,
    consistency:
      CONSISTENCY[larger(CONSISTENCY.indexOf(a.consistency), CONSISTENCY.indexOf(b.consistency))] ?? "search",
    max_execution_ms: larger(a.max_execution_ms, b.max_execution_ms),
    visibility_ms: larger(a.visibility_ms, b.visibility_ms),
    negatives: larger(a.negatives, b.negatives),
    spacing_ms: larger(a.spacing_ms, b.spacing_ms),
    resolution_ms: larger(a.resolution_ms, b.resolution_ms),
    skew_ms: larger(a.skew_ms, b.skew_ms),
    creation_time: a.creation_time && b.creation_time,
  }
}

/** Combines the contract an operation was first dispatched under with the one loaded now (CO1). */
export function stricter(frozen: Contract, loaded: Contract): Contract {
  const key = stricterKey(frozen.key, loaded.key)
  const lookup = stricterLookup(frozen.lookup, loaded.lookup)
  const { key: _key, lookup: _lookup, fence: _fence, definite: _definite, ...rest } = loaded
  const definite = loaded.definite?.filter((status) => frozen.definite?.includes(status))
  return {
    ...rest,
    ...(key ? { key } : {}),
    ...(lookup ? { lookup } : {}),
    ...(frozen.fence && loaded.fence && frozen.fence.kind === loaded.fence.kind
      ? { fence: { ...loaded.fence, permanent: frozen.fence.permanent && loaded.fence.permanent } }
      : {}),
    ...(definite && definite.length > 0 ? { definite } : {}),
    exclusive: frozen.exclusive && loaded.exclusive,
    shared: frozen.shared || loaded.shared,
    many: frozen.many && loaded.many,
    attempts: Math.min(frozen.attempts, loaded.attempts),
    deadline_ms: Math.min(frozen.deadline_ms, loaded.deadline_ms),
  }
}
