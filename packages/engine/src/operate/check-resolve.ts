/**
 * What a person says an operation came to, checked before anything is written: a slip of the hand must not settle money. Whether
 * the evidence suffices is `transition()`'s to say.
 */
import { InvokeError, isJson, type ResolveTo } from "@invokejs/protocol"

const ENDS: readonly string[] = ["succeeded", "not_applied", "undone", "ready", "closed_unknown"]

const EXAMPLE =
  'Write operator.resolve(id, { to: "succeeded", reason: "seen in the provider\'s dashboard", evidence: { ticket: "SUP-1182" } }).'

export function checkResolve(given: unknown): asserts given is ResolveTo {
  if (typeof given !== "object" || given === null)
    throw bad("options", "resolve takes what it came to, why, and the evidence")
  const { to, reason, evidence } = given as Partial<Record<keyof ResolveTo, unknown>>
  if (typeof to !== "string" || !ENDS.includes(to)) throw bad("to", `to is one of ${ENDS.join(", ")}`)
  if (typeof reason !== "string") throw bad("reason", "a reason is needed")
  const named = typeof evidence === "object" && evidence !== null && !Array.isArray(evidence) && isJson(evidence)
  if (evidence !== undefined && !named) throw bad("evidence", "evidence is named facts, not a bare value")
}

function bad(field: string, happened: string): InvokeError {
  return new InvokeError("invalid_request", { happened, fix: EXAMPLE, detail: { field } })
}
