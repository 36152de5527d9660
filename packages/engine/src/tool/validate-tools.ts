/**
 * What can only be refused when all tools are known, and what no tool may bring however it was made (`open`).
 *
 * VT1. One name leads to one tool: an operation's stored name must find the tool that made it.
 * VT2. A consequential probe without cause is refused: it would confirm somebody else's object (R4).
 */
import type { ErrorCode } from "@invokejs/protocol"
import type { CompiledTool } from "./compiled-tool.ts"
import { definitionError } from "./definition-error.ts"

/** Throws `InvokeError` for the first fault. */
export function validateTools(tools: readonly CompiledTool[]): void {
  checkNames(tools)
  for (const tool of tools) {
    const fault = faultOf(tool)
    if (fault) throw definitionError(fault.code, { tool: tool.name, ...fault })
  }
}

function checkNames(tools: readonly CompiledTool[]): void {
  const holders = new Map<string, string>()
  for (const tool of tools) {
    for (const name of new Set([tool.name, ...tool.aliases, tool.namespace])) {
      const holder = holders.get(name)
      if (holder !== undefined) throw nameTaken(tool.name, name, holder)
      holders.set(name, tool.name)
    }
  }
}

function nameTaken(tool: string, name: string, holder: string): Error {
  const twice = tool === name && holder === name
  return definitionError("duplicate_tool", {
    tool,
    path: "name",
    what: twice ? "two tools have this name" : `"${name}" is the name of "${holder}" already, now or before`,
    fix: twice
      ? `Rename one of them: \`name: "${name}_2"\`.`
      : `Only one tool may carry on the operations of "${name}": remove it from the other's \`was\`, or rename.`,
  })
}

interface Fault {
  readonly code: ErrorCode
  readonly path: string
  readonly what: string
  readonly fix: string
}

function faultOf({ safety, probe, fence, contract, checkable }: CompiledTool): Fault | null {
  const { lookup } = contract
  if (safety === "write-once-checkable" && probe === null) {
    return {
      code: "definition_invalid",
      path: "probe",
      what: "`write-once-checkable` has no probe",
      fix: 'Write `probe: async ({ params, fetch }) => …`, or `safety: "irreversible"`.',
    }
  }
  if (safety !== "read-only" && (probe !== null || checkable) && !lookup) {
    return {
      code: "probe_without_cause",
      path: "contract.lookup.correlates",
      what: "its probe finds objects, but nothing says why one of them is ours",
      fix: 'Write `contract: { lookup: { correlates: "operation" } }`.',
    }
  }
  if (lookup?.correlates === "state" && !contract.has_resource) {
    return {
      code: "resource_missing",
      path: "resource",
      what: "it is looked up by state, and names no resource whose state it sets",
      fix: "Write `resource: (p) => `issue:${p.number}``.",
    }
  }
  if (fence !== null && contract.fence?.kind !== "tombstone") {
    return {
      code: "definition_invalid",
      path: "contract.fence",
      what: "its fence does not say that it writes a tombstone with our marker",
      fix: 'Write `contract: { fence: { kind: "tombstone", permanent: true } }`.',
    }
  }
  return null
}
