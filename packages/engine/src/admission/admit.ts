/**
 * Admission: the operation's id is durable before anything may happen (protocol §2, §4).
 *
 * Owns: the loop view → decide → write, the rows of keys, slot and resource, and the first dispatch in the same commit.
 * Must not: wait for anybody's outcome.
 *
 * AM1. One business action has one operation: the unique rows decide between racers, never the order of arrival here.
 * AM2. A commit in doubt is answered as such; the same call again is safe. What it dispatched, if it did, never started (R23).
 * AM3. A verb names the version it saw: it is refused where that operation, or the chain, has moved on.
 */
import {
  canonicalJson,
  InvokeError,
  needsLookBefore,
  propose,
  transition,
  type Operation,
  type Step,
} from "@invokejs/protocol"
import {
  JournalError,
  type AdmissionView,
  type AdmitWrite,
  type KeyRow,
  type Lease,
  type OperationChange,
} from "../ports/journal.ts"
import type { EngineContext } from "../engine-context.ts"
import { isInDoubt, settleDoubt } from "../operation-writer.ts"
import { clockAnchor, dispatchEvent, type Anchor } from "../dispatch/dispatch-record.ts"
import { tellNeverStarted } from "../dispatch/never-started.ts"
import { parseStored } from "../stored-params.ts"
import type { CallRequest } from "./call-request.ts"
import { decideAdmission, type Decision, type Special } from "./decide.ts"

export type Admitted =
  | {
      readonly how: "admitted"
      readonly operation: Operation
      readonly dispatched: { readonly anchor: Anchor; readonly committed_at: number } | null
    }
  | { readonly how: "joined" | "replayed"; readonly operation: Operation }
  | { readonly how: "retry"; readonly operation: Operation }
  | { readonly how: "in_doubt"; readonly operation: Operation }

const ROUNDS_MAX = 64

export async function admit(
  context: EngineContext,
  request: CallRequest,
  special: Special & { readonly actor: string; readonly compensates?: string; readonly dispatch_now?: boolean },
): Promise<Admitted> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const view = await context.journal.view({
      tenant: request.tenant,
      keys: request.keys,
      ...(request.intent_digest === null
        ? {}
        : {
            slot: { tenant: request.tenant, namespace: request.tool.namespace, intent_digest: request.intent_digest },
          }),
      ...(request.resource === null ? {} : { resource: request.resource }),
    })
    checkSeen(request, view, special)
    const decision = await decideAdmission(request, view, (stored) => sameWhenParsed(request, stored), special)
    if (decision.kind === "admit") {
      const written = await write(context, request, view, decision, special)
      if (written) return written
      continue
    }
    return known(context, request, decision)
  }
  throw new JournalError("overloaded", "the action's rows changed with every look at them")
}

/** AM3. */
function checkSeen(request: CallRequest, view: AdmissionView, { supersedes: old }: Special): void {
  if (!old) return
  const chain = request.keys.map((key) => view.chains[key]).find((one) => one !== undefined)
  const head = chain === undefined ? undefined : view.heads[chain]
  if (!head || (head.operation_id === old.operation_id && head.version === old.version)) return
  const moved = head.operation_id === old.operation_id
  throw new InvokeError(moved ? "version_conflict" : "supersedes_refused", {
    happened: moved
      ? `operation ${old.operation_id} is at version ${head.version}, not ${old.version}`
      : `operation ${old.operation_id} is superseded: ${head.operation_id} is the newest revision of its key`,
    detail: { operation_id: head.operation_id, version: head.version, state: head.state },
  })
}

async function known(
  context: EngineContext,
  request: CallRequest,
  decision: Exclude<Decision, { kind: "admit" }>,
): Promise<Admitted> {
  switch (decision.kind) {
    case "join":
      return { how: "joined", operation: decision.operation }
    case "replay":
      return { how: "replayed", operation: decision.operation }
    case "retry":
      return { how: "retry", operation: decision.operation }
    case "older":
      return { how: "replayed", operation: await olderRevision(context, request, decision) }
    case "reused":
      throw reused(decision)
  }
}

/** An older revision's parameters get that revision's fact (and the newest id, which its row carries). */
async function olderRevision(
  context: EngineContext,
  request: CallRequest,
  { chain, head }: Extract<Decision, { kind: "older" }>,
): Promise<Operation> {
  for (let revision = head.revision - 1; revision >= 1; revision -= 1) {
    const operation = await context.journal.revision(request.tenant, chain, revision)
    if (!operation) continue
    if (operation.fingerprint === request.fingerprint || (await sameWhenParsed(request, operation.params)))
      return operation
  }
  throw reused({ kind: "reused", holder: head, fields: [], why: "the parameters differ from every revision" })
}

function reused({ holder, fields, why }: Extract<Decision, { kind: "reused" }>): InvokeError {
  return new InvokeError("idempotency_key_reused", {
    happened: `this key belongs to ${holder.operation_id} (${holder.tool}): ${why}${fields.length > 0 ? ` in ${fields.join(", ")}` : ""}`,
    detail: { operation_id: holder.operation_id, tool: holder.tool, differing_fields: [...fields] },
  })
}

async function sameWhenParsed(request: CallRequest, stored: Operation["params"]): Promise<boolean> {
  const result = await parseStored(request.tool, stored)
  if (!result.ok) return false
  try {
    return canonicalJson(result.value) === canonicalJson(request.parsed)
  } catch {
    return false
  }
}

async function write(
  context: EngineContext,
  request: CallRequest,
  view: AdmissionView,
  decision: Extract<Decision, { kind: "admit" }>,
  special: Special & { readonly actor: string; readonly compensates?: string; readonly dispatch_now?: boolean },
): Promise<Admitted | null> {
  const now = context.journal.now()
  const operation_id = context.ids.operation(now)
  const step = propose(
    {
      ...recordOf(request),
      operation_id,
      key: decision.chain,
      revision: decision.revision,
      supersedes: special.supersedes?.operation_id ?? null,
      repeats: special.repeats?.operation_id ?? null,
      compensates: special.compensates ?? null,
    },
    decision.admission,
    { now, unit: context.random.unit(), actor: special.actor },
  )
  const also = supersededChange(special, operation_id, now, context.random.unit())
  const anchor = clockAnchor(context.clock)
  const first = special.dispatch_now === false ? null : await firstDispatch(context, request, step, now)
  const last = first?.step ?? step
  const event_id = context.ids.event()
  const admission: AdmitWrite = {
    kind: "admit",
    event_id,
    at: now,
    operation: { expect_version: 0, next: last.next, events: [...step.events, ...(first?.step.events ?? [])] },
    ...rowsTaken(request, view, decision, operation_id),
    ...(also ? { also: [also] } : {}),
    ...(first ? { lease: first.lease } : {}),
  }
  try {
    const result = await settleDoubt(context, event_id, operation_id, now, () => context.journal.admit(admission))
    if (result.ok) {
      if (first) context.worker.granted(first.lease)
      return {
        how: "admitted",
        operation: result.operation,
        dispatched: first ? { anchor, committed_at: result.committed_at } : null,
      }
    }
    if (result.conflict.on === "lease" && first) context.worker.renounce(first.lease)
    if (result.conflict.on === "quarantine")
      return await write(context, request, view, decision, { ...special, dispatch_now: false })
    return null
  } catch (error) {
    if (!isInDoubt(error)) throw error
    if (first) tellNeverStarted(context, { operation_id, attempt: 1, event_id })
    return { how: "in_doubt", operation: last.next }
  }
}

/** The unique rows that decide between racers (AM1): names of the chain, its newest revision, slot, resource. */
function rowsTaken(
  request: CallRequest,
  view: AdmissionView,
  decision: Extract<Decision, { kind: "admit" }>,
  operation_id: string,
): Pick<AdmitWrite, "keys" | "expect_revision" | "slots" | "resource"> {
  const { tenant, intent_digest, resource } = request
  const slot = { tenant, namespace: request.tool.namespace, expect_version: view.slot?.version ?? 0, operation_id }
  const writes = resource !== null && decision.admission.kind !== "refused"
  return {
    keys: keyRows(request, decision.chain),
    expect_revision: decision.revision - 1,
    ...(decision.take_slot && intent_digest !== null ? { slots: [{ ...slot, intent_digest }] } : {}),
    ...(writes ? { resource: { resource, expect_operation_id: view.resource_writer } } : {}),
  }
}

/** Attempt 1 in the same commit, where nothing has to be looked at first. */
async function firstDispatch(
  context: EngineContext,
  request: CallRequest,
  step: Step,
  now: number,
): Promise<{ step: Step; lease: Lease } | null> {
  if (step.next.state !== "ready" || needsLookBefore(step.next) || context.draining()) return null
  if (context.faulty.has(request.tool)) return null
  const lease = await context.worker.lease(now)
  const event = dispatchEvent(context, step.next, request.tool, lease)
  const dispatched = transition(step.next, event, { now, unit: 0, actor: `worker:${lease.worker_id}` })
  return dispatched.ok ? { step: dispatched, lease } : null
}

/** The part of the record that the request itself says. */
export function recordOf(request: CallRequest) {
  const { tool, identity } = request
  return {
    tenant: request.tenant,
    tool: tool.name,
    tool_version: tool.version,
    namespace: tool.namespace,
    safety: tool.safety,
    checkable: tool.checkable,
    key_kind: request.key_kind,
    identity_version: identity?.version ?? "",
    identity: identity?.fields ?? null,
    intent: request.intent,
    intent_digest: request.intent_digest,
    fingerprint: request.fingerprint,
    params: request.params,
    expectation: tool.expect(request.parsed, { identity }),
    resource: request.resource,
    contract: tool.contract,
    agent_id: request.agent_id,
    run_id: request.run_id,
    turn_id: request.turn_id,
    group_id: request.group_id,
    labels: request.labels,
    retry_on_repeat: request.retry_on_repeat,
  }
}

function keyRows(request: CallRequest, chain: string): readonly KeyRow[] {
  return [...new Set([...request.keys, chain])].map((key) => ({
    tenant: request.tenant,
    key,
    chain,
    kind: request.key_kind,
  }))
}

function supersededChange(
  special: Special & { readonly actor: string },
  by: string,
  now: number,
  unit: number,
): OperationChange | null {
  if (!special.supersedes) return null
  const step = transition(special.supersedes, { type: "superseded", by }, { now, unit, actor: special.actor })
  if (!step.ok)
    throw new InvokeError("supersedes_refused", {
      happened: step.text,
      detail: { operation_id: special.supersedes.operation_id },
    })
  return { expect_version: special.supersedes.version, next: step.next, events: step.events }
}
