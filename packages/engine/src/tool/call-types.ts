/** The types of a call, from the tools it may name: names suggested, parameters checked, output as a replay gives it. */
import type { ResultCore, ResultFields } from "@invokejs/protocol"
import type { CallOptions } from "../admission/call-options.ts"
import type { Jsonify } from "./json-output.ts"
import type { AnyTool, OutputOf, ParamsOf, ToolName } from "./tool.ts"

/** `tool` and `params`, and the options that no model may set. */
export type CallOf<Tools extends readonly AnyTool[], Name extends ToolName<Tools>> = Omit<
  CallOptions,
  "tool" | "params"
> & {
  readonly tool: Name
  readonly params: ParamsOf<Tools, Name>
}

/** A Result with the output's type. `output` is null where it was purged, could not be stored, or was never told. */
export type TypedResult<Output> = ResultCore &
  Omit<ResultFields, "output"> & { readonly output: Jsonify<Output> | null }

export type ResultOf<Tools extends readonly AnyTool[], Name extends ToolName<Tools>> = TypedResult<
  OutputOf<Tools, Name>
>
