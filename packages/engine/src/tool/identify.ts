/**
 * Identity and intent of a call, from the tool's declared fields (protocol §2).
 *
 * Owns: that a missing part is `invalid_params` and nothing runs, whether the author's function threw or left it out.
 */
import { InvokeError, TypedValueError, normaliseFields, type Typed } from "@invokejs/protocol"
import type { Identity } from "./compiled-tool.ts"
import type { LooseDefinition } from "./loose-definition.ts"

export const FIRST_IDENTITY_VERSION = "1"

/** Under every registered version, newest first. */
export function identities(definition: LooseDefinition, parsed: unknown): readonly Identity[] {
  if (!definition.identity) return []
  const current = definition.identityVersion ?? FIRST_IDENTITY_VERSION
  const older = Object.entries(definition.identityVersions ?? {}).toReversed()
  return [[current, definition.identity] as const, ...older].map(([version, make]) => {
    const what = version === current ? "identity" : `identity version ${version}`
    return { fields: normaliseFields(typedFields(definition.name, what, make, parsed), what), version }
  })
}

export function intentFields(
  definition: LooseDefinition,
  parsed: unknown,
): { readonly [field: string]: string } | null {
  if (!definition.intent) return null
  return normaliseFields(typedFields(definition.name, "intent", definition.intent, parsed), "intent")
}

/** The fields as the author's function gives them. Throws `invalid_params`. */
export function typedFields(
  tool: string,
  what: string,
  make: (params: unknown) => unknown,
  parsed: unknown,
): { readonly [field: string]: Typed } {
  const fields = authorValue(tool, what, make, parsed)
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    throw partError(tool, what, "returns no fields; write { invoice: id(p.invoice_id) }", null)
  }
  return fields as { readonly [field: string]: Typed }
}

/** Runs one of the author's pure functions of the parameters. What it throws means that these parameters will not do. */
export function authorValue(tool: string, what: string, make: (params: unknown) => unknown, parsed: unknown): unknown {
  try {
    return make(parsed)
  } catch (error) {
    if (InvokeError.is(error)) throw error
    const words = error instanceof TypedValueError ? error.message : "cannot be made from these parameters"
    throw partError(tool, what, words, error)
  }
}

export function partError(tool: string, what: string, words: string, cause: unknown): InvokeError {
  return new InvokeError("invalid_params", {
    happened: `tool "${tool}": ${what} ${words}`,
    detail: { part: what, issues: [{ path: "$", message: `${what}: ${words}` }] },
    ...(cause === null ? {} : { cause }),
  })
}
