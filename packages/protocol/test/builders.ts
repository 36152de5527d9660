// Operations, contracts and evidence for tests of the pure heart, and a story that walks an operation through its events.
// Every step of every story is held against the invariants of `transition-invariants.ts`.

import { DEFAULTS, propose, transition } from "@invokejs/protocol"
import type {
  Admission,
  AttemptOutcome,
  Candidate,
  Contract,
  DispatchEvent,
  Evidence,
  Finding,
  FenceContract,
  Illegal,
  JudgeContext,
  KeyContract,
  LookupContract,
  Operation,
  OperationEvent,
  Proposal,
  ResolveTo,
  Step,
} from "@invokejs/protocol"
import { checkReplay, checkStep } from "./transition-invariants.ts"

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
/** 2026-01-01, in whole seconds. */
export const T0 = 1_767_225_600_000

export const PROVED = { date: "2026-01-01", against: "its stand-in" }

export function keyContract(change: Partial<KeyContract> = {}): KeyContract {
  return {
    sent_as: "header:Idempotency-Key",
    retention_ms: DAY,
    replay: "stored",
    in_flight: "refuses",
    replays_errors: false,
    on_mismatch: "refuses",
    proved: PROVED,
    ...change,
  }
}

export function lookupContract(change: Partial<LookupContract> = {}): LookupContract {
  return {
    correlates: "operation",
    consistency: "bounded",
    max_execution_ms: 5 * MINUTE,
    visibility_ms: MINUTE,
    negatives: 2,
    spacing_ms: MINUTE,
    resolution_ms: SECOND,
    skew_ms: 2 * SECOND,
    creation_time: true,
    ...change,
  }
}

export const TOMBSTONE: FenceContract = { kind: "tombstone", permanent: true, proved: PROVED }

export function contract(change: Partial<Contract> = {}): Contract {
  return {
    applied: "2xx",
    lookup: lookupContract(),
    has_resource: false,
    exclusive: false,
    shared: false,
    many: false,
    timeout_ms: 30 * SECOND,
    attempts: 3,
    deadline_ms: DAY,
    settle_by_ms: 72 * HOUR,
    ...change,
  }
}

/** A checkable contract without its lookup. */
export function blind(change: Partial<Contract> = {}): Contract {
  const { lookup: _lookup, ...rest } = contract(change)
  return rest
}

export function proposal(change: Partial<Proposal> = {}): Proposal {
  const terms = change.contract ?? contract()
  return {
    operation_id: "op-1",
    tenant: "default",
    tool: "charge",
    tool_version: "1",
    namespace: "charge",
    safety: "write-once-checkable",
    checkable: terms.lookup !== undefined,
    key: "charge:cust_123:2400",
    key_kind: "explicit",
    revision: 1,
    identity_version: "1",
    identity: null,
    intent: null,
    intent_digest: null,
    fingerprint: "f".repeat(64),
    params: { customer_id: "cust_123", amount: 2400 },
    expectation: {
      match: { customer_id: { op: "eq", value: { type: "id", value: "cust_123" } } },
      effect: { charged: { op: "eq", value: { type: "boolean", value: "true" } } },
      invariant: { amount: { op: "eq", value: { type: "minor", value: "2400 usd" } } },
    },
    resource: null,
    agent_id: "default",
    run_id: null,
    turn_id: null,
    group_id: null,
    labels: {},
    retry_on_repeat: true,
    supersedes: null,
    repeats: null,
    compensates: null,
    ...change,
    contract: terms,
  }
}

export function charge(change: Partial<Candidate> & { readonly state?: Candidate["state"] } = {}): Candidate {
  return {
    object_id: "ch_1",
    operation_id: "op-1",
    ...change,
    state: { customer_id: "cust_123", charged: true, amount: 2400, ...change.state },
  }
}

/** The same object without our id: natural match, told apart by its creation time. */
export function stranger(change: Partial<Candidate> & { readonly state?: Candidate["state"] } = {}): Candidate {
  const { operation_id: _id, ...rest } = charge(change)
  return rest
}

type Ended<Class extends AttemptOutcome["class"]> = Extract<AttemptOutcome, { readonly class: Class }>

export const APPLIED: Ended<"applied"> = { class: "applied", output: { id: "ch_1" } }
export const UNKNOWN: Ended<"unknown"> = {
  class: "unknown",
  reason: { code: "no_answer", text: "it left and no answer came" },
}
export const UNSENT: Ended<"not_applied"> = {
  class: "not_applied",
  reason: { code: "never_left", text: "no byte left" },
  proof: "stage",
  speaks_for: "attempt",
}
export const REJECTED: Ended<"rejected"> = {
  class: "rejected",
  reason: { code: "http_401", text: "the provider answered 401" },
  proof: "answer",
  speaks_for: "attempt",
  look_first: false,
}
export const DECLINED: Ended<"not_applied"> = {
  class: "not_applied",
  reason: { code: "http_429", text: "the provider answered 429" },
  proof: "answer",
  speaks_for: "attempt",
}

export function context(now: number, change: Partial<JudgeContext> = {}): JudgeContext {
  return { now, taken: [], rivals: 0, clock_stepped_at: null, ...change }
}

let counter = 0
export function nextId(kind: string): string {
  counter += 1
  return `${kind}-${counter}`
}

export function lookOf(
  candidates: readonly Candidate[],
  change: Partial<Extract<Finding, { kind: "look" }>> = {},
): Finding {
  return { kind: "look", candidates, complete: true, search: false, generations: [0], ...change }
}

export function evidenceOf(finding: Finding, at: number, change: Partial<Evidence> = {}): Evidence {
  return {
    evidence_id: nextId("ev"),
    source: "probe",
    rank: "observed",
    attempt: null,
    generation: null,
    observed_from: at,
    recorded_at: at,
    finding,
    ...change,
  }
}

export function resolution(to: ResolveTo["to"], change: Partial<ResolveTo> = {}): ResolveTo {
  return { to, reason: "looked at the dashboard", evidence: { ticket: "T-1" }, ...change }
}

/** One operation on its way, with its own clock. */
export class Story {
  operation: Operation
  now: number
  last: Step | null = null
  readonly path: string[]

  constructor(change: Partial<Proposal> = {}, admission: Admission = { kind: "ready" }, now = T0) {
    this.now = now
    const step = propose(proposal(change), admission, { now, unit: 0, actor: "test" })
    this.operation = step.next
    this.last = step
    this.path = [step.next.state]
  }

  get state(): Operation["state"] {
    return this.operation.state
  }

  get incidents(): readonly string[] {
    return this.last?.incidents.map((one) => one.kind) ?? []
  }

  attempt(number: number) {
    const attempt = this.operation.attempts[number - 1]
    if (!attempt) throw new Error(`there is no attempt ${number}`)
    return attempt
  }

  wait(ms: number): this {
    this.now += ms
    return this
  }

  until(moment: number | null): this {
    this.now = Math.max(this.now, moment ?? this.now)
    return this
  }

  try(event: OperationEvent, unit = 0) {
    const context = { now: this.now, unit, actor: "test" }
    const result = transition(this.operation, event, context)
    if (result.ok) {
      checkStep(this.operation, event, result, this.now)
      checkReplay(result.next, event, context)
    }
    return result
  }

  /** Takes the step if it is legal. */
  offer(event: OperationEvent, unit = 0): Step | Illegal {
    const result = this.try(event, unit)
    if (!result.ok) return result
    this.last = result
    this.operation = result.next
    this.path.push(result.next.state)
    return result
  }

  do(event: OperationEvent, unit = 0): this {
    const result = this.offer(event, unit)
    if (!result.ok) throw new Error(`${event.type} is refused in ${this.state}: ${result.text}`)
    return this
  }

  refuses(event: OperationEvent): Illegal {
    const result = this.try(event)
    if (result.ok) throw new Error(`${event.type} is taken in ${this.state}, and leads to ${result.next.state}`)
    return result
  }

  dispatchEvent(change: Partial<DispatchEvent> = {}): DispatchEvent {
    return {
      type: "dispatch",
      worker_id: "worker-1",
      lease_token: "token-1",
      lease_until: this.now + DEFAULTS.lease_ms,
      provider_key: `key-${this.operation.generation}`,
      transport: "invoke",
      contract: this.operation.contract,
      judged_version: this.operation.version,
      tool_version: "1",
      ...change,
    }
  }

  dispatch(change: Partial<DispatchEvent> = {}): this {
    return this.do(this.dispatchEvent(change))
  }

  ends(
    attempt: number,
    outcome: AttemptOutcome,
    change: Partial<Extract<OperationEvent, { type: "outcome" }>> = {},
  ): this {
    return this.do(this.outcome(attempt, outcome, change))
  }

  outcome(
    attempt: number,
    outcome: AttemptOutcome,
    change: Partial<Extract<OperationEvent, { type: "outcome" }>> = {},
  ) {
    const left = !(outcome.class === "not_applied" && outcome.proof === "stage")
    return { type: "outcome" as const, attempt, outcome, left, evidence_id: nextId("out"), ...change }
  }

  /** Dispatched, and its worker stopped waiting after its timeout. */
  timesOut(change: Partial<DispatchEvent> = {}): this {
    return this.dispatch(change).wait(this.operation.contract.timeout_ms).do({ type: "lapsed", why: "timeout" })
  }

  /** Dispatched, and its process was lost. */
  isLost(change: Partial<DispatchEvent> = {}): this {
    return this.dispatch(change).wait(DEFAULTS.lease_ms).do({ type: "lapsed", why: "lease" })
  }

  hears(finding: Finding, change: Partial<Evidence> = {}, judging: Partial<JudgeContext> = {}): this {
    return this.do(this.evidence(finding, change, judging))
  }

  evidence(finding: Finding, change: Partial<Evidence> = {}, judging: Partial<JudgeContext> = {}) {
    return {
      type: "evidence" as const,
      evidence: evidenceOf(finding, this.now, change),
      context: context(this.now, judging),
    }
  }

  sees(
    candidates: readonly Candidate[],
    change: Partial<Extract<Finding, { kind: "look" }>> = {},
    judging: Partial<JudgeContext> = {},
  ): this {
    return this.hears(lookOf(candidates, { generations: this.generations(), ...change }), {}, judging)
  }

  generations(): readonly number[] {
    return [...new Set([...this.operation.attempts.map((one) => one.generation), this.operation.generation])]
  }

  /** Waits for every window, then looks as often as the contract asks, and finds nothing. */
  isRefuted(): this {
    const { lookup } = this.operation.contract
    if (!lookup) throw new Error("there is no lookup")
    this.wait(lookup.max_execution_ms + lookup.visibility_ms + 2 * MINUTE)
    for (let look = 0; look < lookup.negatives; look += 1) {
      this.sees([]).wait(lookup.spacing_ms)
    }
    return this
  }

  resolve(to: ResolveTo["to"], change: Partial<ResolveTo> = {}): this {
    return this.do({ type: "resolve", resolve: resolution(to, change), evidence_id: nextId("word") })
  }
}
