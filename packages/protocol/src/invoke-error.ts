/**
 * The one error class: an error from `call` means that nothing ran and nothing was reserved.
 *
 * Owns: how a message is made: what happened, to which thing, what to do.
 *
 * IE1. `InvokeError.is` decides by code, never by `instanceof`: two copies of the package may meet in one process.
 * IE2. `nothingRan` is false only for `unsettled` and `not_in_place`, and those always carry `.result`.
 */
import { ERRORS, errorDocs, isErrorCode, type ErrorCode } from "./error-registry.ts"
import type { Json } from "./canonical-json.ts"
import type { Result } from "./result.ts"

export interface InvokeErrorInput {
  /** What happened, and to which thing; one clause without a full stop. */
  readonly happened?: string
  /** What to do; the registry's words where absent. */
  readonly fix?: string
  readonly detail?: { readonly [name: string]: Json }
  readonly retry_after_ms?: number
  readonly result?: Result
  readonly cause?: unknown
}

/** RFC 9457 problem details. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ErrorCode
  readonly same_call_again: string
  readonly agent_text: string
  readonly [name: string]: Json
}

export class InvokeError extends Error {
  override readonly name = "InvokeError"
  readonly code: ErrorCode
  /** HTTP status; null where the error never crosses the wire. */
  readonly http: number | null
  readonly exit: number
  /** True: nothing ran and nothing was reserved by this call. */
  readonly nothingRan: boolean
  readonly detail: { readonly [name: string]: Json }
  /** Our own words, safe for a model. */
  readonly agent_text: string
  readonly docs: string
  readonly retry_after_ms?: number
  readonly result?: Result

  constructor(code: ErrorCode, input: InvokeErrorInput = {}) {
    const row = ERRORS[code]
    const { result } = input
    if (!row.nothing_ran && result === undefined)
      throw new TypeError(`InvokeError ${code} needs the result it is about`)
    const happened = input.happened ?? row.title
    super(`${happened}. ${input.fix ?? row.fix} (${code})`, "cause" in input ? { cause: input.cause } : undefined)
    this.code = code
    this.http = row.http
    this.exit = result?.exit ?? row.exit ?? 1
    this.nothingRan = row.nothing_ran
    this.detail = input.detail ?? {}
    this.agent_text = result?.agent_text ?? errorText(code, this.detail)
    this.docs = errorDocs(code)
    if (input.retry_after_ms !== undefined) this.retry_after_ms = input.retry_after_ms
    if (result !== undefined) this.result = result
  }

  /** Whether a thrown value is an InvokeError, and of this code (IE1). */
  static is<C extends ErrorCode>(error: unknown, code?: C): error is InvokeError & { readonly code: C } {
    if (typeof error !== "object" || error === null) return false
    const { name, code: found } = error as { name?: unknown; code?: unknown }
    return name === "InvokeError" && isErrorCode(found) && (code === undefined || found === code)
  }
}

/** The error as problem details; codes that never cross the wire answer as a server fault of 500. */
export function problemOf(error: InvokeError): Problem {
  return {
    ...error.detail,
    type: error.docs,
    title: ERRORS[error.code].title,
    status: error.http ?? 500,
    detail: error.message,
    code: error.code,
    same_call_again: ERRORS[error.code].same_call_again,
    agent_text: error.agent_text,
    ...(error.retry_after_ms === undefined ? {} : { retry_after_ms: error.retry_after_ms }),
  }
}

const ISSUES_SHOWN = 8
const ISSUE_LENGTH_MAX = 200

/** The registry's text; for parameters also the places and the schema's words, which a model needs to correct them. */
function errorText(code: ErrorCode, detail: { readonly [name: string]: Json }): string {
  const text = ERRORS[code].agent_text
  const issues = detail["issues"]
  if (code !== "invalid_params" || !Array.isArray(issues)) return text
  const lines = (issues as readonly Json[]).slice(0, ISSUES_SHOWN).flatMap((issue) => issueLine(issue))
  return lines.length === 0 ? text : `${text} ${lines.join("; ")}.`
}

function issueLine(issue: Json): string[] {
  if (typeof issue !== "object" || issue === null || Array.isArray(issue)) return []
  const { path, message } = issue as { readonly path?: Json; readonly message?: Json }
  if (typeof message !== "string") return []
  return [`${typeof path === "string" ? `${path}: ` : ""}${message}`.slice(0, ISSUE_LENGTH_MAX)]
}
