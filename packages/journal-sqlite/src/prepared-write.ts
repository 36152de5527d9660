/**
 * A write as plain texts and numbers: what the writer needs, and cheap to hand to its thread.
 *
 * Owns: which columns an operation has beside its body. Must not: look at the database.
 */
import { canonicalJson, isTerminal } from "@invokejs/protocol"
import type { AuditDraft, IncidentDraft, Operation } from "@invokejs/protocol"
import type { JournalWrite, KeyRow, Lease, ObjectRow, OperationChange, SlotChange } from "@invokejs/engine"

import { sha256 } from "./sha256.ts"

export interface PreparedEvent {
  readonly type: string
  readonly from: string | null
  readonly to: string | null
  readonly actor: string
  readonly data: string
  readonly data_digest: string
}

export interface PreparedChange {
  readonly expect_version: number
  readonly operation_id: string
  readonly tenant: string
  readonly chain: string
  readonly revision: number
  readonly version: number
  readonly state: string
  readonly terminal: number
  readonly contradicted: number
  readonly tool: string
  readonly namespace: string
  readonly agent_id: string
  readonly run_id: string | null
  readonly held_by: string | null
  readonly match_digest: string | null
  readonly object_id: string | null
  readonly attempts: number
  readonly worker_id: string | null
  readonly lease_token: string | null
  readonly created_at: number
  readonly settled_at: number | null
  readonly due_at: number | null
  readonly body: string
  /** Identity and intent fields, for search; only where the operation is new. */
  readonly fields: readonly (readonly [field: string, value: string])[]
  readonly events: readonly PreparedEvent[]
}

export interface PreparedSet {
  readonly table: string
  readonly tenant: string
  readonly id: string
  readonly expect_version: number
  readonly value: string | null
}

export interface PreparedIncident {
  readonly incident_id: string
  readonly tenant: string
  readonly kind: string
  readonly operation_id: string | null
  readonly detail: string
}

export interface PreparedWrite {
  readonly write_kind: JournalWrite["kind"]
  readonly event_id: string
  readonly at: number
  readonly change: PreparedChange
  readonly also: readonly PreparedChange[]
  readonly slots: readonly SlotChange[]
  readonly objects: readonly ObjectRow[]
  readonly sets: readonly PreparedSet[]
  readonly incidents: readonly PreparedIncident[]
  readonly keys: readonly KeyRow[]
  readonly expect_revision: number | null
  readonly resource: { readonly resource: string; readonly expect_operation_id: string | null } | null
  readonly lease: Lease | null
}

/** `newId` makes the ids of incidents. Throws `NotJsonError`-like errors for what is not JSON: the entry fails alone. */
export function prepareWrite(write: JournalWrite, newId: () => string): PreparedWrite {
  const { next } = write.operation
  const { tenant } = next
  const keys = write.kind === "admit" ? write.keys : []
  const chain = chainOf(next, keys)
  return {
    write_kind: write.kind,
    event_id: write.event_id,
    at: write.at,
    change: prepareChange(write.operation, chain),
    also: (write.also ?? []).map((change) => prepareChange(change, change.next.key)),
    slots: write.slots ?? [],
    objects: write.objects ?? [],
    sets: (write.sets ?? []).map((set) => ({ ...set, value: set.value === null ? null : JSON.stringify(set.value) })),
    incidents: (write.incidents ?? []).map((draft) => prepareIncident(tenant, draft, newId())),
    keys,
    expect_revision: write.kind === "admit" ? write.expect_revision : null,
    resource: write.kind === "admit" ? (write.resource ?? null) : null,
    lease: write.kind === "advance" ? null : (write.lease ?? null),
  }
}

export function prepareIncident(tenant: string, draft: IncidentDraft, incident_id: string): PreparedIncident {
  const { kind, operation_id, detail } = draft
  return { incident_id, tenant, kind, operation_id, detail: canonicalJson(detail) }
}

/** The digest by which operations with an equal match find each other. */
export function matchDigest(operation: Operation): string | null {
  return operation.expectation === null ? null : sha256(canonicalJson(operation.expectation.match))
}

/** Identity and intent fields by which the operation is found; both are frozen at admission. */
export function searchFields(operation: Operation): readonly (readonly [field: string, value: string])[] {
  const pairs = [...Object.entries(operation.intent ?? {}), ...Object.entries(operation.identity ?? {})]
  return [...new Map(pairs.map((pair) => [JSON.stringify(pair), pair])).values()]
}

/** What the journal keeps in columns is not kept in the body a second time. */
function bodyOf(operation: Operation): string {
  const { seq: _seq, head_hash: _head, duplicates: _duplicates, ...body } = operation
  return JSON.stringify(body)
}

function chainOf(next: Operation, keys: readonly KeyRow[]): string {
  const chain = (keys.find((row) => row.key === next.key) ?? keys[0])?.chain ?? next.key
  for (const row of keys) {
    if (row.chain !== chain || row.tenant !== next.tenant) {
      throw new Error(`the keys of operation ${next.operation_id} name more than one chain or tenant`)
    }
  }
  return chain
}

function prepareChange({ expect_version, next, events }: OperationChange, chain: string): PreparedChange {
  const last = next.state === "dispatched" ? next.attempts.at(-1) : undefined
  return {
    expect_version,
    operation_id: next.operation_id,
    tenant: next.tenant,
    chain,
    revision: next.revision,
    version: next.version,
    state: next.state,
    terminal: isTerminal(next.state) ? 1 : 0,
    contradicted: next.contradicted ? 1 : 0,
    tool: next.tool,
    namespace: next.namespace,
    agent_id: next.agent_id,
    run_id: next.run_id,
    held_by: next.held_by,
    match_digest: expect_version === 0 ? matchDigest(next) : null,
    object_id: next.object?.object_id ?? null,
    attempts: next.attempts.length,
    worker_id: last?.worker_id ?? null,
    lease_token: last?.lease_token ?? null,
    // Columns hold whole ms. The record of an outcome must not be lost over the fraction of a timer.
    created_at: Math.floor(next.created_at),
    settled_at: next.settled_at === null ? null : Math.floor(next.settled_at),
    due_at: next.due_at === null ? null : Math.ceil(next.due_at),
    body: bodyOf(next),
    fields: expect_version === 0 ? searchFields(next) : [],
    events: events.map(prepareEvent),
  }
}

function prepareEvent({ type, from, to, actor, data }: AuditDraft): PreparedEvent {
  const text = canonicalJson(data)
  return { type, from, to, actor, data: text, data_digest: sha256(text) }
}
