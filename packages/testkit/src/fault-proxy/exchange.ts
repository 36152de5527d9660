/** One request and its answer on their way through the proxy, and what the faults may do to them. */
import type { ClientSide } from "./client-side.ts"
import type { Delivery } from "./delivery.ts"
import type { HeldRequests } from "./held-requests.ts"
import type { HttpStream } from "./http-stream.ts"
import type { ProxyRecordEntry } from "./proxy-record.ts"
import type { RuleScript, SeenRequest } from "./rule-script.ts"

export interface Exchange {
  readonly client: ClientSide
  readonly request: HttpStream
  readonly seen: SeenRequest
  readonly entry: ProxyRecordEntry
  readonly held: HeldRequests
  readonly script: RuleScript
  /** Aborted when the proxy closes. */
  readonly closing: AbortSignal
  /** Opens a connection to the target of this moment. */
  open(): Delivery
  /** Says that the whole request has reached the target once more. */
  delivered(): void
}
