/** Purge of a journal in memory: settled operations become tombstones (protocol §2, R35). */
import { sha256, type PurgeResult } from "@invokejs/engine"
import { canonicalJson, isTerminal, type Json, type Operation } from "@invokejs/protocol"
import type { MemoryStore } from "./memory-store.ts"
import { preparedEvents, sealEvents } from "./seal-events.ts"

export function purgePayloads(
  store: MemoryStore,
  query: { readonly before: number; readonly tenant?: string; readonly limit: number },
  now: number,
): PurgeResult {
  const { rows } = store
  const old = [...rows.operations.values()]
    .filter(
      ({ operation_id, state, settled_at, tenant }) =>
        isTerminal(state) &&
        settled_at !== null &&
        settled_at < query.before &&
        !rows.purged.has(operation_id) &&
        (query.tenant === undefined || tenant === query.tenant),
    )
    .toSorted((a, b) => (a.settled_at ?? 0) - (b.settled_at ?? 0))
  const spokenFor = ({ operation_id, contradicted }: Operation) =>
    contradicted || rows.incidents.some((one) => one.operation_id === operation_id && one.closed_at === null)
  const purged = old.filter((one) => !spokenFor(one)).slice(0, query.limit)
  for (const operation of purged) purgeOne(store, operation, now)
  return { purged: purged.length, refused: old.filter(spokenFor).length }
}

function purgeOne(store: MemoryStore, operation: Operation, now: number): void {
  const { rows } = store
  const { operation_id, state, version, seq } = operation
  const emptied = (rows.timelines.get(operation_id) ?? []).map((event) => ({ ...event, data: { purged: true } }))
  rows.timelines.set(operation_id, emptied)
  for (const [index, event] of rows.events.entries()) {
    const known = event.operation_id === operation_id && emptied.find((one) => one.seq === event.seq)
    if (known) rows.events[index] = known
  }
  const draft = { type: "payload_purged", from: state, to: state, actor: "engine", data: { events: seq } } as const
  const head = sealEvents(store, operation, operation, preparedEvents(store, { events: [draft] }), now)
  rows.operations.set(operation_id, { ...tombstoneOf(operation), version: version + 1, ...head })
  rows.purged.add(operation_id)
}

function tombstoneOf(operation: Operation): Operation {
  const { params } = operation
  const named = params !== null && typeof params === "object" && !Array.isArray(params) ? params : { "": params }
  return {
    ...operation,
    params: { purged: digests(named as { readonly [name: string]: Json }) ?? {} },
    identity: digests(operation.identity),
    intent: digests(operation.intent),
    expectation: null,
    labels: {},
    evidence: [],
    seen: [],
    attempts: operation.attempts.map(({ reason: _reason, ...attempt }) => attempt),
    reason: operation.reason && { code: operation.reason.code, text: "" },
    output: null,
    output_error: null,
    output_purged: true,
  }
}

function digests(fields: { readonly [name: string]: Json } | null): { readonly [name: string]: string } | null {
  if (fields === null) return null
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, sha256(`simulated\n${name}\n${canonicalJson(value)}`)]),
  )
}
