/**
 * The verbs: what people and callers may do to an operation or to the journal (protocol §4, review 2 item 25).
 *
 * Owns: the one table. SDK, HTTP, CLI and console offer these verbs and no others, each to those who hold its right.
 * Must not: decide legality. `transition()` does; `from` says where it may say yes.
 *
 * VB1. The verbs of a state are the same here and in the state table; a test holds the two together.
 * VB2. An agent holds none of `decide`, `resolve`, `attest`, `admin`, by any door (HU-4).
 */
import type { State } from "./state.ts"

/**
 * `call` every calling profile · `retry`, `supersede`, `repeat` their own, never an agent's by default · `decide` on approvals ·
 * `resolve` settles · `attest` gives a person's word · `operate` the safe rest of an operator's work · `admin` the journal.
 */
export const RIGHTS = [
  "call",
  "retry",
  "supersede",
  "repeat",
  "decide",
  "resolve",
  "attest",
  "operate",
  "admin",
] as const
export type Right = (typeof RIGHTS)[number]

interface VerbRow {
  /** null: it is not about an operation's state. */
  readonly from: readonly State[] | null
  /** Where the operation can come to; empty where it stays. */
  readonly to: readonly State[]
  readonly right: Right
  /** What it makes anew, if anything. */
  readonly creates?: "operation" | "attempt"
  readonly does: string
}

export const VERBS = {
  allow: {
    from: ["held"],
    to: ["ready", "awaiting_approval", "refused"],
    right: "repeat",
    does: "lets a possible duplicate go on, as a deliberate repeat of its holder",
  },
  approve: {
    from: ["awaiting_approval"],
    to: ["ready"],
    right: "decide",
    does: "permits one effect of one operation, until it expires",
  },
  deny: {
    from: ["awaiting_approval"],
    to: ["denied", "not_applied"],
    right: "decide",
    does: "refuses it for good, for these parameters",
  },
  cancel: {
    from: ["held", "awaiting_approval", "ready"],
    to: ["cancelled", "not_applied"],
    right: "operate",
    does: "stops an operation of which nothing was sent, or whose attempts are all disproved",
  },
  resolve: {
    from: ["accepted", "unknown", "needs_review"],
    to: ["succeeded", "not_applied", "undone", "ready", "closed_unknown"],
    right: "resolve",
    does: "settles it by a person's word, with evidence and a reason",
  },
  retry: {
    from: ["not_applied"],
    to: ["ready"],
    right: "retry",
    creates: "attempt",
    does: "makes one more attempt of the same action, named after the last one",
  },
  supersede: {
    from: ["refused", "denied", "expired", "cancelled", "replan", "not_applied", "failed", "undone", "succeeded"],
    to: [],
    right: "supersede",
    creates: "operation",
    does: "opens the next revision of its key with changed parameters; of a succeeded one only after its compensation",
  },
  repeat: {
    from: ["accepted", "unknown", "needs_review", "succeeded", "closed_unknown"],
    to: [],
    right: "repeat",
    creates: "operation",
    does: "does the same action once more on purpose, in its intent slot",
  },
  reconcile: {
    from: ["accepted", "unknown", "needs_review"],
    to: [],
    right: "operate",
    does: "makes the next look due now",
  },
  amend: {
    from: [
      "succeeded",
      "failed",
      "not_applied",
      "undone",
      "closed_unknown",
      "refused",
      "denied",
      "expired",
      "cancelled",
      "replan",
    ],
    to: ["succeeded", "undone", "not_applied", "closed_unknown"],
    right: "resolve",
    does: "adds the fact that ends a contradiction; nothing is edited",
  },
  compensate: {
    from: ["succeeded", "needs_review"],
    to: [],
    right: "operate",
    creates: "operation",
    does: "undoes one confirmed object, as an operation of its own",
  },
  purge: {
    from: [
      "succeeded",
      "failed",
      "not_applied",
      "undone",
      "closed_unknown",
      "refused",
      "denied",
      "expired",
      "cancelled",
      "replan",
    ],
    to: [],
    right: "admin",
    does: "removes payloads and leaves a tombstone",
  },
  liftQuarantine: { from: null, to: [], right: "admin", does: "lets the journal dispatch again, by a statement" },
  workersGone: { from: null, to: [], right: "attest", does: "says that a worker's process is gone" },
} as const satisfies { readonly [verb: string]: VerbRow }

export type Verb = keyof typeof VERBS
export const VERB_NAMES = Object.keys(VERBS) as readonly Verb[]

/** The verbs that may apply to an operation in this state. */
export function verbsFrom(state: State): readonly Verb[] {
  return VERB_NAMES.filter((verb) => (VERBS[verb] as VerbRow).from?.includes(state) === true)
}

/**
 * The right a supersede needs: every caller may replace what was never sent, except a denial; what was dispatched needs the
 * right of its own (review 2 item 29).
 */
export function supersedeRight(state: State, attempts: number): Right {
  return attempts === 0 && state !== "denied" ? "call" : "supersede"
}
