/** Admissions: keys, chains, slots, resources, and who wins when several want the same. */
import type { AdmitWrite, Journal, SlotName, WriteResult } from "@invokejs/engine"
import { systemIds } from "@invokejs/engine"
import type { Operation } from "@invokejs/protocol"
import assert from "node:assert/strict"

import type { ConformanceCase } from "./conformance-case.ts"
import {
  TENANT,
  TOOL,
  admission,
  admitted,
  changed,
  draft,
  newOperation,
  refusal,
  written,
} from "./operation-records.ts"

const SLOT: SlotName = { tenant: TENANT, namespace: TOOL, intent_digest: "a".repeat(64) }

function winners(results: readonly WriteResult[]): Operation[] {
  return results.flatMap((result) => (result.ok ? [result.operation] : []))
}

async function admitUnder(journal: Journal, key: string, over: Partial<AdmitWrite> = {}): Promise<WriteResult> {
  const now = journal.now()
  return journal.admit(admission(newOperation(now, { key }), now, over))
}

/** Admission of revision 2 of the chain of `old`, which it supersedes in the same transaction. */
function superseding(old: Operation, now: number): AdmitWrite {
  const next = newOperation(now, { key: old.key, revision: 2, supersedes: old.operation_id })
  const marked = changed(old, { superseded_by: next.operation_id }, now)
  const also = [{ expect_version: old.version, next: marked, events: [draft("superseded", old.state, marked.state)] }]
  return admission(next, now, { expect_revision: 1, also })
}

const whatIsWritten: readonly ConformanceCase[] = [
  {
    name: "an admission is there as it was written, with its keys, its view and its first event [ST-1] [AU-1]",
    run: async ({ journal }) => {
      const now = journal.now()
      const next = newOperation(now, { run_id: "run-1", labels: { team: "billing" } })
      const result = await journal.admit(admission(next, now))
      const operation = written(result)
      assert.ok(result.ok && result.committed_at >= now)
      assert.deepEqual({ ...operation, seq: 0, head_hash: "" }, next)
      assert.equal(operation.seq, 1)
      assert.deepEqual(await journal.operation(next.operation_id), operation)
      assert.deepEqual(await journal.revision(TENANT, next.key, 1), operation)
      const view = await journal.view({ tenant: TENANT, keys: [next.key, "unknown key"] })
      assert.deepEqual(view.chains, { [next.key]: next.key })
      assert.deepEqual(view.heads, { [next.key]: operation })
      const [event, ...others] = await journal.events(next.operation_id, 0, 10)
      assert.deepEqual(others, [])
      assert.equal(event?.hash, operation.head_hash)
      assert.equal(event?.at, result.ok ? result.committed_at : 0)
      assert.deepEqual(event?.data, { tool: TOOL, key: next.key })
    },
  },
  {
    name: "an admission that meets another chain under one of its keys leaves nothing behind [ID-12] [item 9]",
    run: async ({ journal }) => {
      const old = await admitted(journal, { key: "d:v1" })
      const now = journal.now()
      const next = newOperation(now, { key: "d:v2" })
      const keys = ["d:v2", "d:v1"].map((key) => ({ tenant: TENANT, key, chain: "d:v2", kind: "derived" as const }))
      const slots = [{ ...SLOT, expect_version: 0, operation_id: next.operation_id }]
      const result = await journal.admit(admission(next, now, { keys, slots }))
      assert.ok(!result.ok)
      assert.deepEqual(result.conflict, { on: "key", key: "d:v1" })
      assert.equal(await journal.operation(next.operation_id), null)
      const view = await journal.view({ tenant: TENANT, keys: ["d:v1", "d:v2"], slot: SLOT })
      assert.deepEqual(view.chains, { "d:v1": "d:v1" })
      assert.equal(view.slot, null)
      assert.deepEqual(await journal.events(next.operation_id, 0, 10), [])
      assert.deepEqual(await journal.operation(old.operation_id), old)
    },
  },
  {
    name: "an admission takes a row under every registered identity version, so a worker that knows only the old one collides [ID-12] [item 9]",
    run: async ({ journal }) => {
      const now = journal.now()
      const next = newOperation(now, { key: "d:v2" })
      const keys = ["d:v2", "d:v1"].map((key) => ({ tenant: TENANT, key, chain: "d:v2", kind: "derived" as const }))
      written(await journal.admit(admission(next, now, { keys })))
      assert.equal(refusal(await admitUnder(journal, "d:v1")), "key")
      const view = await journal.view({ tenant: TENANT, keys: ["d:v1"] })
      assert.equal(view.heads["d:v2"]?.operation_id, next.operation_id)
    },
  },
  {
    name: "one key stands for one chain in each tenant [ID-2]",
    run: async ({ journal }) => {
      const one = await admitted(journal, { key: "same", tenant: "a" })
      const other = await admitted(journal, { key: "same", tenant: "b" })
      assert.equal((await journal.revision("a", "same", 1))?.operation_id, one.operation_id)
      assert.equal((await journal.revision("b", "same", 1))?.operation_id, other.operation_id)
    },
  },
]

const races: readonly ConformanceCase[] = [
  {
    name: "of many admissions under one key at once one wins, across journals too [ID-11] [R33]",
    run: async ({ journal, open }) => {
      const other = await open()
      const results = await Promise.all(
        Array.from({ length: 40 }, (_, index) => admitUnder(index % 2 === 0 ? journal : other, "wanted")),
      )
      const [winner, ...more] = winners(results)
      assert.equal(more.length, 0)
      const lost = results.flatMap((result) => (result.ok ? [] : [result.conflict.on]))
      assert.deepEqual(new Set(lost), new Set(["revision"]))
      const view = await journal.view({ tenant: TENANT, keys: ["wanted"] })
      assert.equal(view.heads["wanted"]?.operation_id, winner?.operation_id)
    },
  },
  {
    name: "an alias joins its chain, and an alias of another chain is refused [item 26]",
    run: async ({ journal }) => {
      const first = await admitted(journal, { key: "chain" })
      const now = journal.now()
      const keys = ["chain", "alias"].map((key) => ({ tenant: TENANT, key, chain: "chain", kind: "explicit" as const }))
      const second = admission(newOperation(now, { key: "chain", revision: 2 }), now, { keys, expect_revision: 1 })
      written(await journal.admit(second))
      assert.equal(refusal(await admitUnder(journal, "alias")), "key")
      const view = await journal.view({ tenant: TENANT, keys: ["alias"] })
      assert.equal(view.chains["alias"], "chain")
      assert.equal(view.heads["chain"]?.revision, 2)
      assert.deepEqual(await journal.revision(TENANT, "chain", 1), first)
    },
  },
  {
    name: "of two that supersede one operation one wins, and the chain has one revision more [R18] [ID-12]",
    run: async ({ journal, open }) => {
      const other = await open()
      const old = await admitted(journal, { state: "not_applied", settled_at: 1, due_at: null })
      const now = journal.now()
      const results = await Promise.all([journal.admit(superseding(old, now)), other.admit(superseding(old, now))])
      const [winner, ...more] = winners(results)
      assert.equal(more.length, 0)
      const marked = await journal.operation(old.operation_id)
      assert.equal(marked?.superseded_by, winner?.operation_id)
      assert.equal((await journal.revision(TENANT, old.key, 2))?.operation_id, winner?.operation_id)
      assert.equal(await journal.revision(TENANT, old.key, 3), null)
    },
  },
  {
    name: "a revision that the decision did not know of is a conflict [R18]",
    run: async ({ journal }) => {
      await admitted(journal, { key: "chain" })
      const now = journal.now()
      const third = admission(newOperation(now, { key: "chain", revision: 3 }), now)
      assert.equal(refusal(await journal.admit(third)), "revision")
    },
  },
]

const slotsAndResources: readonly ConformanceCase[] = [
  {
    name: "two keys with one intent in the same instant: one takes the slot [R16] [ID-8]",
    run: async ({ journal, open }) => {
      const other = await open()
      const want = async (from: Journal, key: string): Promise<WriteResult> => {
        const now = from.now()
        const next = newOperation(now, { key, intent_digest: SLOT.intent_digest })
        return from.admit(
          admission(next, now, { slots: [{ ...SLOT, expect_version: 0, operation_id: next.operation_id }] }),
        )
      }
      const results = await Promise.all([
        want(journal, "k1"),
        want(other, "k2"),
        want(journal, "k3"),
        want(other, "k4"),
      ])
      const [winner, ...more] = winners(results)
      assert.equal(more.length, 0)
      for (const result of results) if (!result.ok) assert.equal(result.conflict.on, "slot")
      assert.deepEqual(await journal.slot(SLOT), { ...SLOT, operation_id: winner?.operation_id, version: 1 })
      const view = await journal.view({ tenant: TENANT, keys: [], slot: SLOT })
      assert.equal(view.holder?.operation_id, winner?.operation_id)
    },
  },
  {
    name: "a repeat consumes the slot's version: a chain, never a fan [R16] [ID-8]",
    run: async ({ journal }) => {
      const take = (expect_version: number): Promise<WriteResult> => {
        const next = newOperation(journal.now())
        const slots = [{ ...SLOT, expect_version, operation_id: next.operation_id }]
        return journal.admit(admission(next, journal.now(), { slots }))
      }
      written(await take(0))
      const repeats = await Promise.all([take(1), take(1), take(1)])
      assert.equal(winners(repeats).length, 1)
      assert.equal((await journal.slot(SLOT))?.version, 2)
      assert.equal(refusal(await take(1)), "slot")
    },
  },
  {
    name: "a slot that is emptied keeps its version [R16]",
    run: async ({ journal }) => {
      const first = newOperation(journal.now())
      const taken = { slots: [{ ...SLOT, expect_version: 0, operation_id: first.operation_id }] }
      written(await journal.admit(admission(first, journal.now(), taken)))
      const emptied = { slots: [{ ...SLOT, expect_version: 1, operation_id: null }] }
      written(await journal.admit(admission(newOperation(journal.now()), journal.now(), emptied)))
      assert.deepEqual(await journal.slot(SLOT), { ...SLOT, operation_id: null, version: 2 })
      const stale = { slots: [{ ...SLOT, expect_version: 0, operation_id: first.operation_id }] }
      assert.equal(refusal(await journal.admit(admission(newOperation(journal.now()), journal.now(), stale))), "slot")
    },
  },
  {
    name: "a resource knows its last admitted write, and a decision made before it is a conflict [R18]",
    run: async ({ journal }) => {
      const resource = "customer/1/tier"
      const write = (expect_operation_id: string | null): Promise<WriteResult> => {
        const next = newOperation(journal.now(), { resource })
        return journal.admit(admission(next, journal.now(), { resource: { resource, expect_operation_id } }))
      }
      const first = written(await write(null))
      assert.equal(await journal.resourceWriter(TENANT, resource), first.operation_id)
      assert.equal(refusal(await write(null)), "resource")
      const second = written(await write(first.operation_id))
      const view = await journal.view({ tenant: TENANT, keys: [], resource })
      assert.equal(view.resource_writer, second.operation_id)
      assert.equal(await journal.resourceWriter("another tenant", resource), null)
    },
  },
  {
    name: "identical ids of two admissions never make two rows [CS-1]",
    run: async ({ journal }) => {
      const operation_id = systemIds.operation(journal.now())
      await admitted(journal, { operation_id })
      const again = newOperation(journal.now(), { operation_id, key: "another key" })
      const result = await journal.admit(admission(again, journal.now()))
      assert.ok(!result.ok)
      assert.deepEqual(result.conflict, { on: "operation", operation_id })
    },
  },
]

export const admissionCases: readonly ConformanceCase[] = [...whatIsWritten, ...races, ...slotsAndResources]
