/**
 * What a run is about. Half of the runs are about nothing in particular; the others bring together what rarely meets by chance.
 *
 * Owns: the list. A theme makes things likely; it excludes nothing but other kinds of tool.
 */
import { KIND_NAMES, traitsOf, type KindTraits, type ToolKind } from "../tools/tool-kinds.ts"
import type { Faults, StrikeKind } from "./plan.ts"

export interface Theme {
  readonly kinds: (traits: KindTraits, kind: ToolKind) => boolean
  /** Of the kinds those that come oftener than the others. */
  readonly often?: readonly ToolKind[]
  readonly faults: readonly (keyof Faults)[]
  readonly strikes: readonly StrikeKind[]
  /** Somebody looks after it. */
  readonly attended?: true
  /** The next release sends other bytes. */
  readonly other_bytes?: true
  /** Everything happens within a minute. */
  readonly short?: true
}

const any = () => true
const wire = ({ transport }: KindTraits) => transport === "invoke"

export const THEMES = {
  keys: {
    kinds: ({ keyed }) => keyed === true,
    faults: ["lost_answer", "late_landing", "slow_work", "error_after_effect", "error_without_effect", "rejected"],
    strikes: ["deploy", "kill", "outage"],
    other_bytes: true,
  },
  slow_keys: {
    kinds: ({ keyed, transport }) => keyed === true && transport === "invoke",
    faults: ["slow_work", "silent", "lost_answer"],
    strikes: ["freeze", "kill"],
    short: true,
  },
  fences: {
    kinds: ({ named }) => named === true,
    faults: ["late_landing", "lost_answer", "lost_request", "look_unanswered", "silent"],
    strikes: ["kill", "freeze", "outage"],
  },
  restores: {
    kinds: any,
    often: ["by_intent", "wire_timeless"],
    faults: ["lost_answer", "late_landing", "silent", "slow"],
    strikes: ["restore", "failover"],
    attended: true,
  },
  zombies: {
    kinds: wire,
    faults: ["slow_connection", "slow", "doubt", "late_landing"],
    strikes: ["freeze", "suspend", "freeze", "suspend", "kill"],
  },
  clocks: {
    kinds: wire,
    faults: ["slow_connection", "late_landing", "lost_answer"],
    strikes: ["database_forward", "wall_forward", "wall_back", "suspend", "database_back"],
  },
  created: {
    kinds: ({ correlates }) => correlates === "created",
    faults: ["late_landing", "lost_answer", "unreadable_body", "silent", "look_incomplete"],
    strikes: ["kill", "outage"],
  },
  states: {
    kinds: ({ correlates }) => correlates === "state",
    faults: ["late_landing", "lost_answer", "lost_request", "silent", "look_unanswered"],
    strikes: ["write_of_another", "write_of_another", "kill", "outage"],
  },
  acceptances: {
    kinds: ({ accepts }) => accepts === true,
    faults: ["reversed", "lost_answer", "silent"],
    strikes: ["kill", "outage"],
  },
  own_clients: {
    kinds: ({ transport }) => transport === "opaque",
    faults: ["tool_stall", "tool_hours", "silent", "lost_answer", "late_landing", "rejected"],
    strikes: ["kill", "freeze", "drain"],
  },
  late_refusals: {
    kinds: ({ transport, correlates }) => transport === "opaque" && correlates !== null,
    faults: ["tool_hours", "rejected"],
    strikes: [],
  },
  sloppy: {
    kinds: ({ sloppy }) => sloppy === true,
    faults: ["second_effect", "error_after_effect", "error_without_effect", "repeated"],
    strikes: ["kill"],
  },
  near_duplicates: {
    kinds: ({ named_by }) => named_by === "intent",
    faults: ["doubt", "slow", "lost_answer", "silent"],
    strikes: ["kill", "drain", "restore", "failover"],
    attended: true,
    short: true,
  },
  journals: {
    kinds: any,
    faults: ["doubt", "unavailable", "unreadable", "slow"],
    strikes: ["kill", "drain"],
  },
  releases: {
    kinds: any,
    faults: ["lost_answer", "slow"],
    strikes: ["deploy", "deploy_wrong", "drain", "deploy"],
    other_bytes: true,
  },
  refusals: {
    kinds: wire,
    faults: ["refused_before_key", "rejected", "repeated", "lost_answer", "refused_connection"],
    strikes: ["outage", "kill"],
  },
} as const satisfies { readonly [name: string]: Theme }

export type ThemeName = keyof typeof THEMES
export const THEME_NAMES = Object.keys(THEMES) as readonly ThemeName[]

export const NO_THEME: Theme = { kinds: any, faults: [], strikes: [] }

export function themeKinds(theme: Theme): readonly ToolKind[] {
  const { often = [] } = theme
  const kinds = KIND_NAMES.filter((kind) => theme.kinds(traitsOf(kind), kind))
  return often.length === 0 ? kinds : [...kinds, ...often, ...often, ...often]
}
