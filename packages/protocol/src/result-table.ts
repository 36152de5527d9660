/**
 * The result table: everything that `call` can answer about an operation (interfaces, "The result table").
 *
 * Owns: the rows. Docs, OpenAPI, SDK types and the CLI are drawn from this constant; a result that is not a row of it
 * cannot be built.
 *
 * RT1. ok ⇔ do_not_retry ⇔ final_outcome ∈ {succeeded, already_succeeded} ⇔ exit 0.
 * RT2. retry allowed ⇒ decision retry_allowed ⇒ final_outcome not_executed. retry automatic ⇒ decision wait.
 * RT3. final_outcome unknown ⇒ retry ∈ {automatic, blocked}. Exit 4 ⇒ nothing was ever sent.
 * RT4. decision replan ⇒ final_outcome ∈ {not_executed, failed, undone, drifted}.
 * RT5. 202 ⇔ open, where a contradicted operation counts as open until it is amended.
 */
export const RESULT_STATUSES = [
  "held",
  "awaiting_approval",
  "refused",
  "denied",
  "expired",
  "cancelled",
  "replan",
  "in_progress",
  "accepted",
  "unknown",
  "needs_review",
  "succeeded",
  "reconciled",
  "replayed",
  "undone",
  "failed",
  "not_applied",
  "closed_unknown",
] as const
export type ResultStatus = (typeof RESULT_STATUSES)[number]

/** What is true in the world. */
export const FINAL_OUTCOMES = [
  "pending",
  "not_executed",
  "unknown",
  "drifted",
  "succeeded",
  "already_succeeded",
  "undone",
  "failed",
] as const
export type FinalOutcome = (typeof FINAL_OUTCOMES)[number]

/** What to do. */
export const DECISIONS = ["do_not_retry", "retry_allowed", "replan", "wait", "escalate"] as const
export type Decision = (typeof DECISIONS)[number]

/** Who may start the next attempt. `blocked` overrides any plan. */
export const RETRIES = ["blocked", "automatic", "allowed", "after_replan"] as const
export type Retry = (typeof RETRIES)[number]

interface Row {
  /** State and circumstance, as the docs print it. */
  readonly when: string
  readonly status: ResultStatus
  readonly final_outcome: FinalOutcome
  readonly decision: Decision
  readonly retry: Retry
  readonly http: 200 | 202
  readonly exit: 0 | 3 | 4 | 5 | 6
  /** The answer carries `Idempotent-Replayed: true`. */
  readonly replayed: boolean
  /** The right that `retry` needs from the caller; null where it needs none or grants nothing. */
  readonly needs: "retry" | "supersede" | null
  /** Whether a successor can have taken its place. */
  readonly supersedable: boolean
}

const OPEN = { http: 202, exit: 3, replayed: false, needs: null, supersedable: false } as const
const UNSENT = { http: 200, exit: 4, replayed: false, needs: null, supersedable: true } as const
const NOT_IN_PLACE = { http: 200, exit: 5, replayed: false, supersedable: true } as const
const IN_PLACE = { http: 200, exit: 0, needs: null, supersedable: false } as const
const REPLAN = { decision: "replan", retry: "after_replan" } as const
const DONE = { decision: "do_not_retry", retry: "blocked" } as const

export const RESULT_TABLE = {
  held: {
    when: "held: possible duplicate of an unsettled operation, or its effect exists already",
    ...OPEN,
    status: "held",
    final_outcome: "pending",
    decision: "wait",
    retry: "blocked",
  },
  awaiting_approval: {
    when: "awaiting_approval",
    ...OPEN,
    status: "awaiting_approval",
    final_outcome: "pending",
    decision: "wait",
    retry: "blocked",
  },
  refused: {
    when: "refused by policy, workflow or limit",
    ...UNSENT,
    ...REPLAN,
    status: "refused",
    final_outcome: "not_executed",
  },
  refused_duplicate: {
    when: "refused: possible duplicate of a settled operation (holder named)",
    ...UNSENT,
    status: "refused",
    final_outcome: "not_executed",
    decision: "escalate",
    retry: "blocked",
  },
  denied: {
    when: "denied by a person; nothing was ever sent",
    ...UNSENT,
    ...REPLAN,
    // Another digest is needed, and a right of its own: a denial is not undone by asking again.
    needs: "supersede",
    status: "denied",
    final_outcome: "not_executed",
  },
  expired: {
    when: "expired; nothing was ever sent",
    ...UNSENT,
    ...REPLAN,
    status: "expired",
    final_outcome: "not_executed",
  },
  cancelled: {
    when: "cancelled; nothing was ever sent",
    ...UNSENT,
    ...REPLAN,
    status: "cancelled",
    final_outcome: "not_executed",
  },
  replan_unsent: {
    when: "replan: what it rested on changed; nothing was ever sent",
    ...UNSENT,
    ...REPLAN,
    status: "replan",
    final_outcome: "not_executed",
  },
  replan_disproved: {
    when: "replan: what it rested on changed; every attempt is disproved",
    ...NOT_IN_PLACE,
    ...REPLAN,
    needs: "supersede",
    status: "replan",
    final_outcome: "not_executed",
  },
  in_progress: {
    when: "ready, or dispatched under a live lease (first or joiner)",
    ...OPEN,
    status: "in_progress",
    final_outcome: "pending",
    decision: "wait",
    retry: "automatic",
  },
  accepted: {
    when: "accepted by the provider, not settled",
    ...OPEN,
    status: "accepted",
    final_outcome: "pending",
    decision: "wait",
    retry: "automatic",
  },
  unknown: {
    when: "unknown; lapsed lease; answered but not yet recordable; admission in doubt; waiting for a worker that has the tool",
    ...OPEN,
    status: "unknown",
    final_outcome: "unknown",
    decision: "wait",
    retry: "automatic",
  },
  unknown_quarantined: {
    when: "unknown, and the journal is in quarantine",
    ...OPEN,
    status: "unknown",
    final_outcome: "unknown",
    decision: "wait",
    retry: "blocked",
  },
  needs_review: {
    when: "needs_review: inconclusive, or nobody can look",
    ...OPEN,
    status: "needs_review",
    final_outcome: "unknown",
    decision: "wait",
    retry: "blocked",
  },
  needs_review_accepted: {
    when: "needs_review: accepted and never settled",
    ...OPEN,
    status: "needs_review",
    final_outcome: "pending",
    decision: "wait",
    retry: "blocked",
  },
  needs_review_diverged: {
    when: "needs_review: diverged after a dispatch",
    ...OPEN,
    exit: 6,
    status: "needs_review",
    final_outcome: "drifted",
    decision: "replan",
    retry: "blocked",
  },
  succeeded: {
    when: "succeeded by the attempt's own acknowledgement, first call",
    ...IN_PLACE,
    ...DONE,
    replayed: false,
    status: "succeeded",
    final_outcome: "succeeded",
  },
  reconciled: {
    when: "succeeded by other evidence or because the state holds, first call",
    ...IN_PLACE,
    ...DONE,
    replayed: false,
    status: "reconciled",
    final_outcome: "already_succeeded",
  },
  replayed: {
    when: "succeeded, later call or joiner, also after its output was purged",
    ...IN_PLACE,
    ...DONE,
    replayed: true,
    status: "replayed",
    final_outcome: "already_succeeded",
  },
  undone: {
    when: "succeeded and compensated since; or accepted, then reversed or bounced",
    ...NOT_IN_PLACE,
    ...REPLAN,
    needs: "supersede",
    status: "undone",
    final_outcome: "undone",
  },
  failed: {
    when: "failed: definite, permanent, every attempt",
    ...NOT_IN_PLACE,
    ...REPLAN,
    needs: "supersede",
    status: "failed",
    final_outcome: "failed",
  },
  not_applied: {
    when: "not_applied, budget left; a read-only tool's failure",
    ...NOT_IN_PLACE,
    needs: "retry",
    status: "not_applied",
    final_outcome: "not_executed",
    decision: "retry_allowed",
    retry: "allowed",
  },
  not_applied_spent: {
    when: "not_applied, attempts or deadline spent",
    ...NOT_IN_PLACE,
    ...REPLAN,
    needs: "supersede",
    status: "not_applied",
    final_outcome: "not_executed",
  },
  closed_unknown: {
    when: "closed_unknown: closed by a person without an answer",
    http: 200,
    exit: 3,
    replayed: false,
    needs: null,
    supersedable: false,
    status: "closed_unknown",
    final_outcome: "unknown",
    decision: "escalate",
    retry: "blocked",
  },
  contradicted: {
    when: "any terminal state, contradicted, until amended",
    ...OPEN,
    status: "needs_review",
    final_outcome: "unknown",
    decision: "wait",
    retry: "blocked",
  },
} as const satisfies { readonly [row: string]: Row }

export type RowId = keyof typeof RESULT_TABLE
export const ROW_IDS = Object.keys(RESULT_TABLE) as readonly RowId[]

type Table = typeof RESULT_TABLE

/** Where a successor has taken its place, the row's plan is void. */
type Superseded<R extends RowId> = Table[R]["supersedable"] extends true
  ? { readonly decision: "replan"; readonly retry: "blocked" }
  : never

/** Without the right that `retry` needs, it reads blocked. */
type WithoutRight<R extends RowId> = Table[R]["needs"] extends string
  ? { readonly decision: Table[R]["decision"]; readonly retry: "blocked" }
  : never

type Plan<R extends RowId> =
  | { readonly decision: Table[R]["decision"]; readonly retry: Table[R]["retry"] }
  | Superseded<R>
  | WithoutRight<R>

/** The part of a Result that the table decides: one union member for each row and each of its plans. */
export type ResultCore = {
  [R in RowId]: {
    readonly row: R
    readonly status: Table[R]["status"]
    readonly final_outcome: Table[R]["final_outcome"]
    readonly ok: Table[R]["exit"] extends 0 ? true : false
    readonly settled: Table[R]["http"] extends 200 ? true : false
    readonly http: Table[R]["http"]
    readonly exit: Table[R]["exit"]
  } & Plan<R>
}[RowId]

/** Why a row's plan is not its own. */
export type PlanChange = "superseded" | "needs_right" | null

/** The table's part of a Result: the only place where one comes into being. */
export function resultCore(row: RowId, change: PlanChange): ResultCore {
  const facts: Row = RESULT_TABLE[row]
  if (change === "superseded" && !facts.supersedable) throw new Error(`row ${row} has no successor`)
  if (change === "needs_right" && facts.needs === null) throw new Error(`row ${row} needs no right`)
  const core = {
    row,
    status: facts.status,
    final_outcome: facts.final_outcome,
    decision: change === "superseded" ? "replan" : facts.decision,
    retry: change === null ? facts.retry : "blocked",
    ok: facts.exit === 0,
    settled: facts.http === 200,
    http: facts.http,
    exit: facts.exit,
  }
  return core as ResultCore
}

/** Whether these words are a row of the table, or one of its two changed plans: the check behind the wire schema. */
export function isResultCore(value: { readonly [name: string]: unknown }): boolean {
  const { row } = value
  if (typeof row !== "string" || !Object.hasOwn(RESULT_TABLE, row)) return false
  const facts: Row = RESULT_TABLE[row as RowId]
  const changes: PlanChange[] = [null]
  if (facts.supersedable) changes.push("superseded")
  if (facts.needs !== null) changes.push("needs_right")
  return changes.some((change) =>
    Object.entries(resultCore(row as RowId, change)).every(([name, expected]) => value[name] === expected),
  )
}
