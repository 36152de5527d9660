/** One line for each tool when a process starts: its class, what is believed of it, and what that means for an unknown outcome. */
import { describeDuration } from "./duration.ts"
import type { CompiledTool } from "./compiled-tool.ts"

export function describeTool(tool: CompiledTool): string {
  const { name, version, safety, transport } = tool
  const facts =
    safety === "read-only" ? ["changes nothing"] : [meansOf(tool), keyOf(tool), fenceOf(tool), repeatsOf(tool)]
  const transported = transport === "invoke" ? "Invoke's transport" : "opaque"
  return `${name} v${version}: ${[safety, transported, ...facts.filter((fact) => fact !== null)].join(", ")}`
}

/** What happens to an unknown outcome. */
function meansOf({ contract, probe, safety }: CompiledTool): string {
  const { lookup, key } = contract
  const believed = safety === "idempotent" && key?.proved !== undefined && key.retention_ms !== undefined
  if (probe === null || !lookup) {
    return believed
      ? "no probe: beyond its key's protection an unknown outcome goes to a person"
      : "no probe: an unknown outcome goes to a person at once"
  }
  const by = {
    operation: "the operation id",
    created: "creation time or operation id",
    state: "the state of its resource",
  }
  const silence =
    lookup.consistency === "search" ? "a search that never proves absence" : `${lookup.consistency} lookup`
  return `looked up by ${by[lookup.correlates]} (${silence})`
}

function keyOf({ contract }: CompiledTool): string | null {
  const { key } = contract
  if (!key) return null
  if (!key.proved) return `key ${key.sent_as} not believed: no conformance proof`
  if (key.retention_ms === undefined) return `key ${key.sent_as} protects nothing: no retention declared`
  return `key ${key.sent_as} believed for ${describeDuration(key.retention_ms)} (proved ${key.proved.date} against ${key.proved.against})`
}

function fenceOf({ contract }: CompiledTool): string | null {
  const { fence } = contract
  if (!fence) return null
  if (!fence.proved) return "fence not believed: no conformance proof"
  return fence.permanent
    ? `fence believed (proved ${fence.proved.date} against ${fence.proved.against})`
    : "fence proves nothing: its names can be freed"
}

function repeatsOf({ safety, contract }: CompiledTool): string | null {
  return safety === "irreversible" && contract.attempts > 1
    ? `${contract.attempts} attempts, each only after proof that none was applied`
    : null
}
