/**
 * From what the tool said and the transport saw to the attempt's class: the engine's side of `classifyOutcome()`.
 *
 * Owns: gathering. The output goes through JSON once, so that the first caller gets what a replay gets.
 */
import {
  classifyOutcome,
  retryAfterMs,
  type AttemptOutcome,
  type Attempt,
  type Operation,
  type Reason,
  type ToolWord as ProtocolWord,
} from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import type { CompiledTool, ToolWord } from "../tool/compiled-tool.ts"
import { jsonOutput } from "../tool/json-output.ts"
import type { Classified } from "./record-outcome.ts"
import type { AttemptObservation } from "./transport/attempt-observation.ts"

const CODE_MAX = 100
const TEXT_MAX = 2_000

export type Ended =
  | { readonly how: "returned"; readonly value: unknown; readonly timed_out: boolean; readonly started: boolean }
  | { readonly how: "thrown"; readonly error: unknown; readonly timed_out: boolean; readonly started: boolean }

export function classify(
  context: EngineContext,
  operation: Operation,
  attempt: Attempt,
  tool: CompiledTool,
  end: Ended,
  seen: AttemptObservation,
): Classified {
  const header = seen.headers["retry-after"]
  const asked = header === undefined ? undefined : retryAfterMs(header, context.clock.wall())
  const facts = {
    ...(seen.provider_request_id === null ? {} : { provider_request_id: seen.provider_request_id }),
    ...(seen.status === null ? {} : { http_status: seen.status }),
    ...(seen.digest === null ? {} : { request_digest: seen.digest }),
  }
  if (!end.started) {
    const reason = {
      code: "params_unreadable",
      text: "today's schema refuses the stored parameters; the tool was not called",
    }
    return {
      outcome: { class: "rejected", reason, proof: "word", speaks_for: "attempt", look_first: false },
      left: false,
    }
  }
  const word = wordOf(tool, end)
  const { outcome, left } = classifyOutcome({
    transport: attempt.transport,
    observation: attempt.transport === "invoke" ? seen : null,
    word: protocolWord(word, end.timed_out),
    contract: operation.contract,
    checkable: operation.checkable,
    ...(asked === undefined || asked === null ? {} : { retry_after_ms: asked }),
  })
  const changed = changedUnderKey(outcome, seen)
  if (changed !== null) return { outcome: changed, left, ...facts }
  const said = word.says === "unknown" && outcome.class === "unknown" && outcome.reason.code === "threw"
  return { outcome: said ? { ...outcome, reason: reasonOf(word) } : outcome, left, ...facts }
}

/** Nothing left because the effect under a used key is another one: another key is needed, and `same-key.ts` reads it here. */
function changedUnderKey(outcome: AttemptOutcome, seen: AttemptObservation): AttemptOutcome | null {
  const code = seen.error?.code
  if (outcome.class !== "not_applied" || outcome.proof !== "stage") return null
  if (code !== "key_body_changed" && code !== "key_scope_changed") return null
  const text = "the request under this provider key is not the one that was sent under it before; nothing left"
  return { ...outcome, reason: { code, text } }
}

function wordOf(tool: CompiledTool, end: Ended): ToolWord {
  return end.how === "returned"
    ? tool.interpret({ returned: { value: end.value }, timed_out: end.timed_out })
    : tool.interpret({ thrown: { error: end.error }, timed_out: end.timed_out })
}

function protocolWord(word: ToolWord, timed_out: boolean): ProtocolWord {
  switch (word.says) {
    case "applied":
      return { kind: "applied", ...stored(word.value), ...(word.candidate ? { candidate: word.candidate } : {}) }
    case "accepted":
      return {
        kind: "accepted",
        output: stored(word.value).output,
        ...(word.reference === undefined ? {} : { reference: word.reference }),
      }
    case "returned":
      return {
        kind: "returned",
        ...stored(word.value),
        accepts: word.accepts,
        ...(word.candidate ? { candidate: word.candidate } : {}),
      }
    case "not_applied":
      return {
        kind: "not_applied",
        reason: reasonOf(word),
        ...(word.retry_after_ms === undefined ? {} : { retry_after_ms: word.retry_after_ms }),
      }
    case "rejected":
      return { kind: "rejected", reason: reasonOf(word) }
    case "proves_nothing":
      return { kind: "unknown", reason: reasonOf(word) }
    case "unknown":
      return timed_out ? { kind: "timed_out" } : { kind: "threw" }
  }
}

/** The tool's own words, as far as they are words: an outcome must be recorded whatever was written into it. */
function reasonOf({ code, message }: { readonly code: unknown; readonly message: unknown }): Reason {
  const named = typeof code === "string" && code !== "" ? code : "unnamed"
  return {
    code: named.slice(0, CODE_MAX).toWellFormed(),
    text: (typeof message === "string" ? message : named).slice(0, TEXT_MAX).toWellFormed(),
  }
}

function stored(value: unknown) {
  return jsonOutput(value)
}
