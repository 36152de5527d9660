/**
 * The states of an operation, as data. Docs, console, SQL checks and the model checker are drawn from this table.
 *
 * Owns: the list of states, which are terminal, which timers, verbs and evidence each one hears (protocol §4).
 * Must not: decide anything. `transition()` decides; this table says what it may decide.
 *
 * ST1. Every state that is not terminal has a timer, and a verb; a dispatched one has its worker, who can be called gone (L1).
 * ST2. Nobody else compares state strings: use the predicates below.
 */
export const STATES = {
  held: { terminal: false, sent: false, timers: ["slot_changed", "hold_over", "deadline"], verbs: ["allow", "cancel"] },
  awaiting_approval: {
    terminal: false,
    sent: "maybe",
    timers: ["approval_over"],
    verbs: ["approve", "deny", "cancel"],
  },
  ready: { terminal: false, sent: "maybe", timers: ["due", "deadline"], verbs: ["cancel"] },
  dispatched: { terminal: false, sent: true, timers: ["lapsed"], verbs: [] },
  accepted: { terminal: false, sent: true, timers: ["settle_by"], verbs: ["resolve"] },
  unknown: { terminal: false, sent: true, timers: ["check", "same_key_attempt", "open_too_long"], verbs: ["resolve"] },
  needs_review: { terminal: false, sent: true, timers: ["check", "age_alarm"], verbs: ["resolve", "compensate"] },
  succeeded: { terminal: true, sent: true, timers: [], verbs: ["compensate", "supersede", "amend"] },
  failed: { terminal: true, sent: true, timers: [], verbs: ["supersede", "amend"] },
  not_applied: { terminal: true, sent: true, timers: [], verbs: ["retry", "supersede", "amend"] },
  undone: { terminal: true, sent: true, timers: [], verbs: ["supersede", "amend"] },
  closed_unknown: { terminal: true, sent: true, timers: [], verbs: ["amend"] },
  refused: { terminal: true, sent: false, timers: [], verbs: ["supersede", "amend"] },
  denied: { terminal: true, sent: false, timers: [], verbs: ["supersede", "amend"] },
  expired: { terminal: true, sent: false, timers: [], verbs: ["supersede", "amend"] },
  cancelled: { terminal: true, sent: false, timers: [], verbs: ["supersede", "amend"] },
  replan: { terminal: true, sent: "maybe", timers: [], verbs: ["supersede", "amend"] },
} as const satisfies Record<string, StateRow>

interface StateRow {
  readonly terminal: boolean
  /** Whether an attempt exists in this state: always, never, or depending on how it was reached. */
  readonly sent: boolean | "maybe"
  readonly timers: readonly string[]
  readonly verbs: readonly string[]
}

export type State = keyof typeof STATES
export type TerminalState = {
  [S in State]: (typeof STATES)[S]["terminal"] extends true ? S : never
}[State]
export type OpenState = Exclude<State, TerminalState>

export const STATE_NAMES = Object.keys(STATES) as readonly State[]

export function isTerminal(state: State): state is TerminalState {
  return STATES[state].terminal
}

/** States in which an effect may exist that nobody has proved or disproved. */
export function isUnresolved(state: State): boolean {
  return !isTerminal(state)
}

/** The four safety classes (protocol §3). `approval-bound` is any of these with approval required. */
export const SAFETY_CLASSES = ["read-only", "idempotent", "write-once-checkable", "irreversible"] as const
export type SafetyClass = (typeof SAFETY_CLASSES)[number]

export function assertNever(value: never, where: string): never {
  throw new Error(`unreachable in ${where}: ${JSON.stringify(value)}`)
}
