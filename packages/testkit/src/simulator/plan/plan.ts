/**
 * What will happen in a run, as data: shapes, calls, strikes, and how likely each fault is.
 *
 * PN1. A plan and its seed are the whole run. What is taken out of a plan changes nothing of what others draw (SR1), so a failing
 *      plan can be made smaller.
 */
import type { LinkFaults } from "../journal/sim-link.ts"
import type { ToolFaults, ToolVersion } from "../tools/tool-world.ts"
import type { ToolKind } from "../tools/tool-kinds.ts"
import type { NetworkFaults } from "../world/sim-network.ts"
import type { ProviderShape } from "../world/provider-shape.ts"
import type { LookFaults } from "../world/sim-provider.ts"

export type Faults = LinkFaults & NetworkFaults & LookFaults & ToolFaults

export const NO_FAULTS: Faults = {
  unavailable: 0,
  unreadable: 0,
  doubt: 0,
  slow: 0,
  lost_request: 0,
  late_landing: 0,
  lost_answer: 0,
  refused_before_key: 0,
  rejected: 0,
  error_after_effect: 0,
  error_without_effect: 0,
  repeated: 0,
  reversed: 0,
  slow_work: 0,
  refused_connection: 0,
  slow_connection: 0,
  silent: 0,
  unreadable_body: 0,
  look_unanswered: 0,
  look_incomplete: 0,
  look_slow: 0,
  tool_stall: 0,
  tool_hours: 0,
  second_effect: 0,
}

/** What a caller does once it was told. */
export interface Reaction {
  readonly verb: "again" | "retry" | "supersede" | "repeat" | "reconcile" | "cancel"
  /** How many callers do it at once. */
  readonly times: number
  readonly after_ms: number
}

export interface PlannedCall {
  /** Names its randomness (SR1). */
  readonly id: number
  readonly at: number
  readonly tool: ToolKind
  readonly action: string
  readonly label: string
  readonly value: string
  readonly note: string
  readonly key: string | null
  readonly wait_ms: number
  readonly then: Reaction | null
}

export const STRIKES = [
  "kill",
  "freeze",
  "suspend",
  "drain",
  "deploy",
  "deploy_wrong",
  "wall_back",
  "wall_forward",
  "database_forward",
  "database_back",
  "outage",
  "restore",
  "failover",
  "write_of_another",
] as const
export type StrikeKind = (typeof STRIKES)[number]

export interface Strike {
  readonly id: number
  readonly kind: StrikeKind
  readonly at: number
  readonly for_ms: number
}

export interface PlannedOperator {
  /** How often the person looks. */
  readonly every_ms: number
  readonly from_ms: number
}

export interface Plan {
  readonly seed: number
  readonly processes: number
  /** Whether they are on one machine, whose wall clock is also the journal's. */
  readonly one_machine: boolean
  /** How far off a process's idea of the database's clock may be. */
  readonly clock_error_ms: number
  /** Whether a dead process leaves a proof, or a person has to say so. */
  readonly proves: boolean
  readonly poll_ms: number
  readonly troubled_ms: number
  readonly shapes: { readonly [kind in ToolKind]?: ProviderShape }
  readonly versions: readonly ToolVersion[]
  readonly calls: readonly PlannedCall[]
  readonly strikes: readonly Strike[]
  /** Objects and states that were there before. */
  readonly strangers: readonly {
    readonly tool: ToolKind
    readonly label: string
    readonly value: string
    readonly age_ms: number
  }[]
  readonly operator: PlannedOperator | null
  readonly weather: Faults
}

export function kindsOf(plan: Plan): readonly ToolKind[] {
  return Object.keys(plan.shapes) as ToolKind[]
}
