import type { Attempt, Circumstances, Contract, Operation, State } from "@invokejs/protocol"

export const NOW = Date.UTC(2025, 0, 31, 12)

export const contract: Contract = {
  applied: "2xx",
  has_resource: false,
  exclusive: false,
  shared: false,
  many: false,
  timeout_ms: 30_000,
  attempts: 3,
  deadline_ms: 86_400_000,
  settle_by_ms: 259_200_000,
}

export function anAttempt(change: Partial<Attempt> = {}): Attempt {
  return {
    attempt: 1,
    generation: 0,
    provider_key: "pk",
    worker_id: "w1",
    lease_token: "t1",
    dispatched_at: NOW - 60_000,
    send_before: NOW + 20_000,
    last_possible_send: NOW + 50_000,
    timeout_ms: 30_000,
    transport: "invoke",
    status: "open",
    settled_at: null,
    gone_at: null,
    left: true,
    ...change,
  }
}

const SETTLED: readonly State[] = [
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
]
const SENT: readonly State[] = [
  "dispatched",
  "accepted",
  "unknown",
  "needs_review",
  "succeeded",
  "failed",
  "undone",
  "closed_unknown",
]

const ORDINARY = {
  operation_id: "0194b8a0-0000-7000-8000-000000000001",
  tenant: "default",
  tool: "pay",
  tool_version: "1",
  namespace: "pay",
  safety: "write-once-checkable",
  checkable: true,
  version: 3,
  key: "d:abc",
  key_kind: "derived",
  revision: 1,
  identity_version: "1",
  identity: { invoice: "84721" },
  intent: null,
  intent_digest: null,
  fingerprint: "f",
  params: { invoice: 84721 },
  expectation: null,
  resource: null,
  contract,
  agent_id: "default",
  run_id: null,
  turn_id: null,
  group_id: null,
  labels: {},
  retry_on_repeat: true,
  created_at: NOW - 120_000,
  updated_at: NOW - 1_000,
  deadline_at: NOW + 80_000_000,
  state_since: NOW - 1_000,
  generation: 0,
  generation_started_at: { 0: NOW - 60_000 },
  evidence: [],
  seen: [],
  seen_version: null,
  looked_before: false,
  probes: { answered: 0, failed: 0, lease: null, last_at: null },
  retries: 0,
  attempts_max: 3,
  unsent_since: null,
  output_error: null,
  output_purged: false,
  object: null,
  verdict: null,
  reason: null,
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
  seq: 3,
  head_hash: "h",
} as const satisfies Partial<Operation>

/** An operation in a state, with everything else as it is most often. */
export function anOperation(state: State, change: Partial<Operation> = {}): Operation {
  const settled = SETTLED.includes(state)
  return {
    ...ORDINARY,
    state,
    settled_at: settled ? NOW - 1_000 : null,
    due_at: settled ? null : NOW + 5_000,
    attempts: SENT.includes(state) ? [anAttempt()] : [],
    output: state === "succeeded" ? { id: "ch_1" } : null,
    cause: state === "succeeded" ? "acknowledged" : null,
    ...change,
  }
}

/** The circumstances of an ordinary first call by one who may do everything. */
export function seen(change: Partial<Circumstances> = {}): Circumstances {
  return { telling: "first", now: NOW, quarantine: false, rights: { retry: true, supersede: true }, ...change }
}
