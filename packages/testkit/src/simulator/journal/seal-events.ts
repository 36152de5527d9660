/** Events on an operation's timeline, chained where the store seals them. */
import { sha256, type OperationChange } from "@invokejs/engine"
import { auditPreimage, canonicalJson, GENESIS_HASH, type AuditDraft, type Operation } from "@invokejs/protocol"
import { listAt, type MemoryStore } from "./memory-store.ts"

export interface PreparedEvent {
  readonly draft: AuditDraft
  readonly data_digest: string
}

/** Throws where an event's data is no JSON. */
export function preparedEvents(
  store: MemoryStore,
  { events }: Pick<OperationChange, "events">,
): readonly PreparedEvent[] {
  return events.map((draft) => ({ draft, data_digest: store.sealed ? sha256(canonicalJson(draft.data)) : "" }))
}

export function sealEvents(
  store: MemoryStore,
  { operation_id, tenant }: Pick<Operation, "operation_id" | "tenant">,
  stored: Pick<Operation, "seq" | "head_hash"> | null,
  events: readonly PreparedEvent[],
  now: number,
): { readonly seq: number; readonly head_hash: string } {
  const { rows } = store
  let seq = stored?.seq ?? 0
  let head_hash = stored?.head_hash ?? GENESIS_HASH
  const timeline = listAt(rows.timelines, operation_id)
  for (const { draft, data_digest } of events) {
    seq += 1
    const event = { ...draft, operation_id, tenant, seq, at: now, data_digest, prev_hash: head_hash }
    if (store.sealed) head_hash = sha256(auditPreimage(event))
    const sealed = { ...event, hash: head_hash }
    timeline.push(sealed)
    rows.events.push(sealed)
  }
  return { seq, head_hash }
}
