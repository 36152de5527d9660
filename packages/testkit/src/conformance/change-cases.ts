/** Changes: compare-and-set, writes told twice, doubt, clocks, objects, rows of others, one bad write among good ones. */
import { CLOCK_TOLERANCE_MS } from "@invokejs/engine"
import type { AdmitWrite, WriteResult } from "@invokejs/engine"
import type { Operation } from "@invokejs/protocol"
import assert from "node:assert/strict"

import type { ConformanceCase } from "./conformance-case.ts"
import {
  TENANT,
  admission,
  admitted,
  advance,
  attemptUnder,
  changed,
  draft,
  newOperation,
  refusal,
  written,
} from "./operation-records.ts"

const MINUTE = 60_000

const compareAndSet: readonly ConformanceCase[] = [
  {
    name: "of many changes of one version one wins, across journals too [R5] [R18]",
    run: async ({ journal, open }) => {
      const other = await open()
      const operation = await admitted(journal)
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) => {
          const from = index % 2 === 0 ? journal : other
          return from.advance(advance(operation, { state: "cancelled", fingerprint: `${index}` }, from.now()))
        }),
      )
      const won = results.filter((result) => result.ok)
      assert.equal(won.length, 1)
      for (const result of results) {
        if (!result.ok) assert.deepEqual(result.conflict, { on: "operation", operation_id: operation.operation_id })
      }
      const stored = await other.operation(operation.operation_id)
      assert.equal(stored?.version, 2)
      assert.deepEqual(stored, won[0]?.ok ? won[0].operation : null)
      assert.equal((await journal.events(operation.operation_id, 0, 100)).length, 2)
    },
  },
  {
    name: "a write whose second operation has moved writes nothing of the first [R18]",
    run: async ({ journal }) => {
      const first = await admitted(journal)
      const second = await admitted(journal)
      written(await journal.advance(advance(second, { state: "expired" }, journal.now())))
      const now = journal.now()
      const also = [{ expect_version: 1, next: changed(second, { superseded_by: "x" }, now), events: [] }]
      const result = await journal.advance(advance(first, { state: "expired" }, now, { also }))
      assert.ok(!result.ok)
      assert.deepEqual(result.conflict, { on: "operation", operation_id: second.operation_id })
      assert.deepEqual(await journal.operation(first.operation_id), first)
      assert.equal((await journal.events(first.operation_id, 0, 10)).length, 1)
    },
  },
  {
    name: "an attempt enters the journal only under a lease [ST-1] [R14]",
    run: async ({ journal }) => {
      const operation = await admitted(journal)
      const now = journal.now()
      const lease = { worker_id: "nobody", lease_token: "none", until: now + MINUTE }
      const over = { state: "dispatched", attempts: [attemptUnder(lease, 1, now)] } as const
      await assert.rejects(journal.advance(advance(operation, over, now)))
      assert.deepEqual(await journal.operation(operation.operation_id), operation)
    },
  },
]

const toldTwice: readonly ConformanceCase[] = [
  {
    name: "a write told twice changes nothing the second time and is answered as the first [R23] [CS-9]",
    run: async ({ journal, open }) => {
      const now = journal.now()
      const write = admission(newOperation(now), now)
      const first = await journal.admit(write)
      const operation = written(first)
      const again = await (await open()).admit(write)
      assert.deepEqual(again, first)
      assert.equal((await journal.events(operation.operation_id, 0, 10)).length, 1)
      const change = advance(operation, { state: "cancelled" }, journal.now())
      const both = await Promise.all([journal.advance(change), journal.advance(change)])
      assert.deepEqual(both[0], both[1])
      assert.equal((await journal.operation(operation.operation_id))?.version, 2)
    },
  },
  {
    name: "a write told again after others moved the operation is answered with the operation as it is [R23]",
    run: async ({ journal }) => {
      const operation = await admitted(journal)
      const change = advance(operation, { state: "unknown" }, journal.now())
      const first = await journal.advance(change)
      written(await journal.advance(advance(written(first), { state: "needs_review" }, journal.now())))
      const again = await journal.advance(change)
      assert.ok(again.ok && first.ok)
      assert.equal(again.committed_at, first.committed_at)
      assert.equal(again.operation.state, "needs_review")
    },
  },
  {
    name: "whether a write took place is answered under the lock, and one that did not can still be made [R23] [CS-9]",
    run: async ({ journal, open }) => {
      const operation = await admitted(journal)
      const change = advance(operation, { state: "cancelled" }, journal.now())
      assert.equal(await journal.settled(change.event_id, operation.operation_id), null)
      const next = written(await journal.advance(change))
      assert.deepEqual(await (await open()).settled(change.event_id, operation.operation_id), next)
      assert.equal(await journal.settled("an event nobody wrote", operation.operation_id), null)
    },
  },
]

const clocks: readonly ConformanceCase[] = [
  {
    name: "a time too far from the journal's clock is refused, with the time that it is [R28]",
    run: async ({ journal }) => {
      const operation = await admitted(journal)
      for (const away of [-MINUTE, MINUTE]) {
        const result = await journal.advance(advance(operation, { state: "cancelled" }, journal.now() + away))
        assert.equal(refusal(result), "clock")
        assert.ok(!result.ok && Math.abs(result.now - journal.now()) <= CLOCK_TOLERANCE_MS)
      }
      const near = journal.now() - CLOCK_TOLERANCE_MS / 2
      written(await journal.advance(advance(operation, { state: "cancelled" }, near)))
    },
  },
  {
    name: "the journal never decides with an earlier time than it has seen, whatever a process's clock says [R28]",
    run: async ({ journal, open }) => {
      const ahead = await open({ wall_offset_ms: MINUTE })
      const operation = await admitted(ahead)
      const [event] = await ahead.events(operation.operation_id, 0, 1)
      const behind = await open({ wall_offset_ms: -MINUTE })
      assert.ok(behind.now() >= (event?.at ?? Infinity))
      const view = await journal.view({ tenant: TENANT, keys: [] })
      assert.ok(view.now >= (event?.at ?? Infinity))
      assert.ok(journal.now() >= (event?.at ?? Infinity))
      const result = await behind.advance(advance(operation, { state: "cancelled" }, behind.now()))
      assert.ok(result.ok && result.committed_at >= (event?.at ?? Infinity))
    },
  },
  {
    name: "a process that did not know of the others' time is told and goes on with it [R28]",
    run: async ({ journal, open }) => {
      const operation = await admitted(journal)
      await admitted(await open({ wall_offset_ms: MINUTE }))
      const result = await journal.advance(advance(operation, { state: "cancelled" }, journal.now()))
      assert.equal(refusal(result), "clock")
      written(await journal.advance(advance(operation, { state: "cancelled" }, journal.now())))
    },
  },
]

const objects: readonly ConformanceCase[] = [
  {
    name: "one object confirms one operation; the second is told whose it is, and nothing of it is written [RC-12] [R4]",
    run: async ({ journal }) => {
      const [first, second] = [await admitted(journal), await admitted(journal)]
      const object = { object_id: "ch_1", account: "acct", kind: "charge" }
      const confirm = (operation: Operation, account = "acct"): Promise<WriteResult> =>
        journal.advance(
          advance(operation, { state: "succeeded", object: { ...object, account } }, journal.now(), {
            objects: [{ ...object, account, tenant: TENANT, operation_id: operation.operation_id }],
          }),
        )
      const settled = written(await confirm(first))
      const result = await confirm(second)
      assert.ok(!result.ok)
      assert.deepEqual(result.conflict, { on: "object", object_id: "ch_1", operation_id: first.operation_id })
      assert.deepEqual(await journal.operation(second.operation_id), second)
      written(await confirm(settled))
      written(await confirm(second, "another account"))
      const claimed = [{ ...object, tenant: TENANT, operation_id: first.operation_id }]
      assert.deepEqual(await journal.confirmations(TENANT, [object], second.operation_id), claimed)
      assert.deepEqual(await journal.confirmations(TENANT, [object], first.operation_id), [])
      assert.deepEqual(await journal.confirmations("another tenant", [object], second.operation_id), [])
    },
  },
]

const rowsOfOthers: readonly ConformanceCase[] = [
  {
    name: "a row that others compare and set moves with the operation or not at all [CS-7]",
    run: async ({ journal }) => {
      const operation = await admitted(journal)
      const set = { table: "checkpoint", tenant: TENANT, id: "run-7", expect_version: 0, value: { step: 1 } } as const
      const next = written(
        await journal.advance(advance(operation, { state: "unknown" }, journal.now(), { sets: [set] })),
      )
      assert.equal((await journal.checkpoint(TENANT, "run-7"))?.version, 1)
      const stale = await journal.advance(advance(next, { state: "needs_review" }, journal.now(), { sets: [set] }))
      assert.ok(!stale.ok)
      assert.deepEqual(stale.conflict, { on: "set", table: "checkpoint", id: "run-7" })
      assert.equal((await journal.operation(operation.operation_id))?.version, 2)
      const gone = { ...set, expect_version: 1, value: null }
      written(await journal.advance(advance(next, { state: "needs_review" }, journal.now(), { sets: [gone] })))
      assert.equal(await journal.checkpoint(TENANT, "run-7"), null)
    },
  },
  {
    name: "a writer who read a row before it was deleted cannot take its successor for it [CS-7]",
    run: async ({ journal }) => {
      const put = (expect_version: number, value: string | null) =>
        admitted(journal, {}, { sets: [{ table: "checkpoint", tenant: TENANT, id: "run", expect_version, value }] })
      await put(0, "first")
      await put(1, null)
      await put(0, "second")
      const answer = await journal.putCheckpoint(TENANT, "run", 1, "late")
      assert.ok("conflict" in answer)
      assert.equal((await journal.checkpoint(TENANT, "run"))?.value, "second")
    },
  },
  {
    name: "a stale checkpoint is refused with the version that stands [CS-7]",
    run: async ({ journal, open }) => {
      const first = await journal.putCheckpoint(TENANT, "run", 0, { step: 1 })
      assert.ok(!("conflict" in first))
      assert.equal(first.version, 1)
      const second = await (await open()).putCheckpoint(TENANT, "run", 1, { step: 2 })
      assert.ok(!("conflict" in second))
      assert.deepEqual(await journal.putCheckpoint(TENANT, "run", 1, { step: 3 }), { conflict: true, version: 2 })
      assert.deepEqual(await journal.checkpoint(TENANT, "run"), second)
      assert.equal(await journal.checkpoint("another tenant", "run"), null)
    },
  },
]

/** Three ways to be bad: a state that is none, a second operation of another tenant, a slot that has moved. */
function spoilt(next: Operation, index: number, now: number): AdmitWrite {
  if (index === 5) return admission({ ...next, state: "no such state" as Operation["state"] }, now)
  if (index === 9) {
    const stranger = newOperation(now, { tenant: "another" })
    return admission(next, now, { also: [{ expect_version: 0, next: stranger, events: [] }] })
  }
  if (index !== 13) return admission(next, now)
  const slot = {
    tenant: TENANT,
    namespace: "n",
    intent_digest: "d",
    expect_version: 4,
    operation_id: next.operation_id,
  }
  return admission(next, now, { slots: [slot] })
}

const sharedCommits: readonly ConformanceCase[] = [
  {
    name: "bad writes among good ones of one moment fail alone, and nothing of them stays [R33]",
    run: async ({ journal }) => {
      const now = journal.now()
      const operations = Array.from({ length: 20 }, () => newOperation(now))
      const results = await Promise.allSettled(operations.map((next, index) => journal.admit(spoilt(next, index, now))))
      const good = results.map((result) => result.status === "fulfilled" && result.value.ok)
      assert.deepEqual(
        good.flatMap((ok, index) => (ok ? [] : [index])),
        [5, 9, 13],
      )
      const view = await journal.view({ tenant: TENANT, keys: operations.map(({ key }) => key) })
      assert.equal(Object.keys(view.chains).length, 17)
      for (const [index, { operation_id }] of operations.entries()) {
        assert.equal((await journal.operation(operation_id)) !== null, good[index])
        assert.equal((await journal.events(operation_id, 0, 10)).length, good[index] ? 1 : 0)
      }
    },
  },
  {
    name: "the record of an outcome is not lost over the fraction of a timer [R33]",
    run: async ({ journal }) => {
      const operation = await admitted(journal)
      const due_at = operation.created_at + 0.5
      const next = written(await journal.advance(advance(operation, { state: "unknown", due_at }, journal.now())))
      assert.deepEqual(await journal.operation(operation.operation_id), next)
      const answer = await journal.due({ now: operation.created_at, limit: 10, tools: [operation.tool] })
      assert.deepEqual(answer.due, [])
      assert.equal(answer.next_due_at, operation.created_at + 1)
    },
  },
  {
    name: "keys are told apart to the last character, and one that text cannot hold is refused [ID-11]",
    run: async ({ journal }) => {
      const keys = ["key", "KEY", "key ", "ke\u0301y", "k\u00e9y", "🔑"]
      const operations: Operation[] = []
      for (const key of keys) operations.push(await admitted(journal, { key }))
      const view = await journal.view({ tenant: TENANT, keys })
      assert.deepEqual(
        keys.map((key) => view.heads[key]?.operation_id),
        operations.map(({ operation_id }) => operation_id),
      )
      for (const key of ["half a pair \ud83d", "key\u0000", "key\u0000x"]) {
        await assert.rejects(admitted(journal, { key }))
        await assert.rejects(journal.view({ tenant: TENANT, keys: [key] }))
      }
    },
  },
  {
    name: "writes of one moment that want the same row are judged one after the other [R33] [R5]",
    run: async ({ journal }) => {
      const operation = await admitted(journal)
      const now = journal.now()
      const results = await Promise.all(
        Array.from({ length: 10 }, () => journal.advance(advance(operation, { state: "cancelled" }, now))),
      )
      assert.equal(results.filter((result) => result.ok).length, 1)
    },
  },
  {
    name: "an event and its operation are written together or not at all, whatever the event holds [R33] [R35]",
    run: async ({ journal }) => {
      const operation = await admitted(journal)
      const now = journal.now()
      const events = [
        draft("evidence", "ready", "ready", {
          text: 'Zoë \u2028 \\ " \n 𝒳',
          nested: { b: [1, 2.5e-7, null], a: true },
        }),
      ]
      const next = changed(operation, {}, now)
      const stored = written(
        await journal.advance({
          kind: "advance",
          event_id: "e1",
          at: now,
          operation: { expect_version: 1, next, events },
        }),
      )
      const [, event] = await journal.events(operation.operation_id, 0, 10)
      assert.deepEqual(event?.data, events[0]?.data)
      assert.equal(event?.hash, stored.head_hash)
    },
  },
]

export const changeCases: readonly ConformanceCase[] = [
  ...compareAndSet,
  ...toldTwice,
  ...clocks,
  ...objects,
  ...rowsOfOthers,
  ...sharedCommits,
]
