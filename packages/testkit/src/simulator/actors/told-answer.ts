/** A Result in the oracle's words, and which errors a caller has to reckon with. */
import { InvokeError, type Result } from "@invokejs/protocol"
import type { Answer } from "../history.ts"

type Asked = Pick<Answer, "called_at" | "process" | "verb" | "tool" | "action">

export function toldAnswer(asked: Asked, at: number, result: Result): Answer {
  const named = (result.output as { readonly object?: unknown } | null)?.object
  return {
    ...asked,
    at,
    operation_id: result.operation_id,
    ok: result.ok,
    settled: result.settled,
    replayed: result.status === "replayed",
    outcome: result.final_outcome,
    attempt: result.attempt,
    object_id: typeof named === "string" ? named : null,
    error: null,
  }
}

export function toldError(asked: Asked, at: number, error: unknown, foreseen: readonly string[]): Answer {
  const code = InvokeError.is(error) ? error.code : String(error)
  return {
    ...asked,
    at,
    operation_id: null,
    ok: false,
    settled: false,
    replayed: false,
    outcome: "error",
    attempt: 0,
    object_id: null,
    error: { code, foreseen: InvokeError.is(error) && foreseen.includes(code) },
  }
}
