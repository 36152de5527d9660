/**
 * One case as data: what goes wrong, and where. A run makes it happen once, to the first effect request of the call.
 *
 * CP1. A case that could not make its fault happen proves nothing, and is reported as not tried.
 */
import type { Fault } from "../fault-proxy/fault.ts"
import type { DoorFault } from "./provider-door.ts"

export type LookFault =
  /** The first looks' requests are answered 500. */
  | { readonly kind: "fails"; readonly times: number }
  /** The first look's request is never answered. */
  | { readonly kind: "silent" }
  /** The first look gets an answer that is broken. */
  | { readonly kind: "broken"; readonly fault: Fault }
  /** Lookups show the world as it was before the effect, until so long after it. */
  | { readonly kind: "behind"; readonly ms: number }

export type Plant =
  /** Somebody else's object, equal in everything but whose it is, made a minute before the call. */
  | "equal_before"
  /** The same, made after the call. */
  | "equal_after"
  /** Somebody else's object with other parameters. */
  | "other_before"
  /** More objects of others than one page of a list holds, made after the call. */
  | "crowd"

export interface CasePlan {
  readonly id: string
  /** What happens, in words. */
  readonly says: string
  readonly wire?: Fault | readonly Fault[]
  readonly door?: DoorFault
  /** Nothing listens at the provider's address for so long from the call on. */
  readonly unreachable_ms?: number
  /** From the end of attempt 1 on nothing listens for so long: neither for attempts nor for looks. */
  readonly outage_ms?: number
  /** The process dies after its dispatch record and before its tool is called. */
  readonly dies?: "before_send"
  readonly look?: LookFault
  readonly plant?: Plant
  /** Two callers make the call at the same moment. */
  readonly at_once?: boolean
  /** Parameters of the repeat; default: those of the call. */
  readonly reworded?: string
  /** The network itself makes more than one request of one: only a provider key can help. */
  readonly repeats_requests?: boolean
  /** The answer that the client gets says less than the truth: who believes it is told so, and no more. */
  readonly answers?: { readonly status: number; readonly after_effect: boolean }
  /** Why it is not tried, where that is known before. */
  readonly not_tried?: string
}
