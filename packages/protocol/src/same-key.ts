/**
 * Whether a further attempt under the same provider key may leave although an earlier one is not disproved (S1, RP-9, item 2).
 *
 * Owns: the conditions of a same-key attempt, and the moment from which they can hold.
 * Must not: take a replay of a key for a way to find out. It is a dispatch, used only where executing now would be right (R12).
 *
 * SK0. No attempt is acknowledged or accepted, and none is barred.
 * SK1. The key protects: proved, remembered by the provider for known long enough, and never executed a second time.
 * SK2. Every undisproved attempt is of this generation, its bytes known or compared by the provider (R19).
 * SK3. No earlier attempt of an opaque tool is open: nothing could keep it from sending after the protection ended (R6). Nor is
 *      there a gate for the attempt to come, so that the key must protect for `openFor` longer than the attempt itself needs.
 * SK4. Where the provider races two requests of one key, the earlier one's settle window comes first (R19).
 */
import { DEFAULTS } from "./defaults.ts"
import { spentReason } from "./transition/budget.ts"
import { attemptOverAt, isOpen, protectedUntil, settledFrom } from "./windows.ts"
import type { Attempt, Operation, Reason } from "./operation.ts"

/** Why a same-key attempt is not due now, or null. `transport` is that of the attempt to come. */
export function mayUseSameKey(
  operation: Operation,
  now: number,
  clock_stepped_at: number | null = null,
  transport: Attempt["transport"] = lastTransport(operation),
): Reason | null {
  const barrier = barrierOf(operation)
  if (barrier) return barrier
  const until = protectionEnd(operation, transport)
  if (until === null || now >= until) return { code: "key_unprotected", text: "the provider key no longer protects" }
  const wait = waitOf(operation, now, clock_stepped_at)
  if (wait && wait.until > now) return wait.reason
  return spentReason(operation, now)
}

/** The earliest moment, from `now` on, at which one could be due as things stand; null: none will be. */
export function sameKeyFrom(operation: Operation, now: number, clock_stepped_at: number | null = null): number | null {
  if (barrierOf(operation)) return null
  const at = Math.max(now, waitOf(operation, now, clock_stepped_at)?.until ?? now)
  const until = protectionEnd(operation, lastTransport(operation))
  if (until === null || at >= until || spentReason(operation, at)) return null
  return at
}

function lastTransport(operation: Operation): Attempt["transport"] {
  return operation.attempts.at(-1)?.transport ?? "opaque"
}

function protectionEnd(operation: Operation, transport: Attempt["transport"]): number | null {
  const until = protectedUntil(operation)
  return until === null || transport === "invoke" ? until : until - DEFAULTS.open_for_ms
}

/** What does not pass with time. */
function barrierOf(operation: Operation): Reason | null {
  const pending = operation.attempts.filter((attempt) => attempt.status !== "disproved")
  if (pending.length === 0) return { code: "no_attempt", text: "there is no attempt to repeat" }
  if (operation.barred) return { code: "barred", text: "a positive about another attempt was heard" }
  if (pending.some((attempt) => attempt.status === "acknowledged" || attempt.status === "accepted")) {
    return { code: "acknowledged", text: "an attempt is acknowledged or accepted" }
  }
  const unprotected = keyBarrier(operation)
  return unprotected === null ? null : { code: "key_unprotected", text: unprotected }
}

function keyBarrier(operation: Operation): string | null {
  const { key } = operation.contract
  const pending = operation.attempts.filter((attempt) => attempt.status !== "disproved")
  if (!key) return "the tool declares no provider key"
  if (!key.proved) return "the provider key has not passed a conformance probe"
  if (key.replay === "executes") return "the provider executes a known key again"
  if (protectedUntil(operation) === null) return "the provider key is lapsed or its first use is not known"
  if (pending.some((attempt) => attempt.generation !== operation.generation)) {
    return "an earlier attempt of another key generation is not disproved"
  }
  if (key.on_mismatch !== "refuses" && pending.some((attempt) => attempt.request_digest === undefined)) {
    return "the bytes of an earlier attempt are not known and the provider does not compare them"
  }
  const changed = operation.attempts.some(
    (attempt) => attempt.generation === operation.generation && CHANGED.includes(attempt.reason?.code ?? ""),
  )
  return changed ? "a later request of this key was another one, and was refused here" : null
}

/** The transport's words for a request that differs from the first one of its generation (RP-9). */
const CHANGED: readonly string[] = ["key_body_changed", "key_scope_changed"]

/** What does pass: an end, or a window. An open attempt's end is not known; its own limit is when a person is asked. */
function waitOf(
  operation: Operation,
  now: number,
  clock_stepped_at: number | null,
): { readonly until: number; readonly reason: Reason } | null {
  const pending = operation.attempts.filter((attempt) => attempt.status !== "disproved")
  const open = pending.find((attempt) => attempt.transport === "opaque" && isOpen(attempt, now))
  if (open) {
    // Where the process is proved gone, the end is known (`isOpen()`).
    const end = open.gone_at === null ? attemptOverAt(open) + DEFAULTS.open_for_ms : open.send_before + open.timeout_ms
    const until = Math.max(now, end) + 1
    return { until, reason: { code: "attempt_open", text: "an attempt is still running" } }
  }
  if (operation.contract.key?.in_flight !== "races") return null
  const until = Math.max(
    ...pending.map((attempt) => settledFrom(operation, attempt, clock_stepped_at) ?? Number.POSITIVE_INFINITY),
  )
  return { until, reason: { code: "key_races", text: "an earlier attempt may still be running at the provider" } }
}
