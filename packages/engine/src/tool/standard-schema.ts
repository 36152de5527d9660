/** Parameters through any Standard Schema, with its issues as places and words that a model can act on. */
import { InvokeError, pathText, type Json, type PathStep } from "@invokejs/protocol"
import type { StandardSchemaV1 } from "@standard-schema/spec"

export interface ParamIssue {
  readonly path: string
  readonly message: string
}

export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly ParamIssue[] }

/** More than a model can use at once; the rest shows on the next try. */
const ISSUES_MAX = 32
const MESSAGE_LENGTH_MAX = 300

export async function parseParams(schema: StandardSchemaV1, params: Json, tool: string): Promise<Parsed> {
  let result: StandardSchemaV1.Result<unknown>
  try {
    result = await schema["~standard"].validate(params)
  } catch (error) {
    throw new InvokeError("invalid_params", {
      happened: `the input schema of tool "${tool}" threw while it read the parameters`,
      fix: "Make the schema report issues instead of throwing.",
      detail: { issues: [{ path: "$", message: "the parameters cannot be read by the tool's schema" }] },
      cause: error,
    })
  }
  if (!result.issues) return { ok: true, value: result.value }
  const issues = result.issues.slice(0, ISSUES_MAX).map(issueOf)
  return {
    ok: false,
    issues: issues.length > 0 ? issues : [{ path: "$", message: "not accepted by the tool's schema" }],
  }
}

function issueOf(issue: StandardSchemaV1.Issue): ParamIssue {
  const steps = (issue.path ?? []).map((step): PathStep => stepOf(typeof step === "object" ? step.key : step))
  return { path: pathText(steps), message: String(issue.message).slice(0, MESSAGE_LENGTH_MAX) }
}

function stepOf(key: PropertyKey): PathStep {
  return typeof key === "symbol" ? key.toString() : key
}

/** The schema of a tool without one: parameters as they were given. */
export function asGiven<Params>(): StandardSchemaV1<Params, Params> {
  return {
    "~standard": { version: 1, vendor: "invoke", validate: (value) => ({ value: value as Params }) },
  }
}

export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false
  const standard = (value as { readonly "~standard"?: unknown })["~standard"]
  if (typeof standard !== "object" || standard === null) return false
  const { version, validate } = standard as { readonly version?: unknown; readonly validate?: unknown }
  return version === 1 && typeof validate === "function"
}
