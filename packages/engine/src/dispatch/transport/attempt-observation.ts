import type { EffectDigest } from "./effect-digest.ts"
import type { TransportErrorCode } from "./transport-error.ts"

/**
 * What the transport saw of one attempt, and the one question that may be answered from it.
 *
 * Owns: the stages and `neverLeft`. Must not: look at error codes to decide.
 *
 * AO1. Stage is evidence only when positive: an effect request that was asked for, has ended, and whose head no socket
 *      was given.
 * AO2. A request that has not ended proves nothing: it may leave in the next tick.
 * AO3. A second effect request makes the attempt unknown, whatever became of the first.
 * AO4. An observation is evidence only in the process that owned the attempt, while it lives. After a crash every
 *      stored stage means unknown.
 */
export const STAGES = [
  "none",
  "requested",
  "connecting",
  "head_written",
  "body_written",
  "head_received",
  "body_received",
] as const

/**
 * How far the effect request came. `connecting` covers waiting for a pooled connection and the handshake.
 * `head_written` means that its head was handed to a socket; from there on everything is ambiguous until an answer
 * arrived.
 */
export type Stage = (typeof STAGES)[number]

export interface AttemptObservation {
  readonly stage: Stage
  readonly effect_requested: boolean
  /** A second effect request was asked for (and refused). */
  readonly second_effect: boolean
  /**
   * Nothing of the effect request can leave any more: it was answered, failed, was refused, or the attempt was closed.
   */
  readonly ended: boolean
  /** Heads of the effect request that were handed to a socket: 0 or 1. */
  readonly effect_wire_requests: number
  /** The same for every request of the attempt. */
  readonly wire_requests: number
  /** Of the effect request's final answer, known before its body is read. */
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>>
  readonly provider_request_id: string | null
  readonly digest: EffectDigest | null
  /** Why the effect request was refused or failed. For people; it decides nothing. */
  readonly error: { readonly code: TransportErrorCode; readonly cause_code: string | null } | null
}

/** The one rule that classification decides by (AO1-AO3); here so that the self-test and the tests ask the same. */
export { neverLeft } from "@invokejs/protocol"
