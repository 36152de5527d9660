/**
 * Valid operations and writes for tests of journals. A journal reads no meaning into them, so they are made by hand here
 * and not by the engine's functions: a test of a journal must not depend on what the engine decides.
 */
import { systemIds } from "@invokejs/engine"
import type { AdmitWrite, AdvanceWrite, DispatchWrite, Journal, Lease, WriteResult } from "@invokejs/engine"
import type { Attempt, AuditDraft, AuditEventType, Contract, Operation } from "@invokejs/protocol"
import { isTerminal } from "@invokejs/protocol"
import assert from "node:assert/strict"

export const TENANT = "default"
export const TOOL = "send_invoice"

const CONTRACT: Contract = {
  applied: "returned",
  has_resource: false,
  exclusive: false,
  shared: false,
  many: false,
  timeout_ms: 30_000,
  attempts: 3,
  deadline_ms: 86_400_000,
  settle_by_ms: 86_400_000,
}

/** A new operation in `ready`, its key made from its id. */
export function newOperation(now: number, over: Partial<Operation> = {}): Operation {
  const operation_id = over.operation_id ?? systemIds.operation(now)
  return {
    ...identityOf(operation_id),
    ...progressAt(now),
    ...linksOfNone(),
    ...over,
  }
}

function identityOf(operation_id: string) {
  return {
    operation_id,
    tenant: TENANT,
    tool: TOOL,
    tool_version: "1",
    namespace: TOOL,
    safety: "irreversible",
    checkable: false,
    key: `key:${operation_id}`,
    key_kind: "explicit",
    revision: 1,
    identity_version: "1",
    identity: { invoice: operation_id },
    intent: null,
    intent_digest: null,
    fingerprint: "0".repeat(64),
    params: { invoice: operation_id, amount: 2_400, note: "ünïcode ✓" },
    expectation: null,
    resource: null,
    contract: CONTRACT,
    agent_id: "default",
    run_id: null,
    turn_id: null,
    group_id: null,
    labels: {},
    retry_on_repeat: false,
  } satisfies Partial<Operation>
}

function progressAt(now: number) {
  return {
    state: "ready",
    version: 1,
    created_at: now,
    updated_at: now,
    settled_at: null,
    deadline_at: now + 86_400_000,
    due_at: now,
    state_since: now,
    attempts: [],
    generation: 0,
    generation_started_at: {},
    evidence: [],
    seen: [],
    seen_version: null,
    looked_before: false,
    probes: { answered: 0, failed: 0, lease: null, last_at: null },
    retries: 0,
    attempts_max: 3,
    unsent_since: null,
    output: null,
    output_error: null,
    output_purged: false,
    object: null,
    cause: null,
    verdict: null,
    reason: null,
  } satisfies Partial<Operation>
}

function linksOfNone() {
  return {
    contradicted: false,
    barred: false,
    restored: null,
    durable: true,
    supersedes: null,
    superseded_by: null,
    compensates: null,
    compensated_by: null,
    compensation_settled: false,
    repeats: null,
    held_by: null,
    approval_id: null,
    workflow: null,
    duplicates: { count: 0, last_at: null },
    told: false,
    seq: 0,
    head_hash: "",
  } satisfies Partial<Operation>
}

export function draft(
  type: AuditEventType,
  from: Operation["state"] | null,
  to: Operation["state"] | null,
  data: AuditDraft["data"] = {},
): AuditDraft {
  return { type, from, to, actor: "engine", data }
}

/** Admits `next` as the first revision of its own key, unless `over` says otherwise. */
export function admission(next: Operation, at: number, over: Partial<AdmitWrite> = {}): AdmitWrite {
  const { tenant, key, key_kind } = next
  return {
    kind: "admit",
    event_id: systemIds.event(),
    at,
    operation: { expect_version: 0, next, events: [draft("requested", null, next.state, { tool: next.tool, key })] },
    keys: [{ tenant, key, chain: key, kind: key_kind }],
    expect_revision: next.revision - 1,
    ...over,
  }
}

/** The next version of an operation. */
export function changed(from: Operation, over: Partial<Operation>, now: number): Operation {
  const state = over.state ?? from.state
  const settled_at = isTerminal(state) ? now : null
  return {
    ...from,
    settled_at,
    due_at: isTerminal(state) ? null : from.due_at,
    ...over,
    version: from.version + 1,
    updated_at: now,
  }
}

export function advance(
  from: Operation,
  over: Partial<Operation>,
  at: number,
  rest: Partial<AdvanceWrite> = {},
): AdvanceWrite {
  const next = changed(from, over, at)
  const events = [draft("state_updated", from.state, next.state, { version: next.version })]
  return {
    kind: "advance",
    event_id: systemIds.event(),
    at,
    operation: { expect_version: from.version, next, events },
    ...rest,
  }
}

export function attemptUnder(lease: Lease, attempt: number, now: number): Attempt {
  return {
    attempt,
    generation: 0,
    provider_key: `provider:${attempt}`,
    worker_id: lease.worker_id,
    lease_token: lease.lease_token,
    dispatched_at: now,
    send_before: now + 20_000,
    last_possible_send: now + 50_000,
    timeout_ms: 30_000,
    transport: "opaque",
    status: "open",
    settled_at: null,
    gone_at: null,
    left: true,
  }
}

export function dispatch(from: Operation, lease: Lease, at: number, over: Partial<DispatchWrite> = {}): DispatchWrite {
  const attempts = [...from.attempts, attemptUnder(lease, from.attempts.length + 1, at)]
  const next = changed(from, { state: "dispatched", attempts, due_at: at + 60_000 }, at)
  const events = [draft("submitted", from.state, "dispatched", { attempt: attempts.length })]
  return {
    kind: "dispatch",
    event_id: systemIds.event(),
    at,
    operation: { expect_version: from.version, next, events },
    lease,
    ...over,
  }
}

/** Registers a worker of this process and answers with its lease until `until`. */
export async function registered(journal: Journal, until: number, tools: readonly string[] = [TOOL]): Promise<Lease> {
  const worker_id = systemIds.worker()
  const lease_token = systemIds.token()
  const place = { host: "here", boot_id: "this boot", pid: 1 }
  await journal.workers.register({ worker_id, lease_token, ...place, started_at: journal.now(), tools })
  return { worker_id, lease_token, until }
}

/** The operation of a write that must have taken place. */
export function written(result: WriteResult): Operation {
  assert.ok(result.ok, `the write was refused: ${JSON.stringify(result)}`)
  return result.operation
}

/** What a write that must not have taken place ran into. */
export function refusal(result: WriteResult): string {
  assert.ok(!result.ok, "the write took place")
  return result.conflict.on
}

/** Admits a new operation and answers with it as the journal has it. */
export async function admitted(
  journal: Journal,
  over: Partial<Operation> = {},
  write: Partial<AdmitWrite> = {},
): Promise<Operation> {
  const now = journal.now()
  return written(await journal.admit(admission(newOperation(now, over), now, write)))
}
