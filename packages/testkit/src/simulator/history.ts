/**
 * What a run left behind, as somebody outside saw it: requests on the wire, effects in the world, answers to callers.
 *
 * Owns: the words in which the oracle is told. They are the simulation's own: nothing here is what the engine believes, but for
 * `Ending`, which is what its journal says at the end.
 *
 * HI1. All times are true time, which no process of the run can read.
 */

/** What is true of a tool and its provider. */
export interface Nature {
  readonly tool: string
  /** It makes objects, or it sets what one thing is. */
  readonly makes: "object" | "state"
  readonly transport: "invoke" | "opaque"
  /** Whether looks settle it without a person. */
  readonly settles: "itself" | "person"
  /** How long the provider remembers a key, and whether it lets two requests of one key run side by side. */
  readonly remembers: { readonly for_ms: number; readonly races: boolean } | null
  readonly max_execution_ms: number
}

export interface Answer {
  readonly at: number
  readonly called_at: number
  readonly process: string
  readonly verb: string
  readonly tool: string
  readonly action: string
  readonly operation_id: string | null
  readonly ok: boolean
  readonly settled: boolean
  readonly replayed: boolean
  readonly outcome:
    | "pending"
    | "not_executed"
    | "unknown"
    | "drifted"
    | "succeeded"
    | "already_succeeded"
    | "undone"
    | "failed"
    | "error"
  /** The last attempt that the answer speaks about. */
  readonly attempt: number
  /** The object that the answer names. */
  readonly object_id: string | null
  /** Code of the error that came instead; an unforeseen error's own words. */
  readonly error: { readonly code: string; readonly foreseen: boolean } | null
}

/** Attempt n as the journal took it down. */
export interface DispatchRecord {
  readonly operation_id: string
  readonly attempt: number
  readonly committed_at: number
  /** From then on, how long the record lets the attempt begin. */
  readonly budget_ms: number
  readonly in_quarantine: boolean
}

/** The call of a tool's function. */
export interface Started {
  readonly at: number
  readonly operation_id: string
  readonly attempt: number
}

/** An effect request whose head was written. */
export interface SentRequest {
  readonly n: number
  readonly at: number
  readonly process: string
  readonly tool: string
  readonly action: string
  readonly operation_id: string
  readonly attempt: number
  readonly key: string
  readonly body: string
  /** When it came to the provider; null: never. */
  landed_at: number | null
}

/** What a request made true. */
export interface Effect {
  readonly at: number
  readonly tool: string
  readonly action: string
  readonly operation_id: string
  readonly attempt: number
  readonly request: number
  readonly object_id: string
  /** Made by somebody between us and the provider who sent our request once more. */
  readonly repeated: boolean
  /** The provider took it back. */
  reversed_at: number | null
}

/** A write of a thing that has one state. */
export interface ResourceWrite {
  readonly at: number
  readonly tool: string
  readonly resource: string
  readonly value: string
  readonly version: number
  /** null: somebody else's. */
  readonly operation_id: string | null
  readonly attempt: number
}

/** A look at a resource that was answered. */
export interface ResourceLook {
  readonly at: number
  readonly resource: string
  readonly operation_id: string
  readonly version: number
}

/** A person's leave to do the action once more. */
export interface Grant {
  readonly at: number
  readonly action: string
}

/** The journal went back in time: what it knew no more afterwards. */
export interface Restore {
  readonly at: number
  readonly snapshot_at: number
  /** Attempts that it forgot, of operations that it forgot as well or held for settled. */
  readonly forgotten: readonly { readonly operation_id: string; readonly attempt: number }[]
}

export interface Ending {
  readonly operation_id: string
  readonly action: string
  readonly tool: string
  readonly state: string
  readonly terminal: boolean
  readonly contradicted: boolean
  readonly object_id: string | null
  /** An attempt of a living process has not ended: nothing may be concluded about it (protocol §0). */
  readonly attempt_open: boolean
  /** A resource's value that it sets. */
  readonly sets: { readonly resource: string; readonly value: string } | null
}

export interface Line {
  readonly at: number
  readonly text: string
}

export interface RunHistory {
  readonly natures: readonly Nature[]
  readonly answers: readonly Answer[]
  readonly records: readonly DispatchRecord[]
  readonly started: readonly Started[]
  readonly requests: readonly SentRequest[]
  readonly effects: readonly Effect[]
  readonly writes: readonly ResourceWrite[]
  readonly looks: readonly ResourceLook[]
  readonly grants: readonly Grant[]
  readonly restores: readonly Restore[]
  readonly endings: readonly Ending[]
  /** Actions of calls that nobody was left to hear the answer of. */
  readonly unanswered: readonly string[]
  /** Somebody who tells the truth has looked after what needs a person. */
  readonly attended: boolean
  /** Errors that the engine logged and did not foresee. */
  readonly alarms: readonly string[]
}

/** Collects it. */
export class History implements RunHistory {
  readonly natures: Nature[] = []
  readonly answers: Answer[] = []
  readonly records: DispatchRecord[] = []
  readonly started: Started[] = []
  readonly requests: SentRequest[] = []
  readonly effects: Effect[] = []
  readonly writes: ResourceWrite[] = []
  readonly looks: ResourceLook[] = []
  readonly grants: Grant[] = []
  readonly restores: Restore[] = []
  readonly unanswered: string[] = []
  readonly alarms: string[] = []
  readonly lines: Line[] = []
  endings: readonly Ending[] = []
  attended = false

  note(at: number, text: string): void {
    this.lines.push({ at, text })
  }
}
