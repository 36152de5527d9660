/**
 * What a tool expects to find if its call was applied: the author's words as typed comparisons (protocol §6).
 *
 * Owns: the spelling `{gte, lte, ne, in, exists, matches}`, and the expectation `guard` makes where the author gives none.
 *
 * EX1. `effect` is never empty: an expectation that nothing can break confirms everything.
 * EX2. Where objects do not carry our id, `match` is not empty either.
 * EX3. The default's `invariant` lists what parameters and state may share; absent in the state, it says nothing. It can only
 *      lower a verdict.
 */
import {
  InvokeError,
  isTyped,
  literal,
  type Comparison,
  type Expectation,
  type Json,
  type Typed,
} from "@invokejs/protocol"
import { definitionError } from "./definition-error.ts"
import { authorValue, partError, typedFields } from "./identify.ts"
import type { LooseDefinition } from "./loose-definition.ts"

interface Comparisons {
  readonly [path: string]: Comparison
}

export function expectationOf(
  definition: LooseDefinition,
  parsed: unknown,
  correlates: "operation" | "created" | "state",
): Expectation | null {
  const { name, expect, identity } = definition
  if (!expect) return identity ? defaultExpectation(definition, parsed) : null
  const said = authorValue(name, "expect", expect, parsed)
  if (!isRecord(said)) throw partError(name, "expect", "returns no lists; write { match, effect, invariant }", null)
  const stray = Object.keys(said).find((list) => !["match", "effect", "invariant"].includes(list))
  if (stray !== undefined) throw listError(name, `expect returns "${stray}", which is none of its lists`)
  const match = comparisons(name, "match", said["match"])
  const effect = comparisons(name, "effect", said["effect"])
  if (Object.keys(effect).length === 0)
    throw listError(name, "expect.effect is empty, so anything would confirm the call")
  if (Object.keys(match).length === 0 && correlates !== "operation") {
    throw listError(name, "expect.match is empty, so any object would be ours")
  }
  return { match, effect, invariant: comparisons(name, "invariant", said["invariant"]) }
}

function listError(tool: string, what: string): InvokeError {
  return definitionError("definition_invalid", {
    tool,
    path: "expect",
    what,
    fix: "Write `expect: (p) => ({ match: { customer: id(p.customer) }, effect: { paid: true }, invariant: {} })`.",
  })
}

function comparisons(tool: string, list: string, said: unknown): Comparisons {
  if (said === undefined) return {}
  if (!isRecord(said)) throw partError(tool, `expect.${list}`, "is no object of paths and values", null)
  return Object.fromEntries(
    Object.entries(said).map(([path, value]) => [path, comparison(tool, `expect.${list}.${path}`, value)]),
  )
}

function comparison(tool: string, what: string, said: unknown): Comparison {
  if (!isRecord(said) || isTyped(said)) return { op: "eq", value: typed(tool, what, said) }
  const [entry, ...more] = Object.entries(said)
  if (entry === undefined || more.length > 0) throw partError(tool, what, "needs exactly one comparison", null)
  const [op, value] = entry
  switch (op) {
    case "gte":
    case "lte":
    case "ne":
      return { op, value: typed(tool, what, value) }
    case "in":
      if (!Array.isArray(value) || value.length === 0) throw partError(tool, what, "needs a list of values", null)
      return { op, values: value.map((one: unknown) => typed(tool, what, one)) }
    case "exists":
      if (value !== true) throw partError(tool, what, "knows only { exists: true }", null)
      return { op }
    case "matches":
      return { op, pattern: pattern(tool, what, value) }
    default:
      throw partError(tool, what, `has no comparison "${op}"; use gte, lte, ne, in, exists or matches`, null)
  }
}

function typed(tool: string, what: string, value: unknown): Typed {
  if (isTyped(value)) return value
  if (typeof value === "string" || typeof value === "boolean") return literal(value)
  if (typeof value === "number" && Number.isFinite(value)) return literal(value)
  if (value === undefined || value === null) throw partError(tool, what, "is missing", null)
  throw partError(tool, what, "is no typed value; use id(), text(), minor(), decimal(), instant() or a literal", null)
}

function pattern(tool: string, what: string, value: unknown): string {
  if (value instanceof RegExp) {
    if (!/^[uv]?$/.test(value.flags))
      throw partError(tool, what, "may not carry flags; write them into the pattern", null)
    return value.source
  }
  if (typeof value === "string" && value !== "") return value
  throw partError(tool, what, "needs a pattern", null)
}

function defaultExpectation(definition: LooseDefinition, parsed: unknown): Expectation {
  const fields = typedFields(definition.name, "identity", definition.identity ?? (() => ({})), parsed)
  const ours = Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, equals(value)]))
  const invariant = Object.entries(isRecord(parsed) ? parsed : {})
    .filter(([name, value]) => isComparable(value) && !(name in ours) && !name.includes("."))
    .map(([name, value]) => [name, equals(literal(value as Json))] as const)
  return { match: ours, effect: ours, invariant: Object.fromEntries(invariant) }
}

function equals(value: Typed): Comparison {
  return { op: "eq", value }
}

function isComparable(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value)
  return typeof value === "boolean" || (typeof value === "string" && value.trim() !== "")
}

function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof RegExp)
}
