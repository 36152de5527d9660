/**
 * The kinds of tool that a simulation has, one for each way in which a provider can be asked, send again, be looked at.
 *
 * Owns: the list. A run uses a few of them; each has a provider of its own, whose shape is drawn for the run.
 */
export interface KindTraits {
  /** Sends through the engine's transport, or by a client of its own. */
  readonly transport: "invoke" | "opaque"
  /** What makes an object ours; null: nobody can look. */
  readonly correlates: "operation" | "created" | "state" | null
  /** The provider takes a key. */
  readonly keyed?: true
  /** Objects carry no creation time, so that somebody looks before the first attempt. */
  readonly timeless?: true
  /** Nobody else sets the resource. */
  readonly exclusive?: true
  /** Objects are found by an index that lags, then read by id. */
  readonly searched?: true
  /** The provider answers 202, and finishes or reverses later. */
  readonly accepts?: true
  /** Objects are named by the provider key, and a name can be taken by a tombstone. */
  readonly named?: true
  /** Its author takes a 500 for a value, and sometimes sends twice. */
  readonly sloppy?: true
  /** What names the action: declared fields, a caller's key beside an intent, or a caller's key alone. */
  readonly named_by?: "intent" | "key"
}

const TOOL_KINDS = {
  opaque_checkable: { transport: "opaque", correlates: "operation" },
  opaque_irreversible: { transport: "opaque", correlates: null },
  opaque_keyed: { transport: "opaque", correlates: "operation", keyed: true },
  wire_checkable: { transport: "invoke", correlates: "operation" },
  wire_irreversible: { transport: "invoke", correlates: null },
  wire_keyed: { transport: "invoke", correlates: "operation", keyed: true },
  wire_keyed_blind: { transport: "invoke", correlates: null, keyed: true },
  wire_created: { transport: "invoke", correlates: "created" },
  wire_timeless: { transport: "invoke", correlates: "created", timeless: true },
  wire_state: { transport: "invoke", correlates: "state" },
  wire_exclusive: { transport: "invoke", correlates: "state", exclusive: true },
  wire_searched: { transport: "invoke", correlates: "operation", searched: true },
  wire_accepted: { transport: "invoke", correlates: "operation", accepts: true },
  wire_named: { transport: "invoke", correlates: "operation", named: true },
  wire_sloppy: { transport: "invoke", correlates: "operation", sloppy: true },
  by_intent: { transport: "invoke", correlates: "operation", named_by: "intent" },
  by_key: { transport: "opaque", correlates: "operation", named_by: "key" },
} as const satisfies { readonly [name: string]: KindTraits }

export type ToolKind = keyof typeof TOOL_KINDS
export const KIND_NAMES = Object.keys(TOOL_KINDS) as readonly ToolKind[]

export function traitsOf(kind: ToolKind): KindTraits {
  return TOOL_KINDS[kind]
}
