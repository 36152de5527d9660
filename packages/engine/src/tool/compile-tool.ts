/**
 * Turns what users wrote into what the engine runs.
 *
 * Owns: the join of schema, identity, contract, expectation, words. Every fault of a definition is refused before this.
 * Must not: do I/O, or catch what the author's `execute` and `probe` throw.
 */
import { DEFAULTS } from "@invokejs/protocol"
import { appliedOf, compileContract, correlatesOf } from "./compile-contract.ts"
import { fenceOff, look } from "./compile-look.ts"
import type { CompiledTool } from "./compiled-tool.ts"
import { definitionError } from "./definition-error.ts"
import { durationMs } from "./duration.ts"
import { expectationOf } from "./expectation.ts"
import { authorValue, identities, intentFields, partError } from "./identify.ts"
import { interpret } from "./interpret.ts"
import { namespaceOf, type LooseDefinition } from "./loose-definition.ts"
import { parseParams } from "./standard-schema.ts"
import type { AnyTool } from "./tool.ts"

export function compileTool(tool: AnyTool): CompiledTool {
  const given: Partial<AnyTool> = typeof tool === "object" && tool !== null ? tool : {}
  const definition = given["~definition"]
  if (!isLoose(definition)) {
    throw definitionError("definition_invalid", {
      tool: typeof given.name === "string" ? given.name : "(unnamed)",
      path: "tools",
      what: "a plain object is no tool",
      fix: "Write `tools: [defineTool({ … })]`.",
    })
  }
  return compileDefinition(definition)
}

export function compileDefinition(definition: LooseDefinition): CompiledTool {
  const { name, safety } = definition
  const contract = compileContract(definition)
  const applied = appliedOf(definition)
  const correlates = correlatesOf(definition)
  const was = definition.was === undefined ? [] : [definition.was].flat()
  const { lookup } = contract
  return Object.freeze({
    name,
    version: definition.version ?? "1",
    namespace: namespaceOf(definition),
    safety,
    transport: definition.transport ?? "opaque",
    contract,
    sources: (definition.contract?.sources ?? []).map(({ url, date, says }) => ({ url, date, says })),
    checkable: lookup !== undefined,
    aliases: was,
    repeat_window_ms: durationMs(definition.repeatWindow) ?? DEFAULTS.repeat_window_ms,
    retry_on_repeat: definition.retryOnRepeat ?? true,
    wait_ms: durationMs(definition.wait),
    allow_private: definition.allowPrivate === true,
    journaled: safety !== "read-only" || definition.journaled === true,
    parse: (params) => parseParams(definition.input, params, name),
    identify: (parsed) => identities(definition, parsed),
    intent: (parsed) => intentFields(definition, parsed),
    expect: (parsed) => (lookup ? expectationOf(definition, parsed, correlates) : null),
    resource: (parsed) => resourceOf(definition, parsed),
    execute: async (parsed, context) => definition.run(parsed, context),
    interpret: (evidence) => interpret(definition, applied, evidence),
    probe: lookup ? (parsed, context) => look(definition, lookup, parsed, context) : null,
    fence: definition.wall ? (parsed, context) => fenceOff(definition, parsed, context) : null,
  } satisfies CompiledTool)
}

function resourceOf(definition: LooseDefinition, parsed: unknown): string | null {
  if (!definition.resource) return null
  const named = authorValue(definition.name, "resource", definition.resource, parsed)
  if (typeof named !== "string" || named.trim() === "" || /\b(undefined|null|NaN)\b/.test(named)) {
    throw partError(definition.name, "resource", "names nothing; a part of it is missing", null)
  }
  return named
}

function isLoose(value: unknown): value is LooseDefinition {
  return typeof value === "object" && value !== null && "form" in value && "run" in value
}
