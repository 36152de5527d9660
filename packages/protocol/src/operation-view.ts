/**
 * The view of an operation: what HTTP, CLI and console show of its row.
 *
 * Owns: which members are shown, and their wire form. The schema is the source of the type.
 * Must not: show parameters, outputs of attempts, provider keys or lease tokens: they are payload, or they are grants.
 *
 * OV1. Identity and intent fields are shown in clear: they are what people search by.
 */
import { z } from "zod"
import { evidenceSummarySchema, summariseEvidence } from "./evidence-summary.ts"
import { CAUSES, VERDICTS } from "./evidence.ts"
import { isoTime, isoTimeOrNull } from "./iso-time.ts"
import { SAFETY_CLASSES, STATE_NAMES } from "./state.ts"
import type { Attempt, Operation } from "./operation.ts"

const time = z.iso.datetime()
const fields = z.record(z.string(), z.string())
const reason = z.object({ code: z.string(), text: z.string() })

const attemptView = z.object({
  attempt: z.int(),
  generation: z.int(),
  status: z.enum(["open", "acknowledged", "accepted", "unknown", "disproved"]),
  worker_id: z.string(),
  transport: z.enum(["invoke", "opaque"]),
  dispatched_at: time,
  send_before: time,
  settled_at: time.nullable(),
  gone_at: time.nullable(),
  left: z.boolean(),
  http_status: z.int().nullable(),
  provider_request_id: z.string().nullable(),
  reason: reason.nullable(),
})

export const operationViewSchema = z.object({
  operation_id: z.string(),
  tenant: z.string(),
  tool: z.string(),
  tool_version: z.string(),
  safety: z.enum(SAFETY_CLASSES),
  checkable: z.boolean(),
  state: z.enum(STATE_NAMES),
  contradicted: z.boolean(),
  restored: z.boolean(),
  version: z.int(),
  idempotency_key: z.string(),
  key_kind: z.enum(["explicit", "derived", "run"]),
  revision: z.int(),
  identity: fields.nullable(),
  intent: fields.nullable(),
  resource: z.string().nullable(),
  fingerprint: z.string(),
  agent_id: z.string(),
  run_id: z.string().nullable(),
  turn_id: z.string().nullable(),
  group_id: z.string().nullable(),
  labels: fields,
  created_at: time,
  updated_at: time,
  state_since: time,
  settled_at: time.nullable(),
  deadline_at: time,
  next_check_at: time.nullable(),
  attempts: z.array(attemptView),
  attempts_max: z.int(),
  retries: z.int(),
  probes: z.object({ answered: z.int(), failed: z.int(), last_at: time.nullable(), running: z.boolean() }),
  evidence: z.array(evidenceSummarySchema),
  cause: z.enum(CAUSES).nullable(),
  verdict: z.enum(VERDICTS).nullable(),
  reason: reason.nullable(),
  object_id: z.string().nullable(),
  output_error: z.string().nullable(),
  output_purged: z.boolean(),
  supersedes: z.string().nullable(),
  superseded_by: z.string().nullable(),
  compensates: z.string().nullable(),
  compensated_by: z.string().nullable(),
  repeats: z.string().nullable(),
  held_by: z.string().nullable(),
  approval_id: z.string().nullable(),
  duplicates: z.object({ count: z.int(), last_at: time.nullable() }),
})

export type OperationView = z.infer<typeof operationViewSchema>

/** `now` decides whether somebody is looking at this moment. */
export function operationView(operation: Operation, now: number): OperationView {
  const { probes, duplicates } = operation
  return {
    ...whoAndWhat(operation),
    state: operation.state,
    contradicted: operation.contradicted,
    restored: operation.restored !== null,
    version: operation.version,
    created_at: isoTime(operation.created_at),
    updated_at: isoTime(operation.updated_at),
    state_since: isoTime(operation.state_since),
    settled_at: isoTimeOrNull(operation.settled_at),
    deadline_at: isoTime(operation.deadline_at),
    next_check_at: isoTimeOrNull(operation.due_at),
    attempts: operation.attempts.map(viewAttempt),
    attempts_max: operation.attempts_max,
    retries: operation.retries,
    probes: {
      answered: probes.answered,
      failed: probes.failed,
      last_at: isoTimeOrNull(probes.last_at),
      running: probes.lease !== null && probes.lease.until > now,
    },
    evidence: operation.evidence.map(summariseEvidence),
    cause: operation.cause,
    verdict: operation.verdict,
    reason: operation.reason,
    object_id: operation.object?.object_id ?? null,
    output_error: operation.output_error,
    output_purged: operation.output_purged,
    duplicates: { count: duplicates.count, last_at: isoTimeOrNull(duplicates.last_at) },
  }
}

function whoAndWhat(operation: Operation) {
  return {
    operation_id: operation.operation_id,
    tenant: operation.tenant,
    tool: operation.tool,
    tool_version: operation.tool_version,
    safety: operation.safety,
    checkable: operation.checkable,
    idempotency_key: operation.key,
    key_kind: operation.key_kind,
    revision: operation.revision,
    identity: operation.identity,
    intent: operation.intent,
    resource: operation.resource,
    fingerprint: operation.fingerprint,
    agent_id: operation.agent_id,
    run_id: operation.run_id,
    turn_id: operation.turn_id,
    group_id: operation.group_id,
    labels: operation.labels,
    supersedes: operation.supersedes,
    superseded_by: operation.superseded_by,
    compensates: operation.compensates,
    compensated_by: operation.compensated_by,
    repeats: operation.repeats,
    held_by: operation.held_by,
    approval_id: operation.approval_id,
  }
}

function viewAttempt(attempt: Attempt): z.infer<typeof attemptView> {
  return {
    attempt: attempt.attempt,
    generation: attempt.generation,
    status: attempt.status,
    worker_id: attempt.worker_id,
    transport: attempt.transport,
    dispatched_at: isoTime(attempt.dispatched_at),
    send_before: isoTime(attempt.send_before),
    settled_at: isoTimeOrNull(attempt.settled_at),
    gone_at: isoTimeOrNull(attempt.gone_at),
    left: attempt.left,
    http_status: attempt.http_status ?? null,
    provider_request_id: attempt.provider_request_id ?? null,
    reason: attempt.reason ?? null,
  }
}
