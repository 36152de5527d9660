/**
 * Tools that asked for a second effect request in one attempt dispatch nothing more until they are redefined (item 4, R8).
 *
 * FT1. What such a tool's first request did is not known to be its effect: making it again would repeat it.
 */
import type { Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import type { CompiledTool } from "../tool/compiled-tool.ts"

export class FaultyTools {
  readonly #names = new Set<string>()

  add(tool: CompiledTool): void {
    this.#names.add(tool.name)
  }

  has(tool: CompiledTool): boolean {
    return this.#names.has(tool.name)
  }
}

/** Ends an operation that such a tool would have to send; what is unknown about it is still looked up. */
export async function refusedAsFaulty(
  context: EngineContext,
  operation: Operation,
  tool: CompiledTool,
): Promise<boolean> {
  if (!context.faulty.has(tool)) return false
  const text = `${tool.name} asked for a second effect request; it sends nothing more until it is redefined`
  await applyEvent(
    context,
    operation.operation_id,
    (row) => (row.state === "ready" ? { type: "policy_refused", reason: { code: "second_effect", text } } : null),
    { actor: "engine", known: operation },
  )
  return true
}
