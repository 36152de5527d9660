/**
 * Turns the payloads of settled operations into tombstones (protocol §2, §12; R35).
 *
 * PU1. Never of anything non-terminal, contradicted, or with an open incident.
 * PU2. A tombstone keeps key, revision, state, times, provider keys, object ids, intent digest, fingerprint, and a keyed
 *      digest of each parameter, so that other parameters can still be named; payloads go.
 * PU3. The chain stays whole: events keep their digest and hash, and the purge is an event of its own.
 */
import { canonicalJson } from "@invokejs/protocol"
import type { Operation } from "@invokejs/protocol"

import { searchFields } from "./prepared-write.ts"
import { sealEvents } from "./seal-events.ts"
import { keyedDigest, sha256 } from "./sha256.ts"
import type { Outcome, Transaction } from "./transaction.ts"

export interface PurgeEntry {
  readonly before: number
  readonly tenant: string | null
  readonly limit: number
}

export interface PurgeReply {
  readonly purged: number
  readonly refused: number
  readonly operation_ids: readonly string[]
}

interface Candidate {
  readonly operation_id: string
  readonly tenant: string
  readonly version: number
  readonly state: Operation["state"]
  readonly seq: number
  readonly head_hash: string
  readonly body: string
}

const OLD = "terminal = 1 AND settled_at < ? AND purged_at IS NULL AND (? IS NULL OR tenant = ?)"
const SPOKEN_FOR =
  "(contradicted = 1 OR EXISTS (SELECT 1 FROM incidents AS i WHERE i.operation_id = operations.operation_id AND i.closed_at IS NULL))"

export function purgePayloads(txn: Transaction, { before, tenant, limit }: PurgeEntry): Outcome<PurgeReply> {
  const { db } = txn
  const key = db.get<{ digest_key: string }>("SELECT digest_key FROM meta WHERE id = 1")?.digest_key ?? ""
  const refused = db.get<{ n: number }>(
    `SELECT count(*) AS n FROM operations WHERE ${OLD} AND ${SPOKEN_FOR}`,
    ...[before, tenant, tenant],
  )
  const candidates = db.all<Candidate>(
    "SELECT operation_id, tenant, version, state, seq, head_hash, body FROM operations " +
      `WHERE ${OLD} AND NOT ${SPOKEN_FOR} ORDER BY settled_at LIMIT ?`,
    ...[before, tenant, tenant, limit],
  )
  for (const candidate of candidates) purgeOne(txn, candidate, key)
  return {
    wrote: true,
    value: {
      purged: candidates.length,
      refused: refused?.n ?? 0,
      operation_ids: candidates.map((c) => c.operation_id),
    },
  }
}

function purgeOne({ db, now }: Transaction, candidate: Candidate, key: string): void {
  const { operation_id, tenant, version, state } = candidate
  const operation = JSON.parse(candidate.body) as Operation
  const tombstone = tombstoneOf(operation, version + 1, key)
  db.run("UPDATE events SET data = NULL WHERE operation_id = ?", operation_id)
  const data = canonicalJson({ events: candidate.seq })
  const event = { type: "payload_purged", from: state, to: state, actor: "engine", data, data_digest: sha256(data) }
  const head = sealEvents(db, { operation_id, tenant }, candidate, [event], now)
  db.run(
    "UPDATE operations SET version = ?, purged_at = ?, seq = ?, head_hash = ?, body = ? WHERE operation_id = ?",
    ...[version + 1, now, head.seq, head.head_hash, JSON.stringify(tombstone), operation_id],
  )
  for (const [field, value] of searchFields(operation)) {
    db.run(
      "DELETE FROM operation_fields WHERE field = ? AND value = ? AND operation_id = ?",
      field,
      value,
      operation_id,
    )
  }
}

/** The operation without its payloads. What is left of a parameter is a digest that needs this journal's key. */
function tombstoneOf(operation: Operation, version: number, key: string): Operation {
  const digests = (fields: { readonly [name: string]: unknown } | null): { readonly [name: string]: string } | null =>
    fields &&
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, keyedDigest(key, `${name}\n${canonicalJson(value)}`)]),
    )
  const params = operation.params
  const named = params !== null && typeof params === "object" && !Array.isArray(params) ? params : { "": params }
  return {
    ...operation,
    version,
    params: { purged: digests(named as { readonly [name: string]: unknown }) ?? {} },
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
