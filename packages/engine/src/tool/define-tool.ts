/** `defineTool`: a tool from its parts. Every fault is refused here, before anything can run with it. */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { checkOptions, toolNameOf } from "./check-options.ts"
import { compileDefinition } from "./compile-tool.ts"
import type { AttemptContext, ProbeContext } from "./compiled-tool.ts"
import { checkRules } from "./definition-rules.ts"
import type { LooseDefinition } from "./loose-definition.ts"
import type { OutputFrom } from "./outcome.ts"
import type { Tool } from "./tool.ts"
import type { ToolDefinition } from "./tool-definition.ts"

/** Throws `InvokeError` (`definition_invalid`, `applied_missing`, `expect_missing`, `unsupported_option` …) for a bad definition. */
export function defineTool<const Name extends string, Schema extends StandardSchemaV1, Returned>(
  definition: ToolDefinition<Name, Schema, Returned>,
): Tool<Name, StandardSchemaV1.InferInput<Schema>, OutputFrom<Returned>> {
  const name = toolNameOf(definition, "defineTool")
  const said = definition as unknown as Said
  checkOptions(name, said, "defined")
  checkRules(name, said)
  const { execute, probe, fence, ...rest } = said
  return toolOf({
    ...rest,
    form: "defined",
    run: (params: unknown, context: AttemptContext) => execute({ ...context, params }),
    ...(probe ? { look: (params: unknown, context: ProbeContext) => probe({ ...context, params }) } : {}),
    ...(fence
      ? {
          wall: (params: unknown, context: ProbeContext & { readonly marker: string }) => fence({ ...context, params }),
        }
      : {}),
  } as LooseDefinition) as Tool<Name, StandardSchemaV1.InferInput<Schema>, OutputFrom<Returned>>
}

interface Said {
  readonly [option: string]: unknown
  readonly execute: (context: object) => unknown
  readonly probe?: (context: object) => unknown
  readonly fence?: (context: object) => unknown
}

/** The tool of a checked definition. Compiling it once here lets no fault wait for `open`. */
export function toolOf(definition: LooseDefinition): Tool {
  const frozen = Object.freeze(definition)
  const { name, version, safety } = compileDefinition(frozen)
  const { description, jsonSchema, input } = frozen
  return Object.freeze({
    name,
    version,
    safety,
    input,
    ...(description === undefined ? {} : { description }),
    ...(jsonSchema === undefined ? {} : { jsonSchema }),
    "~definition": frozen,
  })
}
