/**
 * The times that decide: openness of an attempt, settle windows, key protection, `send_before` (protocol §0, §3, §5, §6).
 *
 * Owns: every comparison of a deciding time. All times are database times.
 * Must not: read a clock, or shorten a window because time seems to have passed.
 *
 * WI1. Silence proves nothing: an attempt is open until its promise settled, or its time is past *and* its process is gone.
 * WI2. `send_before` is never extended.
 * WI3. A generation whose first dispatch time is not known is lapsed.
 * WI4. A clock that jumped forward past `maxClockStep` restarts every window that could have been open (R28e).
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
 *
 * On Invoke's own transport the gate proves it. The end of the promise proves it earlier: the engine closes the attempt's
 * transport, which destroys its sockets and refuses what waits, before it records the outcome. So does a process that is gone.
 * An opaque attempt must have ended, or its process be gone. A caller that executes may report an end early; what it was
 * granted is the time until the last possible send, and a report of its own cannot shorten that (R30).
 */
export function lastSendOf(attempt: Attempt): number | null {
  const { settled_at: settled, gone_at: gone } = attempt
  if (attempt.transport === "invoke") {
    return Math.min(attempt.last_possible_send, settled ?? Number.POSITIVE_INFINITY, gone ?? Number.POSITIVE_INFINITY)
  }
  if (settled !== null) return attempt.caller_executed ? Math.max(settled, attempt.last_possible_send) : settled
  if (gone !== null) return Math.max(gone, attempt.send_before + attempt.timeout_ms)
  return null
}

/** Whether a byte of it may still leave, now or later. */
export function mayStillSend(attempt: Attempt, now: number): boolean {
  if (attempt.status === "disproved") return false
  const last = lastSendOf(attempt)
  return last === null || last > now
}

function lookupWindow(operation: Operation): number {
  const lookup = operation.contract.lookup
  const execution = lookup?.max_execution_ms ?? DEFAULTS.max_execution_ms
  const visibility = lookup?.consistency === "strong" ? 0 : (lookup?.visibility_ms ?? DEFAULTS.visibility_ms)
  return execution + visibility
}

/** The moment after which a look begun may count as a negative about the attempt; null while it is open. */
export function settledFrom(
  operation: Operation,
  attempt: Attempt,
  clock_stepped_at: number | null = null,
): number | null {
  const last = lastSendOf(attempt)
  if (last === null) return null
  return afterStep(last, attempt, clock_stepped_at) + lookupWindow(operation)
}

/** WI4. Where nothing but the gate ends the attempt, its whole send time may still lie ahead of the jump. */
function afterStep(last: number, attempt: Attempt, stepped: number | null): number {
  if (stepped === null || attempt.dispatched_at >= stepped) return last
  const ended = attempt.settled_at !== null || attempt.gone_at !== null
  return Math.max(last, ended ? stepped : stepped + (attempt.last_possible_send - attempt.dispatched_at))
}

/** How long after its dispatch record an attempt on our transport may still send. */
const SEND_TIME_MS = DEFAULTS.lease_ms - DEFAULTS.lease_margin_ms + DEFAULTS.body_ms

/**
 * The same for a journal that went back in time: an attempt that it forgot could have been dispatched until `restored.until`,
 * and have sent for as long after that as any attempt may (R24).
 */
export function restoredSettledFrom(operation: Operation, clock_stepped_at: number | null = null): number | null {
  if (operation.restored === null) return null
  const until = Math.max(operation.restored.until, clock_stepped_at ?? Number.NEGATIVE_INFINITY)
  return until + SEND_TIME_MS + lookupWindow(operation)
}

function keyMargin(operation: Operation): number {
  const { key, timeout_ms: timeout, lookup } = operation.contract
  const execution = lookup?.max_execution_ms ?? DEFAULTS.max_execution_ms
  return Math.max(
    timeout + execution + DEFAULTS.skew_ms,
    DEFAULTS.key_margin_min_ms,
    Math.ceil((key?.retention_ms ?? 0) / 10),
  )
}

/**
 * Until when the provider key of the operation's present generation protects; null = it does not (RP-4, WI3).
 * A provider that executes a known key again gives no protection at any time (R12).
 */
export function protectedUntil(operation: Operation): number | null {
  const key = operation.contract.key
  if (!key?.proved || key.retention_ms === undefined || key.replay === "executes") return null
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
