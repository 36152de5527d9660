/**
 * The birth of an operation: admission, policy and the first real state are one step (protocol §4).
 *
 * Owns: the first record. Nothing persisted is merely "proposed".
 *
 * PR1. A newcomer to an unresolved holder of its intent slot is `held`; to a settled one `refused` (ID-8).
 * PR2. The first record carries everything later attempts and probes need, frozen.
 */
import { DEFAULTS } from "./defaults.ts"
import { isTerminal } from "./state.ts"
import type { AuditDraft } from "./audit-event.ts"
import type { Json } from "./canonical-json.ts"
import type { Contract } from "./contract.ts"
import type { Expectation } from "./evidence.ts"
import type { KeyKind, Operation, Reason } from "./operation.ts"
import type { SafetyClass } from "./state.ts"
import type { Step, TransitionContext } from "./transition/step.ts"

export interface Proposal {
  readonly operation_id: string
  readonly tenant: string
  readonly tool: string
  readonly tool_version: string
  readonly namespace: string
  readonly safety: SafetyClass
  readonly checkable: boolean
  readonly key: string
  readonly key_kind: KeyKind
  readonly revision: number
  readonly identity_version: string
  readonly identity: { readonly [field: string]: string } | null
  readonly intent: { readonly [field: string]: string } | null
  readonly intent_digest: string | null
  readonly fingerprint: string
  readonly params: Json
  readonly expectation: Expectation | null
  readonly resource: string | null
  readonly contract: Contract
  readonly agent_id: string
  readonly run_id: string | null
  readonly turn_id: string | null
  readonly group_id: string | null
  readonly labels: { readonly [name: string]: string }
  readonly retry_on_repeat: boolean
  readonly supersedes: string | null
  readonly repeats: string | null
  readonly compensates: string | null
}

/** What admission decided about the first state. */
export type Admission =
  | { readonly kind: "ready" }
  | { readonly kind: "held"; readonly by: string; readonly reason: Reason }
  /** Policy asks first; the request is persisted in the same transaction (§8). */
  | {
      readonly kind: "awaiting_approval"
      readonly approval_id: string
      readonly expires_at: number
      readonly reason: Reason
    }
  | { readonly kind: "refused"; readonly reason: Reason; readonly holder: string | null }

export function propose(proposal: Proposal, admission: Admission, context: TransitionContext): Step {
  const { now } = context
  const state = admission.kind
  const terminal = isTerminal(state)
  const deadline = now + proposal.contract.deadline_ms
  const next: Operation = {
    ...proposal,
    state,
    version: 1,
    created_at: now,
    updated_at: now,
    settled_at: terminal ? now : null,
    state_since: now,
    deadline_at: deadline,
    due_at: terminal ? null : firstDue(admission, now, deadline),
    attempts: [],
    generation: 0,
    generation_started_at: {},
    evidence: [],
    seen: [],
    seen_version: null,
    looked_before: false,
    probes: { answered: 0, failed: 0, lease: null, last_at: null },
    retries: 0,
    attempts_max: proposal.contract.attempts,
    unsent_since: null,
    output: null,
    output_error: null,
    output_purged: false,
    object: null,
    cause: null,
    verdict: null,
    reason: admission.kind === "ready" ? null : admission.reason,
    contradicted: false,
    barred: false,
    restored: null,
    durable: true,
    superseded_by: null,
    compensated_by: null,
    compensation_settled: false,
    held_by: admission.kind === "held" ? admission.by : admission.kind === "refused" ? admission.holder : null,
    approval_id: admission.kind === "awaiting_approval" ? admission.approval_id : null,
    workflow: null,
    duplicates: { count: 0, last_at: null },
    told: false,
    seq: 0,
    head_hash: "",
  }
  return { ok: true, next, events: firstEvents(next, admission, context.actor), incidents: [] }
}

function firstDue(admission: Admission, now: number, deadline: number): number {
  if (admission.kind === "held") return Math.min(now + DEFAULTS.hold_for_ms, deadline)
  return admission.kind === "awaiting_approval" ? Math.min(admission.expires_at, deadline) : now
}

function firstEvents(operation: Operation, admission: Admission, actor: string): AuditDraft[] {
  const requested: AuditDraft = {
    type: "requested",
    from: null,
    to: operation.state,
    actor,
    data: {
      tool: operation.tool,
      tool_version: operation.tool_version,
      key: operation.key,
      revision: operation.revision,
      ...(operation.identity ? { identity: operation.identity } : {}),
      ...(operation.supersedes ? { supersedes: operation.supersedes } : {}),
      ...(operation.repeats ? { repeats: operation.repeats } : {}),
      fingerprint: operation.fingerprint,
    },
  }
  if (admission.kind === "ready") return [requested]
  if (admission.kind === "awaiting_approval") {
    const { approval_id, expires_at, reason } = admission
    const data = { approval_id, expires_at, code: reason.code, text: reason.text }
    return [requested, { type: "approval_requested", from: null, to: operation.state, actor, data }]
  }
  const holder = admission.kind === "held" ? admission.by : admission.holder
  return [
    requested,
    {
      type: admission.kind,
      from: null,
      to: operation.state,
      actor,
      data: { code: admission.reason.code, text: admission.reason.text, holder },
    },
  ]
}

/**
 * Whether the operation fills its intent slot at `now` (protocol §2): unresolved, succeeded inside the window, accepted,
 * closed without an answer, or contradicted. What is held for another's slot does not; what is held because its effect was
 * found in place (`exists_already`) had taken the slot before, and keeps it.
 */
export function fillsSlot(
  operation: Operation,
  now: number,
  repeatWindow: number = DEFAULTS.repeat_window_ms,
): boolean {
  if (operation.contradicted) return true
  if (operation.state === "held") return operation.held_by === null
  if (!isTerminal(operation.state)) return true
  if (operation.state === "closed_unknown") return true
  if (operation.state !== "succeeded" || operation.compensation_settled) return false
  return now - (operation.settled_at ?? now) < repeatWindow
}
