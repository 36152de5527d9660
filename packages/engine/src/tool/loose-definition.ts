/**
 * A definition after its options were checked and before it is compiled: the same for `defineTool` and `guard`.
 *
 * The one place where the types of a tool's parameters end: what its functions get is what its schema gave.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import type { ContractInput } from "./contract-input.ts"
import type { AttemptContext, ProbeContext } from "./compiled-tool.ts"
import type { Duration } from "./duration.ts"
import type { JsonSchema } from "./tool-definition.ts"

export interface LooseDefinition {
  readonly form: "defined" | "guarded"
  readonly name: string
  readonly version?: string
  readonly was?: string | readonly string[]
  readonly description?: string
  readonly safety: "read-only" | "idempotent" | "write-once-checkable" | "irreversible"
  readonly transport?: "invoke"
  readonly input: StandardSchemaV1
  readonly jsonSchema?: JsonSchema
  readonly identity?: (params: unknown) => unknown
  readonly identityVersion?: string
  readonly identityVersions?: { readonly [version: string]: (params: unknown) => unknown }
  readonly intent?: (params: unknown) => unknown
  readonly contract?: ContractInput
  readonly applied?: "returned" | "2xx" | "outcome" | ((value: unknown) => unknown)
  readonly classify?: (answer: { readonly value?: unknown; readonly error?: unknown }) => unknown
  readonly resource?: (params: unknown) => unknown
  readonly expect?: (params: unknown) => unknown
  readonly run: (params: unknown, context: AttemptContext) => unknown
  readonly look?: (params: unknown, context: ProbeContext) => unknown
  readonly wall?: (params: unknown, context: ProbeContext & { readonly marker: string }) => unknown
  readonly timeout?: Duration
  readonly deadline?: Duration
  readonly attempts?: number
  readonly wait?: Duration
  readonly repeatWindow?: Duration
  readonly settleBy?: Duration
  readonly retryOnRepeat?: boolean
  readonly allowPrivate?: boolean
  readonly journaled?: boolean
}

/** The tool's first name: what its operations and objects are told apart by, whatever it is called now. */
export function namespaceOf({ name, was }: Pick<LooseDefinition, "name" | "was">): string {
  return (was === undefined ? [] : [was].flat())[0] ?? name
}
