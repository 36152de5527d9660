/**
 * What users write: the types of `defineTool` and `guard`.
 *
 * Options whose feature is not built are absent here and refused at run time (`option-tables.ts`), so that nobody believes in
 * a protection that is not there.
 */
import type { Json, Typed } from "@invokejs/protocol"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import type { AttemptContext, ProbeContext } from "./compiled-tool.ts"
import type { ContractInput, LookupInput } from "./contract-input.ts"
import type { Duration } from "./duration.ts"
import type { AcceptedOutcome, AppliedOutcome, OutcomeError, OutputFrom } from "./outcome.ts"
import type { FenceWord, ProbeWord } from "./probe-answer.ts"

/** Declared business fields: `{ invoice: id(p.invoice_id) }`. A missing part is an error, and nothing runs. */
export interface Fields {
  readonly [field: string]: Typed
}

export type ComparisonInput =
  | Typed
  | string
  | number
  | boolean
  | { readonly gte: Typed | number }
  | { readonly lte: Typed | number }
  | { readonly ne: Typed | string | number | boolean }
  | { readonly in: readonly (Typed | string | number | boolean)[] }
  | { readonly exists: true }
  | { readonly matches: string | RegExp }

export interface ComparisonsInput {
  readonly [path: string]: ComparisonInput
}

export interface ExpectationInput {
  /** Which object is ours. May be left out where objects carry the operation id. */
  readonly match?: ComparisonsInput
  /** What the call makes true. */
  readonly effect: ComparisonsInput
  /** What must hold if it is ours. */
  readonly invariant?: ComparisonsInput
}

/** `"returned"`: the author's word that the function returns only after the provider said yes. */
export type AppliedOption<Output> = "returned" | "2xx" | "outcome" | ((value: Output) => boolean)

export interface Answer<Output> {
  readonly value?: Output
  readonly error?: unknown
}

export type Classify<Output> = (
  answer: Answer<Output>,
) => AppliedOutcome<unknown> | AcceptedOutcome | OutcomeError | null | undefined

export interface JsonSchema {
  readonly [keyword: string]: Json
}

interface CommonOptions<Name extends string, Params> {
  /** Letters, digits, `_`, `-` and `.`; begins with a letter. */
  readonly name: Name
  /** Default `"1"`. */
  readonly version?: string
  /** Names this tool had before, oldest first. The first of all names its operations for ever. */
  readonly was?: string | readonly string[]
  readonly description?: string
  /** The input schema as JSON Schema, for agents, where the schema library cannot give one. */
  readonly jsonSchema?: JsonSchema
  readonly identityVersion?: string
  /** Identity functions of earlier versions, kept while their operations are unresolved or recent. */
  readonly identityVersions?: { readonly [version: string]: (params: Params) => Fields }
  readonly timeout?: Duration
  readonly deadline?: Duration
  readonly attempts?: number
  readonly wait?: Duration
  /** URLs marked `untrusted_url` may lead to private addresses. Default false. */
  readonly allowPrivate?: boolean
}

interface ConsequentialOptions<Params, Output> {
  /** All its requests go through `fetch` of the context. Absent: opaque. */
  readonly transport?: "invoke"
  /** The near-duplicate guard: fields that make two calls look like one action. */
  readonly intent?: (params: Params) => Fields
  readonly contract?: ContractInput
  readonly classify?: Classify<Output>
  /** Names the thing whose state the call sets. */
  readonly resource?: (params: Params) => string
  readonly repeatWindow?: Duration
  readonly settleBy?: Duration
  /** A later identical call on `not_applied` is its retry. Default true. */
  readonly retryOnRepeat?: boolean
}

export type ExecuteContext<Params> = AttemptContext & { readonly params: Params }
export type ProbeArgument<Params> = ProbeContext & { readonly params: Params }
export type FenceArgument<Params> = ProbeArgument<Params> & { readonly marker: string }
export type DefinedProbe<Params> = (context: ProbeArgument<Params>) => ProbeWord | Promise<ProbeWord>
export type DefinedFence<Params> = (context: FenceArgument<Params>) => FenceWord | Promise<FenceWord>

interface Defined<Schema extends StandardSchemaV1, Returned> {
  readonly input: Schema
  readonly identity?: (params: StandardSchemaV1.InferOutput<Schema>) => Fields
  readonly execute: (context: ExecuteContext<StandardSchemaV1.InferOutput<Schema>>) => Returned
}

interface DefinedConsequential<Schema extends StandardSchemaV1, Returned>
  extends
    Defined<Schema, Returned>,
    ConsequentialOptions<StandardSchemaV1.InferOutput<Schema>, NoInfer<OutputFrom<Returned>>> {
  /** Required, here or in the contract. A predicate stands after `execute`, which gives its type. */
  readonly applied?: AppliedOption<NoInfer<OutputFrom<Returned>>>
}

interface Checked<Params> {
  readonly probe: DefinedProbe<Params>
  readonly expect: (params: Params) => ExpectationInput
  readonly fence?: DefinedFence<Params>
}

interface Unchecked {
  readonly probe?: never
  readonly expect?: never
  readonly fence?: never
}

type Out<Schema extends StandardSchemaV1> = StandardSchemaV1.InferOutput<Schema>

/** What a tool that changes nothing has not. */
interface Effectless {
  readonly applied?: never
  readonly classify?: never
  readonly contract?: never
  readonly intent?: never
  readonly resource?: never
  readonly repeatWindow?: never
  readonly settleBy?: never
  readonly retryOnRepeat?: never
}

export interface ReadOnlyDefinition<Name extends string, Schema extends StandardSchemaV1, Returned>
  extends CommonOptions<Name, Out<Schema>>, Defined<Schema, Returned>, Unchecked, Effectless {
  readonly safety: "read-only"
  readonly transport?: "invoke"
  /** Journal its calls as well. Default false. */
  readonly journaled?: boolean
}

export interface CheckableDefinition<Name extends string, Schema extends StandardSchemaV1, Returned>
  extends CommonOptions<Name, Out<Schema>>, DefinedConsequential<Schema, Returned>, Checked<Out<Schema>> {
  readonly safety: "write-once-checkable"
}

export type IdempotentDefinition<Name extends string, Schema extends StandardSchemaV1, Returned> = CommonOptions<
  Name,
  Out<Schema>
> &
  DefinedConsequential<Schema, Returned> & {
    readonly safety: "idempotent"
    readonly contract: ContractInput & { readonly key: NonNullable<ContractInput["key"]> }
  } & (Checked<Out<Schema>> | Unchecked)

export interface IrreversibleDefinition<Name extends string, Schema extends StandardSchemaV1, Returned>
  extends CommonOptions<Name, Out<Schema>>, DefinedConsequential<Schema, Returned>, Unchecked {
  readonly safety: "irreversible"
}

export type ToolDefinition<Name extends string, Schema extends StandardSchemaV1, Returned> =
  | ReadOnlyDefinition<Name, Schema, Returned>
  | CheckableDefinition<Name, Schema, Returned>
  | IdempotentDefinition<Name, Schema, Returned>
  | IrreversibleDefinition<Name, Schema, Returned>

interface GuardCommon<Name extends string, Params, Output>
  extends CommonOptions<Name, Params>, ConsequentialOptions<Params, Output> {
  /** Which action this is. */
  readonly identity: (params: Params) => Fields
  /** What returning means. `fetch` does not throw on 500, so nobody else can say. */
  readonly applied: AppliedOption<Output>
  readonly input?: StandardSchemaV1<unknown, Params>
}

/** The context of a guarded function's probe: `(params, context)`. */
export type GuardProbe<Params, Word extends ProbeWord> = (params: Params, context: ProbeContext) => Word | Promise<Word>

interface GuardChecks<Params, Word extends ProbeWord> {
  readonly probe: GuardProbe<Params, Word>
  /** Default: `match` and `effect` from the identity, `invariant` from the parameters that the state has too. */
  readonly expect?: (params: Params) => ExpectationInput
}

/** Without a probe: irreversible. With one: write-once-checkable, and the objects it finds carry cause. */
export type GuardOptions<Name extends string, Params, Output> = GuardCommon<Name, Params, Output> &
  (
    | { readonly probe?: never; readonly expect?: never }
    | GuardChecks<Params, ProbeWord<"operation" | "created">>
    | (GuardChecks<Params, ProbeWord> & { readonly resource: (params: Params) => string })
    | (GuardChecks<Params, ProbeWord> & {
        readonly contract: ContractInput & { readonly lookup: LookupInput & { readonly creationTime: false } }
      })
  )
