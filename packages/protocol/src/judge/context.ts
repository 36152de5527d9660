/** What judging needs to know beside the operation itself, and how outside objects are told apart. */
import type { Contract } from "../contract.ts"
import type { Candidate } from "../evidence.ts"

export interface JudgeContext {
  readonly now: number
  /** Keys (`objectKey`) of objects that other operations of the tenant are confirmed by. */
  readonly taken: readonly string[]
  /** Other operations with an equal `match` that may own an object: unresolved, or succeeded or closed without one (item 7). */
  readonly rivals: number
  /** When the clock last jumped forward past `maxClockStep`: windows open then start again. */
  readonly clock_stepped_at: number | null
  /** The contract loaded now: the stricter of it and the frozen one judges (R28d). */
  readonly contract?: Contract
  /** Provider keys of generations without an attempt on record, which a restored journal may have forgotten (R24). */
  readonly own_keys?: readonly string[]
}

/** Identity of an outside object within a tenant: one confirms one operation. */
export function objectKey(object: Pick<Candidate, "object_id" | "account" | "kind">): string {
  return JSON.stringify([object.account ?? "", object.kind ?? "", object.object_id])
}
