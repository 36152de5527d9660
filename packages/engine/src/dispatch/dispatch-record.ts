/**
 * The dispatch record of an attempt, and the readings its gate is anchored to (protocol §5.1, §5.2).
 *
 * DR1. The clocks are read *before* the dispatch transaction is sent: a slow commit shortens the window, never widens it (item 6).
 * DR2. The provider key is a function of journal, chain, revision and generation: a forgotten admission presents it again.
 */
import { providerKey, type DispatchEvent, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import type { Clock } from "../ports/clock.ts"
import type { Lease } from "../ports/journal.ts"
import type { CompiledTool } from "../tool/compiled-tool.ts"

export interface Anchor {
  readonly wall_ms: number
  readonly monotonic_ms: number
}

export function clockAnchor(clock: Clock): Anchor {
  return { wall_ms: clock.wall(), monotonic_ms: clock.monotonic() }
}

export function dispatchEvent(
  context: EngineContext,
  operation: Operation,
  tool: CompiledTool,
  lease: Lease,
): DispatchEvent {
  return {
    type: "dispatch",
    worker_id: lease.worker_id,
    lease_token: lease.lease_token,
    lease_until: lease.until,
    provider_key: providerKeyOf(context, operation, tool, operation.generation),
    transport: tool.transport === "invoke" && context.opaque_because === null ? "invoke" : "opaque",
    contract: tool.contract,
    judged_version: operation.version,
    clock_stepped_at: context.clock_stepped_at(),
    tool_version: tool.version,
  }
}

/** What the provider dedupes on in that generation (DR2). */
export function providerKeyOf(
  context: EngineContext,
  operation: Operation,
  tool: CompiledTool,
  generation: number,
): string {
  const key = tool.contract.key
  return providerKey(
    {
      journal_name: context.journal.identity.name,
      tenant: operation.tenant,
      chain: operation.key,
      revision: operation.revision,
      generation,
    },
    context.sha256,
    {
      ...(key?.max_length === undefined ? {} : { max_length: key.max_length }),
      ...(key?.alphabet === undefined ? {} : { alphabet: key.alphabet }),
    },
  )
}
