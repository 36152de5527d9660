/** `guard`: an existing function as a tool. The same path as `defineTool`; the class follows from whether a probe can tell. */
import { checkOptions, toolNameOf } from "./check-options.ts"
import { definitionError } from "./definition-error.ts"
import { checkRules } from "./definition-rules.ts"
import { toolOf } from "./define-tool.ts"
import type { AttemptContext } from "./compiled-tool.ts"
import type { Jsonify } from "./json-output.ts"
import type { LooseDefinition } from "./loose-definition.ts"
import type { OutputFrom } from "./outcome.ts"
import { asGiven } from "./standard-schema.ts"
import type { Tool } from "./tool.ts"
import type { GuardOptions } from "./tool-definition.ts"

/** The guarded function: the same parameters, the output as a replay gives it. */
export type Guarded<Params, Returned> = (params: Params) => Promise<Jsonify<OutputFrom<Returned>>>

/** Throws `InvokeError` for a bad definition, like `defineTool`. */
export function guardTool<const Name extends string, Params, Returned>(
  fn: (params: Params, context: AttemptContext) => Returned,
  options: GuardOptions<Name, Params, OutputFrom<Returned>>,
): Tool<Name, Params, OutputFrom<Returned>> {
  const name = toolNameOf(options, "guard")
  if (typeof fn !== "function") {
    throw definitionError("definition_invalid", {
      tool: name,
      path: "guard",
      what: "the first argument of `guard` must be the function to guard",
      fix: 'Write `invoke.guard(chargeCustomer, { name: "charge_customer", … })`.',
    })
  }
  const said = options as unknown as { readonly [option: string]: unknown }
  checkOptions(name, said, "guarded")
  checkRules(name, said)
  const { probe, ...rest } = said
  return toolOf({
    input: asGiven<unknown>(),
    ...rest,
    form: "guarded",
    safety: probe === undefined ? "irreversible" : "write-once-checkable",
    run: fn,
    ...(probe === undefined ? {} : { look: probe }),
  } as LooseDefinition) as Tool<Name, Params, OutputFrom<Returned>>
}
