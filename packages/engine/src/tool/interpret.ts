/**
 * The tool's own word about how an attempt ended: `outcome.*`, `classify`, the `applied` rule.
 *
 * Owns: which of them is heard first. Must not: look at stages or statuses; the engine joins those with this word.
 *
 * IN1. A value returned where `applied` does not say what returning means is unknown (S3, R3).
 * IN2. An error that is no word is unknown: no error code proves anything.
 * IN3. The author's own code that fails while it reads an answer makes the attempt unknown, never failed.
 */
import type { AttemptEvidence, ToolWord } from "./compiled-tool.ts"
import { namespaceOf, type LooseDefinition } from "./loose-definition.ts"
import { isOutcome, type OutcomeWord } from "./outcome.ts"
import { candidateOf } from "./probe-answer.ts"

export type AppliedWord = "returned" | "2xx" | "outcome" | ((value: unknown) => unknown)

export function interpret(definition: LooseDefinition, applied: AppliedWord, evidence: AttemptEvidence): ToolWord {
  const { returned, thrown } = evidence
  const namespace = namespaceOf(definition)
  if (thrown && isOutcome(thrown.error)) return wordOf(thrown.error, namespace)
  if (returned && isOutcome(returned.value)) return wordOf(returned.value, namespace)
  const classified =
    definition.classify && (returned || thrown) ? classifiedWord(definition.classify, evidence, namespace) : null
  if (classified) return classified
  if (returned) return returnedWord(applied, returned.value)
  if (thrown) {
    const said = saidBy(thrown.error)
    return unknown("threw", `the tool threw ${said}, which does not say whether it was applied`)
  }
  return unknown("timeout", "the attempt's time ended without an answer")
}

function wordOf(word: OutcomeWord, namespace: string): ToolWord {
  switch (word.kind) {
    case "applied":
      return appliedWord(word.value, word.object, namespace)
    case "accepted":
      return {
        says: "accepted",
        value: null,
        ...(typeof word.reference === "string" && word.reference !== "" ? { reference: word.reference } : {}),
      }
    case "not_applied": {
      const { code, message, retry_after_ms } = word
      return { says: "not_applied", code, message, ...(retry_after_ms === undefined ? {} : { retry_after_ms }) }
    }
    case "rejected":
      return { says: "rejected", code: word.code, message: word.message }
    case "unknown":
      return { says: "proves_nothing", code: word.code, message: word.message }
    default:
      return unknown("outcome_unreadable", "the tool's outcome is of a kind that this version does not know")
  }
}

/** An object that cannot be read loses the object, not the fact. */
function appliedWord(
  value: unknown,
  object: Parameters<typeof candidateOf>[0] | undefined,
  namespace: string,
): ToolWord {
  if (object === undefined) return { says: "applied", value }
  try {
    return { says: "applied", value, candidate: candidateOf(object, { operation_id: null, namespace }) }
  } catch {
    return { says: "applied", value }
  }
}

function classifiedWord(
  classify: NonNullable<LooseDefinition["classify"]>,
  evidence: AttemptEvidence,
  namespace: string,
): ToolWord | null {
  const { returned, thrown } = evidence
  try {
    const word = classify(thrown ? { error: thrown.error } : { value: returned?.value })
    if (isOutcome(word)) return wordOf(word, namespace)
    if (word === undefined || word === null) return null
    return unknown("classify_failed", "classify returned something that is no outcome")
  } catch (error) {
    if (isOutcome(error)) return wordOf(error, namespace)
    return unknown("classify_failed", `classify threw ${nameOf(error)}`)
  }
}

/** A plain value: the contract's rule says what it means, once the engine knows the answer's status too. */
function returnedWord(applied: AppliedWord, value: unknown): ToolWord {
  if (typeof applied === "function") return { says: "returned", value, accepts: accepts(applied, value) }
  const silent = applied === "returned" ? unread(value) : null
  return silent ?? { says: "returned", value, accepts: null }
}

/** Only a plain true or false is an answer: a promise is truthy whatever it will say. */
function accepts(applied: (value: unknown) => unknown, value: unknown): boolean | null {
  try {
    const holds = applied(value)
    return typeof holds === "boolean" ? holds : null
  } catch {
    return null
  }
}

/** `fetch` does not throw on 500: a response that says so itself is no acknowledgement, whatever the author promised. */
function unread(value: unknown): ToolWord | null {
  if (Object.prototype.toString.call(value) !== "[object Response]") return null
  const { ok, status } = value as { readonly ok?: unknown; readonly status?: unknown }
  return ok === true ? null : unknown("response_not_ok", `the tool returned a response of status ${String(status)}`)
}

/** What people need to find their own mistake; the texts for a model are ours alone (RS3). */
const SAID_MAX = 300

function saidBy(error: unknown): string {
  const message = error instanceof Error ? error.message : typeof error === "string" ? error : ""
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ""
  return message === "" ? nameOf(error) : `${nameOf(error)}: ${message}${cause}`.slice(0, SAID_MAX).toWellFormed()
}

function nameOf(error: unknown): string {
  return error instanceof Error && /^[A-Za-z]\w{0,63}$/.test(error.name) ? error.name : "a value"
}

function unknown(code: string, message: string): ToolWord {
  return { says: "unknown", code, message }
}
