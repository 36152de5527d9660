/**
 * A tool as the engine runs it: every default filled in, every fault of the definition already refused.
 *
 * Owns: the seam between what users write (`defineTool`, `guard`) and what the engine needs. `compileTool()` makes it.
 * Must not: do I/O. Only `execute`, `probe` and `fence` touch the outside world, and only when the engine calls them.
 */
import type { AttemptOutcome, Candidate, Contract, Expectation, Json, SafetyClass } from "@invokejs/protocol"
import type { AttemptTransport } from "../dispatch/transport/attempt-transport.ts"

export type InvokeFetch = AttemptTransport["fetch"]

/** What a tool's function gets as its second argument (`guard`), or as its one argument beside `params` (`defineTool`). */
export interface AttemptContext {
  /** What the provider dedupes on: the same for every attempt of a key generation. Put it where the provider takes keys. */
  readonly providerKey: string
  readonly operationId: string
  readonly attempt: number
  /** Aborts when the attempt's time is over. Aborting does not mean that nothing happened. */
  readonly signal: AbortSignal
  /** Requests through Invoke's own transport. */
  readonly fetch: InvokeFetch
}

export interface ProbeContext {
  readonly operationId: string
  /** Every provider key used so far, oldest first. */
  readonly providerKeys: readonly string[]
  readonly firstDispatchedAt: Date | null
  readonly signal: AbortSignal
  /** Reads only. */
  readonly fetch: InvokeFetch
}

/** What a probe answers: made by `found`, `absent`, `unsure`. */
export type ProbeAnswer =
  | {
      readonly kind: "found"
      readonly candidates: readonly Candidate[]
      readonly complete: boolean
      readonly search: boolean
    }
  | { readonly kind: "absent"; readonly complete: boolean; readonly search: boolean }
  | { readonly kind: "unsure"; readonly reason: string }
  /** The provider's word that the operation's attempts were not applied. */
  | { readonly kind: "not_applied"; readonly reason: string; readonly permanent: boolean }

export type FenceAnswer =
  /** Our tombstone holds the name. */
  | { readonly kind: "fenced"; readonly marker: string }
  /** The name was taken: by the original, or by a stranger. `judge()` tells them apart by content. */
  | { readonly kind: "collided"; readonly candidate: Candidate }
  | { readonly kind: "unsure"; readonly reason: string }

export interface Identity {
  /** Declared fields, normalised. */
  readonly fields: { readonly [field: string]: string }
  readonly version: string
}

/** What the transport saw of the attempt, as far as classification needs it. */
export interface AttemptEvidence {
  readonly returned?: { readonly value: unknown }
  readonly thrown?: { readonly error: unknown }
  readonly timed_out: boolean
}

export interface CompiledTool {
  readonly name: string
  readonly version: string
  readonly namespace: string
  readonly safety: SafetyClass
  readonly transport: "invoke" | "opaque"
  readonly contract: Contract
  /** Where the contract's facts come from; for people, not for the journal. */
  readonly sources: readonly { readonly url: string; readonly date: string; readonly says: string }[]
  readonly checkable: boolean
  /** Names this tool had before; its operations may still carry them. */
  readonly aliases: readonly string[]
  readonly repeat_window_ms: number
  readonly retry_on_repeat: boolean
  /** How long a call of this tool waits for its row; null: the call's own, or the default. */
  readonly wait_ms: number | null
  /** URLs the tool marks as built from parameters may lead to private addresses. */
  readonly allow_private: boolean
  /** Journal a read-only call as well. */
  readonly journaled: boolean

  /** Validates with the tool's schema. Issues are words for the model, with paths. */
  parse(
    params: Json,
  ): Promise<
    | { readonly ok: true; readonly value: unknown }
    | { readonly ok: false; readonly issues: readonly { readonly path: string; readonly message: string }[] }
  >
  /** Under every registered identity version, newest first; empty where the tool declares no identity. Throws InvokeError. */
  identify(parsed: unknown): readonly Identity[]
  intent(parsed: unknown): { readonly [field: string]: string } | null
  expect(parsed: unknown, operation: { readonly identity: Identity | null }): Expectation | null
  resource(parsed: unknown): string | null
  /** Runs the user's function. Whatever it throws is classified, never swallowed. */
  execute(parsed: unknown, context: AttemptContext): Promise<unknown>
  /** The tool's own word about a value or an error, where it has one: `outcome.*`, `applied` predicate, `classify`. */
  interpret(evidence: AttemptEvidence): ToolWord
  readonly probe: ((parsed: unknown, context: ProbeContext) => Promise<ProbeAnswer>) | null
  readonly fence:
    | ((parsed: unknown, context: ProbeContext & { readonly marker: string }) => Promise<FenceAnswer>)
    | null
}

/** What the tool says happened; `null` means that it says nothing and stage and answer decide. */
export type ToolWord =
  | { readonly says: "applied"; readonly value: unknown; readonly candidate?: Candidate }
  | { readonly says: "accepted"; readonly value: unknown; readonly reference?: string }
  | { readonly says: "not_applied"; readonly code: string; readonly message: string; readonly retry_after_ms?: number }
  | { readonly says: "rejected"; readonly code: string; readonly message: string }
  /** It returned a plain value. `accepts` is the contract's predicate about it: null where there is none, or it threw. */
  | {
      readonly says: "returned"
      readonly value: unknown
      readonly accepts: boolean | null
      readonly candidate?: Candidate
    }
  /** The author's own word that the answer proves nothing. */
  | { readonly says: "proves_nothing"; readonly code: string; readonly message: string }
  | { readonly says: "unknown"; readonly code: string; readonly message: string }

export type { AttemptOutcome }
