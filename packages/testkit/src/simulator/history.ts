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
  /** When its journal learned what its request's bytes were; null: its process died before it told. */
  bytes_known_at: number | null
}

/** The row of an operation became durable. */
export interface Admission {
  readonly at: number
  readonly operation_id: string
}

/** An operation settled. */
export interface Settlement {
  readonly at: number
  readonly operation_id: string
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
  /** Somebody between us and the provider sent it once more. */
  repeated: boolean
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

/** An attempt that the journal knows no more. */
export interface Forgotten {
  readonly operation_id: string
  readonly attempt: number
  /** Its operation is known and open: it counts as one of which an attempt may have been sent. */
  readonly accounted: boolean
}

/** The journal went back in time: what it knew no more afterwards. */
export interface Restore {
  readonly at: number
  readonly snapshot_at: number
  readonly forgotten: readonly Forgotten[]
}

/** The database's clock was set. */
export interface ClockStep {
  readonly at: number
  /** Forward, or back where it is negative: then time stands still until it has caught up. */
  readonly by_ms: number
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
  /** Other operations would make objects that look like its own. */
  readonly rivals: boolean
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
  readonly admissions: readonly Admission[]
  readonly settlements: readonly Settlement[]
  readonly records: readonly DispatchRecord[]
  readonly started: readonly Started[]
  readonly requests: readonly SentRequest[]
  readonly effects: readonly Effect[]
  readonly writes: readonly ResourceWrite[]
  readonly looks: readonly ResourceLook[]
  readonly grants: readonly Grant[]
  readonly restores: readonly Restore[]
  readonly clock_steps: readonly ClockStep[]
  /** When processes began. */
  readonly births: readonly number[]
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
  readonly admissions: Admission[] = []
  readonly settlements: Settlement[] = []
  readonly records: DispatchRecord[] = []
  readonly started: Started[] = []
  readonly requests: SentRequest[] = []
  readonly effects: Effect[] = []
  readonly writes: ResourceWrite[] = []
  readonly looks: ResourceLook[] = []
  readonly grants: Grant[] = []
  readonly restores: Restore[] = []
  readonly clock_steps: ClockStep[] = []
  readonly births: number[] = []
  readonly unanswered: string[] = []
  readonly alarms: string[] = []
  readonly lines: Line[] = []
  endings: readonly Ending[] = []
  attended = false

  note(at: number, text: string): void {
    this.lines.push({ at, text })
  }
}
