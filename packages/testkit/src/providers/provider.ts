/** What a stand-in provider is: it plans each request, and the shell decides when and whether the plan runs. */
import type { Change, Effect, KeyRecord } from "./ledger-line.ts"
import type { ObjectStore } from "./object-store.ts"
import type { ProviderClock } from "./provider-clock.ts"
import type { LineIds } from "./provider-ids.ts"

export interface ProviderRequest {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** Ids for what this request makes. */
  readonly ids: LineIds
}

export interface ProviderAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  /** Set when this is the stored answer of an earlier request. */
  readonly replay_of?: string
}

/** What running a request makes true. Nothing of it is true before the shell has written it to the ledger. */
export interface Execution {
  readonly effects: readonly Omit<Effect, "at_ms" | "request_id" | "idempotency_key">[]
  readonly changes: readonly Change[]
  readonly answer: ProviderAnswer
}

export type Plan =
  /** A read, a replay or a refusal: nothing executes and nothing is stored. */
  | { readonly kind: "answer"; readonly answer: ProviderAnswer }
  /** Execution begins: from here on the answer is stored under the key, whatever it is. */
  | { readonly kind: "execute"; readonly key: ClaimedKey | null; readonly run: () => Execution }

export interface ClaimedKey {
  readonly record: KeyRecord
  /** Called when the request is over and its answer stored. */
  readonly release: () => void
}

export interface Provider {
  plan(request: ProviderRequest): Plan
  /** Changes that time alone has brought since the last request. */
  due(ids: LineIds): readonly Change[]
  /** What this provider answers with a status that a test ordered, when the test gave no words of its own. */
  ordered(status: number): ProviderAnswer
  /** Learns one stored answer, from the ledger at start and after each execution. */
  learn?(key: KeyRecord, request_id: string, answer: { readonly status: number; readonly body: string }): void
}

/** What the shell hands to a provider. `settings` are those of the moment. */
export interface ProviderWorld<Settings> {
  readonly store: ObjectStore
  readonly clock: ProviderClock
  readonly settings: () => Settings
}

export function jsonAnswer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ProviderAnswer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) }
}
