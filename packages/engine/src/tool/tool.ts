/** A tool as users hold it, and the types that a list of tools gives to calls. */
import type { SafetyClass } from "@invokejs/protocol"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import type { JsonSchema } from "./tool-definition.ts"

export interface Tool<Name extends string = string, Params = unknown, Output = unknown> {
  readonly name: Name
  readonly version: string
  readonly safety: SafetyClass
  readonly description?: string
  readonly input: StandardSchemaV1
  readonly jsonSchema?: JsonSchema
  /** Types only; never there. */
  readonly "~types"?: { readonly params: Params; readonly output: Output }
  /** For `compileTool` alone. */
  readonly "~definition": unknown
}

export type AnyTool = Tool

export type ToolName<Tools extends readonly AnyTool[]> = Tools[number]["name"]

type Named<Tools extends readonly AnyTool[], Name extends string> = Extract<Tools[number], { readonly name: Name }>

type TypesOf<T> = T extends { readonly "~types"?: infer Types } ? NonNullable<Types> : never

/** What a call of the tool takes. */
export type ParamsOf<Tools extends readonly AnyTool[], Name extends ToolName<Tools>> =
  TypesOf<Named<Tools, Name>> extends { readonly params: infer Params } ? Params : never

/** What the tool's function gives; a call gives it through JSON (`Jsonify`). */
export type OutputOf<Tools extends readonly AnyTool[], Name extends ToolName<Tools>> =
  TypesOf<Named<Tools, Name>> extends { readonly output: infer Output } ? Output : never
