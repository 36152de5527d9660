/** A small world to be walked through entirely: one tool, a few workers, a few faults, a horizon. */
import { propose, type Contract, type Operation } from "@invokejs/protocol"
import type { ModelState } from "./model-state.ts"

export const TICK_MS = 10_000

/** Defences that a copy of the model leaves out, to prove that the walk finds what follows. */
export const SEEDED_BUGS = [
  "no_version_check",
  "no_send_gate",
  "timeout_is_failure",
  "lookup_window_too_short",
  "lapse_disproves",
  "silence_is_proof",
] as const
export type SeededBug = (typeof SEEDED_BUGS)[number]

export interface ModelConfiguration {
  readonly name: string
  readonly transport: "invoke" | "opaque"
  readonly keyed: boolean
  readonly workers: number
  readonly attempts: number
  readonly crashes: number
  readonly retries: number
  /** Q and V of the provider, in ticks; the contract declares the same. */
  readonly execution_ticks: number
  readonly visibility_ticks: number
  readonly horizon_ticks: number
}

export const CONFIGURATIONS: readonly ModelConfiguration[] = [
  {
    name: "one worker, one crash",
    transport: "invoke",
    keyed: false,
    workers: 1,
    attempts: 2,
    crashes: 1,
    retries: 0,
    execution_ticks: 1,
    visibility_ticks: 1,
    horizon_ticks: 16,
  },
  {
    name: "two workers, late landing",
    transport: "invoke",
    keyed: false,
    workers: 2,
    attempts: 2,
    crashes: 0,
    retries: 0,
    execution_ticks: 1,
    visibility_ticks: 1,
    horizon_ticks: 12,
  },
  {
    name: "opaque, one crash",
    transport: "opaque",
    keyed: false,
    workers: 1,
    attempts: 2,
    crashes: 1,
    retries: 0,
    execution_ticks: 1,
    visibility_ticks: 1,
    horizon_ticks: 16,
  },
  {
    name: "opaque, two workers",
    transport: "opaque",
    keyed: false,
    workers: 2,
    attempts: 2,
    crashes: 0,
    retries: 0,
    execution_ticks: 1,
    visibility_ticks: 0,
    horizon_ticks: 10,
  },
  {
    name: "keyed, same key again",
    transport: "invoke",
    keyed: true,
    workers: 1,
    attempts: 3,
    crashes: 1,
    retries: 0,
    execution_ticks: 1,
    visibility_ticks: 1,
    horizon_ticks: 12,
  },
  {
    name: "a caller's retry",
    transport: "invoke",
    keyed: false,
    workers: 1,
    attempts: 1,
    crashes: 0,
    retries: 1,
    execution_ticks: 1,
    visibility_ticks: 0,
    horizon_ticks: 14,
  },
]

function contractOf(config: ModelConfiguration, bug: SeededBug | null): Contract {
  const execution = bug === "lookup_window_too_short" ? 0 : config.execution_ticks * TICK_MS
  return {
    applied: "returned",
    lookup: {
      correlates: "operation",
      consistency: "bounded",
      max_execution_ms: execution,
      visibility_ms: bug === "lookup_window_too_short" ? 0 : config.visibility_ticks * TICK_MS,
      negatives: 2,
      spacing_ms: TICK_MS,
      resolution_ms: 1,
      skew_ms: 0,
      creation_time: true,
    },
    ...(config.keyed
      ? {
          key: {
            sent_as: "header:Idempotency-Key",
            retention_ms: 86_400_000,
            replay: "stored" as const,
            in_flight: "refuses" as const,
            replays_errors: true,
            on_mismatch: "refuses" as const,
            proved: { date: "2026-01-01", against: "model" },
          },
        }
      : {}),
    has_resource: false,
    exclusive: false,
    shared: false,
    many: false,
    timeout_ms: TICK_MS,
    attempts: config.attempts,
    deadline_ms: 86_400_000,
    settle_by_ms: 86_400_000,
  }
}

export function initialState(config: ModelConfiguration, bug: SeededBug | null): ModelState {
  const now = 1_000_000
  const operation: Operation = propose(
    {
      operation_id: "op",
      tenant: "default",
      tool: "model",
      tool_version: "1",
      namespace: "model",
      safety: config.keyed ? "idempotent" : "write-once-checkable",
      checkable: true,
      key: "k",
      key_kind: "explicit",
      revision: 1,
      identity_version: "",
      identity: null,
      intent: null,
      intent_digest: null,
      fingerprint: "f",
      params: {},
      expectation: { match: {}, effect: {}, invariant: {} },
      resource: null,
      contract: contractOf(config, bug),
      agent_id: "default",
      run_id: null,
      turn_id: null,
      group_id: null,
      labels: {},
      retry_on_repeat: false,
      supersedes: null,
      repeats: null,
      compensates: null,
    },
    { kind: "ready" },
    { now, unit: 0, actor: "model" },
  ).next
  return {
    now,
    operation,
    workers: Array.from({ length: config.workers }, (_, index) => ({
      id: `w${index + 1}`,
      alive: true,
      attempt: null,
      loop: null,
      lease_until: 0,
    })),
    in_flight: [],
    effects: [],
    crashes_left: config.crashes,
    retries_left: config.retries,
  }
}
