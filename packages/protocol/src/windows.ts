/**
 * The times that decide: openness of an attempt, settle windows, key protection, `send_before` (protocol §0, §3, §5, §6).
 *
 * Owns: every comparison of a deciding time. All times are database times.
 *
 * WI1. Silence proves nothing: an attempt is open until its promise settled, or its time is past *and* its process is gone.
 * WI2. `send_before` is never extended.
 * WI3. A generation whose first dispatch time is not known is lapsed.
 */
import { DEFAULTS } from "./defaults.ts"
import type { Attempt, Operation } from "./operation.ts"

export function isOpen(attempt: Attempt, now: number): boolean {
  if (attempt.status === "disproved" || attempt.settled_at !== null) return false
  return !(attempt.gone_at !== null && now > attempt.send_before + attempt.timeout_ms)
}

/** When the attempt's time is over: nothing of it may start or still be awaited by its worker. */
export function attemptOverAt(attempt: Attempt): number {
  return attempt.last_possible_send + attempt.timeout_ms
}

/**
 * When no byte of the attempt can leave any more, or null while that is not proved.
 * On Invoke's own transport the gate proves it; an opaque attempt must have ended or its process be gone.
 */
export function lastSendOf(attempt: Attempt): number | null {
  const settled = attempt.settled_at
  if (attempt.transport === "invoke") {
    return settled === null ? attempt.last_possible_send : Math.min(settled, attempt.last_possible_send)
  }
  if (settled !== null) return settled
  if (attempt.gone_at !== null) return Math.max(attempt.gone_at, attempt.send_before + attempt.timeout_ms)
  return null
}

function lookupWindow(operation: Operation): number {
  const lookup = operation.contract.lookup
  const execution = lookup?.max_execution_ms ?? DEFAULTS.max_execution_ms
  const visibility = lookup?.consistency === "strong" ? 0 : (lookup?.visibility_ms ?? DEFAULTS.visibility_ms)
  return execution + visibility
}

/** The moment after which a look begun may count as a negative about the attempt; null while it is open. */
export function settledFrom(operation: Operation, attempt: Attempt): number | null {
  const last = lastSendOf(attempt)
  return last === null ? null : last + lookupWindow(operation)
}

/** The same for a journal that went back in time: as if an attempt could have been sent until `restored.until`. */
export function restoredSettledFrom(operation: Operation): number | null {
  return operation.restored === null ? null : operation.restored.until + lookupWindow(operation)
}

export function keyMargin(operation: Operation): number {
  const { key, timeout_ms: timeout, lookup } = operation.contract
  const execution = lookup?.max_execution_ms ?? DEFAULTS.max_execution_ms
  return Math.max(
    timeout + execution + DEFAULTS.skew_ms,
    DEFAULTS.key_margin_min_ms,
    Math.ceil((key?.retention_ms ?? 0) / 10),
  )
}

/** Until when the provider key of the operation's present generation protects; null = it does not (RP-4, WI3). */
export function protectedUntil(operation: Operation): number | null {
  const key = operation.contract.key
  if (!key?.proved || key.retention_ms === undefined || operation.restored !== null) return null
  const started = operation.generation_started_at[operation.generation]
  if (started === undefined || started === null) return null
  return started + key.retention_ms - keyMargin(operation)
}

/** The last moment at which the next attempt's effect request may start (protocol §5.1). */
export function sendBefore(
  operation: Operation,
  bounds: { readonly lease_until: number; readonly approval_until?: number },
): number {
  const leans = operation.attempts.some((attempt) => attempt.status !== "disproved")
  const protection = leans ? (protectedUntil(operation) ?? Number.NEGATIVE_INFINITY) : Number.POSITIVE_INFINITY
  return Math.min(
    bounds.lease_until - DEFAULTS.lease_margin_ms,
    bounds.approval_until ?? Number.POSITIVE_INFINITY,
    operation.deadline_at,
    protection,
  )
}

/**
 * Whether a further attempt under the same key may leave now although an earlier one is not disproved (S1, RP-9).
 * The words say why not.
 */
export function sameKeyRefusal(operation: Operation, now: number): string | null {
  const key = operation.contract.key
  if (!key) return "the tool declares no provider key"
  if (!key.proved) return "the provider key has not passed a conformance probe"
  const until = protectedUntil(operation)
  if (until === null) return "the provider key is lapsed or its first use is not known"
  if (now >= until) return "the provider key no longer protects"
  const undisproved = operation.attempts.filter((attempt) => attempt.status !== "disproved")
  if (undisproved.some((attempt) => attempt.generation !== operation.generation)) {
    return "an earlier attempt of another key generation is not disproved"
  }
  if (key.on_mismatch !== "refuses" && undisproved.some((attempt) => attempt.request_digest === undefined)) {
    return "the bytes of an earlier attempt are not known and the provider does not compare them"
  }
  if (key.in_flight === "races") {
    for (const attempt of undisproved) {
      const from = settledFrom(operation, attempt)
      if (from === null || now < from) return "an earlier attempt may still be running at the provider"
    }
  }
  return null
}
