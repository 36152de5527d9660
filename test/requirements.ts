// What Invoke promises, each with an id that tests cite in brackets in their names: [ID-3], [R7], [item 7].
//
// One line is one promise: id | source | issue | status | sentence.
//   source  `R` the article on reconciliation, `A` the article on agents' identity and state, `M` a peer has it, `W` no
//           peer has it, `U` users ask for it; `review 1` and `review 2` are the schedules found when the protocol was reviewed.
//   issue   what brings it: 2 core, 3 proof, 4 workflows, policy and approvals, 5 PostgreSQL, 6 server, 7 speed, later.
//   status  `planned`: may be cited already. `built`: fails the build unless a test cites it and passes.
// To flip a promise, write `built` in its line. A planned one that a passing test cites already is named by `npm test`.

export interface Requirement {
  readonly id: string
  readonly source: string
  readonly issue: string
  readonly status: "built" | "planned"
  readonly sentence: string
}

const TABLE = `
ID-1    | A        | 2     | built   | the engine makes the operation id, apart from attempt, request and tool-call ids; no model can make or change it
ID-2    | R A      | 2     | built   | a caller's idempotency key is scoped to its tenant, and a consequential call without key or identity is refused
ID-3    | A W      | 2     | built   | identity comes from declared business fields, typed and normalised; a missing part is an error
ID-4    | M        | 2     | built   | a key used again with other parameters or another tool is refused, the differing fields are named, nothing runs
ID-5    | M        | 2     | built   | the fingerprint of parameters is that of RFC 8785 JSON, and what JSON cannot say is refused
ID-6    | M        | 2     | built   | a duplicate of a running call joins it and gets its result
ID-7    | A M      | 2     | built   | a later duplicate gets the stored result, marked as replayed and dated
ID-8    | W U      | 2     | built   | intent slots hold a near-duplicate under another key, and one honest repeat is allowed for each
ID-9    | W U      | 2     | built   | a purged key answers as a tombstone and never becomes new work
ID-10   | W U      | 2     | built   | identical parallel calls of one model turn run once, unless that is switched off
ID-11   | U        | 2     | built   | identity holds across agents, processes, restarts and re-written arguments
ID-12   | W        | 2     | built   | retry and supersede are single-winner acts on a key's chain, and identity survives deploys by its version
ST-1    | A M      | 2     | built   | the intent and each attempt are durable before the first byte may leave
ST-2    | A M      | 2     | built   | unknown is a stored state: timeout, cancel, exception, kill and lost lease of a write all lead to it
ST-3    | M U      | 2     | built   | failures are sorted into not applied, unknown, applied and permanent by allow-list and by the stage reached
ST-4    | A        | 2     | built   | one transition table and one pure function are the only door to a state
ST-5    | W        | 2     | built   | a late acknowledgement is heard in every state; a contradiction becomes an incident and is amended, never edited
ST-6    | U        | 2     | built   | accepted is not settled
ST-7    | U        | 2     | built   | attempts and operations have deadlines, and every non-terminal state has a timer and an operator verb
ST-8    | W        | 2     | built   | non-application is proved about every attempt, and a zombie's send is stopped at the wire by send_before
ST-9    | W        | 2     | built   | every result is a row of the result table, and its agent_text is safe for a model
RC-1    | R A      | 2     | built   | the engine runs a tool's probe before any retry, in the background, with no caller attached
RC-2    | R        | 2     | built   | live state and conditions decide do_not_retry, retry_allowed or replan
RC-3    | R        | 6     | planned | POST /outcomes/reconcile never allows a retry on missing evidence and never confirms by another entity
RC-4    | M        | 2     | built   | a verdict is confirmed, refuted, diverged or inconclusive
RC-5    | M        | 2     | built   | negatives count after the settle window, complete and authoritative; positives are sticky
RC-6    | W        | 2     | built   | a fence claims the same identity again to settle an operation for good
RC-7    | W        | 2     | built   | a partial, divergent or double match leads to replan, a double effect to an incident
RC-8    | A M      | 2     | built   | probes are bounded, with backoff and jitter, and end at a person
RC-9    | W        | later | planned | evidence pushed by webhook, caller or operator settles an operation, once
RC-10   | A M      | later | planned | settled operations are verified again, and drift becomes an incident
RC-11   | R        | 4     | planned | state is checked before a write that depends on it
RC-12   | W        | 2     | built   | a positive needs cause: correlation, the set seen before, and one object for one operation
RC-13   | W        | 2     | built   | evidence has rank, and a claim by an agent or caller settles nothing
RP-1    | A        | 2     | built   | retries are bounded over the operation's whole life, and Retry-After is honoured
RP-2    | A M      | 2     | built   | every attempt carries the same provider key, and the generation changes only on proof
RP-3    | W        | 2     | built   | what a provider promises is data: key, retention, lookup, lag, fence, undo, with sources
RP-4    | W        | 2     | built   | nothing is sent again under a provider key that has lapsed
RP-5    | U        | 2     | built   | our own transport sends one effect request per attempt, follows no redirect with a body, and knows the stage
RP-6    | M        | 4     | planned | circuit breaker, rate and concurrency limits hold per tool across processes
RP-7    | R        | 2     | built   | the safety class of a tool decides what unknown leads to
RP-8    | W        | 4     | planned | a compensation is an operation of its own, one per confirmed effect
RP-9    | W        | 2     | built   | key protection is enforced at the head write: same bytes, account and region
CS-1    | M        | 2     | built   | several processes share one durable SQLite journal file
CS-2    | M        | 5     | planned | any number of workers share a PostgreSQL journal, by its clock and its primary
CS-3    | M        | 2     | built   | the engine renews leases, and a lapse starts probing, never a dispatch
CS-4    | M        | 2     | built   | a zombie's writes are fenced, and its news is kept
CS-5    | A M      | 2     | built   | after a crash at any point an operation is reconciled: not executed again, not lost
CS-6    | W        | 2     | built   | a graceful drain keeps its leases until attempts end
CS-7    | A        | 2     | built   | checkpoints of agent runs survive restarts
CS-8    | U        | 2     | built   | migrations, retention, backup and restore keep a stated promise
CS-9    | W        | 2     | built   | a restored or cloned journal is quarantined, and doubtful commits are resolved by a locking read
HU-1    | W U      | 4     | planned | an approval precedes dispatch: bound to a digest, single use, expiring, sticky when denied
HU-2    | R        | 4     | planned | a frozen plan is checked on thaw against state that the engine itself read
HU-3    | M        | 2     | built   | an operator resolves with evidence and the version seen, once, recorded by name
HU-4    | M U      | 6     | planned | an agent cannot approve or resolve by any door
HU-5    | M        | later | planned | the console shows the unresolved by age, with timeline, evidence and safe actions
HU-6    | U        | later | planned | notifications tell their delivery status, and age raises alarms
WF-1    | A        | 4     | planned | a declared business state machine refuses illegal actions and names the legal ones
WF-2    | A        | 4     | planned | entity and operation move in one transaction, and unknown has a business state
WF-3    | W        | 4     | planned | workflow definitions are checked, versioned and drawn
WF-4    | R        | 4     | planned | policy rules allow, deny, ask and limit, and can be simulated
AU-1    | A        | 2     | built   | each operation has an append-only timeline of facts that a person can read
AU-2    | M        | 2     | built   | the hash chain of events shows edits and drops (signed checkpoints and receipts come later)
AU-3    | M        | 6     | planned | spans, metrics and structured logs are emitted, redacted
AU-4    | W        | later | planned | the MCP gateway guards any server, and a disconnect cancels nothing
AU-5    | M        | 6     | planned | the HTTP API serves callers of any language, also those that execute themselves
AU-6    | M        | later | planned | framework adapters and durable-workflow steps are tested with the real packages
AU-7    | M        | 6     | planned | payloads are redacted, encrypted at rest and kept no longer than needed
AU-8    | W        | 4     | planned | check lints a setup against the ten-point checklist
AU-9    | W        | 3     | built   | prove runs a user's own tool against every fault at every point
AU-10   | M W      | 3     | planned | simulator, model checker, crash matrix, mutation checks and real kills prove the engine
AU-11   | U        | 2     | built   | honest limits are printed where users decide
AU-12   | W        | 2     | built   | guard wraps an existing function in three lines and keeps its signature
AU-13   | W        | later | planned | connectors for payments, tickets, mail and others have proved contracts

R1      | review 1 | 2     | built   | a tool that never used our transport has no stage, so its exception proves nothing
R2      | review 1 | 2     | built   | a refusal of a later attempt does not speak for an earlier one
R3      | review 1 | 2     | built   | a function that merely returns is not an acknowledgement unless applied says so
R4      | review 1 | 2     | built   | conditions that were true before, or by another's call, confirm nothing
R5      | review 1 | 2     | built   | evidence moves the version, and a positive is heard in every state
R6      | review 1 | 2     | built   | a frozen worker that thaws after send_before sends nothing
R7      | review 1 | 2     | built   | after a crash the last stage written proves nothing
R8      | review 1 | 2     | built   | an attempt has one effect request, and a second is refused before it leaves
R9      | review 1 | 6     | planned | a caller's claim through the reconcile endpoint settles nothing
R10     | review 1 | 2     | built   | nothing dispatched is cancelled into not having happened, and an acceptance that bounces is undone
R11     | review 1 | 2     | built   | a divergence after a dispatch blocks retry and supersede
R12     | review 1 | 2     | built   | replaying a key is a dispatch, with its own attempt record
R13     | review 1 | 2     | built   | a collision with our own tombstone is not read as the original effect
R14     | review 1 | 2     | built   | the commit before the effect is skipped for no class but read-only
R15     | review 1 | 2     | built   | a naturally idempotent write is not repeated over a newer one
R16     | review 1 | 2     | built   | two keys with one intent in the same instant do not both dispatch
R17     | review 1 | later | planned | a result written to a stream is not thereby delivered
R18     | review 1 | 2     | built   | retry and supersede of one operation have one winner
R19     | review 1 | 2     | built   | a provider key does not protect a concurrent, changed or re-routed request
R20     | review 1 | 2     | built   | a key that lapses between decision and head write stops the send
R21     | review 1 | 2     | built   | identity does not drift between versions of a tool or collide across tools
R22     | review 1 | 4     | planned | an approval covers one effect, not one dispatch, and is checked again at every attempt
R23     | review 1 | 5     | planned | a commit in doubt is resolved by a locking read and is never taken for lost
R24     | review 1 | 2     | built   | a journal that went back in time dispatches nothing until it is lifted
R25     | review 1 | 2     | built   | no other code of the process undercuts the locks of the SQLite file
R26     | review 1 | 2     | built   | stages come from our own dispatcher, keyed by the attempt, and a hidden second send is refused
R27     | review 1 | 2     | built   | match, effect and invariant are typed comparisons judged in one order
R28     | review 1 | 2     | built   | a negative is dated by the start of its look, in database time, under the stricter contract
R29     | review 1 | 2     | built   | every state has an arrow out, and an unanswered probe costs no budget
R30     | review 1 | 6     | planned | a caller-executed attempt is opaque, and its grant is told again for the same begin_id
R31     | review 1 | 4     | planned | an entity and its pending operation never come apart
R32     | review 1 | 2     | built   | a lapsed lease beside a live attempt sends nothing, and joiners wait on the row
R33     | review 1 | 2     | built   | in a group commit one bad entry fails alone
R34     | review 1 | 4     | planned | two compensations of one effect are one operation
R35     | review 1 | 2     | built   | zombie evidence keeps the chain intact, and purging keeps it verifiable

item 1  | review 2 | 2     | built   | an object that exists but has no settled cause, or is still processing, is not refuted
item 2  | review 2 | 2     | built   | unknown leads to a same-key attempt while the key protects
item 3  | review 2 | 2     | built   | a state tool does not overwrite a newer value, replay a stale one, or claim one object once
item 4  | review 2 | 2     | built   | an attempt whose second effect was refused is unknown, whatever the first was answered
item 5  | review 2 | 2     | built   | no lookup refutes an acceptance, and reconciling is no state
item 6  | review 2 | 2     | built   | send_before is anchored before the transaction, is never extended, and binds the key only where needed
item 7  | review 2 | 2     | built   | a created probe does not take another operation's object for ours
item 8  | review 2 | 2     | built   | a held call passes policy and approval on its way out, and a slot has one owner
item 9  | review 2 | 2     | built   | old and new workers collide on one identity, and a silent change of identity refuses the start
item 10 | review 2 | 2     | built   | silence does not prove a process gone; its lock, its host, the platform or an operator does
item 11 | review 2 | 2     | built   | an attempt in which the transport saw no effect request is opaque
item 12 | review 2 | 2     | built   | an admission in doubt is answered unknown, and the same call again is safe
item 13 | review 2 | 2     | built   | closed_unknown and a refused duplicate say escalate, not replan
item 14 | review 2 | 2     | built   | every arrow that another rule needs is in the transition table
item 15 | review 2 | 2     | built   | attempts that never left do not spend the budget, and a repeat of a not applied call is its retry
item 16 | review 2 | 2     | built   | the look before attempt 1 is bounded, sends nothing when it fails, and holds what already exists
item 17 | review 2 | 2     | built   | a guarded function's applied and complete absence are believed without a conformance probe
item 18 | review 2 | 2     | built   | refuted under quarantine, an operation returns to the state it had, and old generations stay lapsed
item 19 | review 2 | 6     | planned | an acknowledgement reported under its own grant settles the operation
item 20 | review 2 | 7     | planned | an outcome that is not yet durable is told to its own caller only
item 21 | review 2 | 4     | planned | every end of an operation has a place in its workflow
item 22 | review 2 | 4     | planned | an approved attempt may be repeated under its protecting key
item 23 | review 2 | later | planned | a batch is one operation with item verdicts, and each item takes its own identity
item 24 | review 2 | 4     | planned | once its compensation has succeeded an operation answers undone and frees its slot
item 25 | review 2 | 2     | built   | one verb table serves every door, and a guard's error says whether nothing ran
item 26 | review 2 | 2     | built   | an alias names a chain, and a runId guards its own run
item 27 | review 2 | 2     | built   | a result names its cause, and the first telling is told apart from later ones
item 28 | review 2 | 2     | built   | a definite answer to a checkable tool is followed by one look, and every default is named
item 29 | review 2 | 2     | built   | a spent not_applied says after_replan, and closed without an answer exits with 3
`

/** The promises in the order of the table. */
export const requirements: readonly Requirement[] = parseRequirements(TABLE)

/** Reads a table of the form above; a line that does not have it is an error that quotes the line. */
export function parseRequirements(table: string): Requirement[] {
  return table
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [id, source, issue, status, sentence, ...rest] = line.split("|").map((cell) => cell.trim())
      if (!id || !source || !issue || !sentence || rest.length > 0) throw new Error(`not a requirement line: ${line}`)
      if (status !== "built" && status !== "planned") throw new Error(`status is built or planned: ${line}`)
      return { id, source, issue, status, sentence }
    })
}
