/** The timeline: chained events, the stream over all of them, duplicates, notices, incidents. */
import { sha256, verifyChain } from "@invokejs/engine"
import type { Journal } from "@invokejs/engine"
import type { AuditEvent, Operation } from "@invokejs/protocol"
import assert from "node:assert/strict"

import type { ConformanceCase } from "./conformance-case.ts"
import type { Tampering } from "./journal-store.ts"
import { TENANT, admission, admitted, advance, draft, newOperation, written } from "./operation-records.ts"
import { waitFor } from "./wait-for.ts"

/** What is wrong with the operation's stored timeline. */
export async function faultsOf(journal: Journal, operation_id: string): Promise<readonly string[]> {
  const operation = await journal.operation(operation_id)
  assert.ok(operation)
  const events = await journal.events(operation_id, 0, 10_000)
  return verifyChain(operation, events, sha256).map(({ fault }) => fault)
}

async function movedThrice(journal: Journal): Promise<Operation> {
  let operation = await admitted(journal)
  for (const state of ["unknown", "needs_review", "succeeded"] as const) {
    operation = written(await journal.advance(advance(operation, { state }, journal.now())))
  }
  return operation
}

const chains: readonly ConformanceCase[] = [
  {
    name: "the events of an operation are one chain, and its head is in the row [AU-1] [AU-2]",
    run: async ({ journal }) => {
      const operation = await movedThrice(journal)
      const events = await journal.events(operation.operation_id, 0, 100)
      assert.deepEqual(
        events.map(({ seq, to }) => [seq, to]),
        [
          [1, "ready"],
          [2, "unknown"],
          [3, "needs_review"],
          [4, "succeeded"],
        ],
      )
      assert.deepEqual(await faultsOf(journal, operation.operation_id), [])
      assert.equal(events.at(-1)?.hash, operation.head_hash)
      const rest = await journal.events(operation.operation_id, 2, 1)
      assert.deepEqual(
        rest.map(({ seq }) => seq),
        [3],
      )
    },
  },
  {
    name: "several events of one write are chained in their order [AU-1]",
    run: async ({ journal }) => {
      const now = journal.now()
      const next = newOperation(now)
      const events = [
        draft("requested", null, "ready"),
        draft("ready", "ready", "ready"),
        draft("evidence", "ready", "ready"),
      ]
      const write = admission(next, now, { operation: { expect_version: 0, next, events } })
      const operation = written(await journal.admit(write))
      assert.equal(operation.seq, 3)
      const stored = await journal.events(next.operation_id, 0, 10)
      assert.deepEqual(
        stored.map(({ type }) => type),
        ["requested", "ready", "evidence"],
      )
      assert.deepEqual(await faultsOf(journal, next.operation_id), [])
    },
  },
  ...(["edit_event", "edit_data", "edit_actor", "drop_event", "drop_last_event"] as const).map(
    (how: Tampering): ConformanceCase => ({
      name: `a timeline that was falsified is seen (${how}) [AU-2] [R35]`,
      run: async ({ store, journal, open }) => {
        const operation = await movedThrice(journal)
        const untouched = await movedThrice(journal)
        await journal.close()
        store.tamper(operation.operation_id, how)
        const after = await open()
        assert.notDeepEqual(await faultsOf(after, operation.operation_id), [])
        assert.deepEqual(await faultsOf(after, untouched.operation_id), [])
      },
    }),
  ),
]

/** Everything in the stream, read in small steps. */
async function readStream(
  journal: Journal,
  after: string | null,
): Promise<{ events: AuditEvent[]; cursor: string | null }> {
  const events: AuditEvent[] = []
  let cursor = after
  for (;;) {
    const page = await journal.stream(cursor, 3)
    if (page.events.length === 0) return { events, cursor }
    events.push(...page.events)
    cursor = page.cursor
  }
}

const streams: readonly ConformanceCase[] = [
  {
    name: "the stream tells every event once, in the order of the commits, and goes on from its cursor [AU-1] [CS-1]",
    run: async ({ journal, open }) => {
      const other = await open()
      const first = await movedThrice(journal)
      const { events, cursor } = await readStream(journal, null)
      assert.equal(events.length, 4)
      const second = await movedThrice(other)
      const third = await admitted(journal)
      const rest = await readStream(other, cursor)
      assert.deepEqual(
        rest.events.map(({ operation_id }) => operation_id),
        [...Array<string>(4).fill(second.operation_id), third.operation_id],
      )
      assert.deepEqual(await readStream(journal, rest.cursor), { events: [], cursor: rest.cursor })
      assert.deepEqual(events, await journal.events(first.operation_id, 0, 10))
    },
  },
]

const duplicates: readonly ConformanceCase[] = [
  {
    name: "duplicates are counted on the timeline and make no change of the engine fail [AU-1]",
    run: async ({ journal }) => {
      const operation = await admitted(journal)
      for (let count = 0; count < 5; count += 1) journal.noteDuplicate(operation.operation_id, "agent:a")
      await waitFor("the duplicates are counted", async () => {
        return (await journal.operation(operation.operation_id))?.duplicates.count === 5
      })
      const noted = await journal.operation(operation.operation_id)
      assert.equal(noted?.version, operation.version)
      assert.ok((noted?.duplicates.last_at ?? 0) >= operation.created_at)
      const events = await journal.events(operation.operation_id, 1, 10)
      assert.deepEqual(
        events.map(({ type, actor, data }) => [type, actor, data]),
        [["duplicate_retry_blocked", "agent:a", { count: 5 }]],
      )
      const next = written(await journal.advance(advance(operation, { state: "cancelled" }, journal.now())))
      assert.equal(next.duplicates.count, 5)
      assert.equal(next.seq, 3)
      assert.deepEqual(await faultsOf(journal, operation.operation_id), [])
    },
  },
  {
    name: "an operation gets at most one event of duplicates a second, however many commits pass [AU-1]",
    run: async ({ journal }) => {
      const operation = await admitted(journal)
      for (let count = 0; count < 10; count += 1) {
        journal.noteDuplicate(operation.operation_id, "caller")
        await admitted(journal)
      }
      await waitFor("the duplicates are counted", async () => {
        return (await journal.operation(operation.operation_id))?.duplicates.count === 10
      })
      const events = await journal.events(operation.operation_id, 1, 20)
      for (const [index, event] of events.entries()) {
        const before = events[index - 1]
        if (before) assert.ok(event.at - before.at >= 900, "two events within a second")
      }
    },
  },
  {
    name: "a duplicate noted before the journal closes is not lost [AU-1]",
    run: async ({ journal, open }) => {
      const operation = await admitted(journal)
      journal.noteDuplicate(operation.operation_id, "caller")
      await journal.close()
      journal.noteDuplicate(operation.operation_id, "too late")
      assert.equal((await (await open()).operation(operation.operation_id))?.duplicates.count, 1)
    },
  },
]

const notices: readonly ConformanceCase[] = [
  {
    name: "listeners are told after a commit which operations it touched, and of another process's commit that there was one [R32]",
    run: async ({ journal, open }) => {
      const told: (readonly string[] | null)[] = []
      const stop = journal.subscribe((operation_ids) => told.push(operation_ids))
      const operation = await admitted(journal)
      assert.deepEqual(told, [[operation.operation_id]])
      const other = await open()
      await admitted(other)
      await waitFor("the other journal's commit is told", () => told.some((ids) => ids === null))
      const seen = told.length
      stop()
      await admitted(journal)
      assert.equal(told.length, seen)
    },
  },
]

const incidents: readonly ConformanceCase[] = [
  {
    name: "incidents are opened with a write or alone, found by their filters, and closed once by name [ST-5]",
    run: async ({ journal }) => {
      const operation = await admitted(journal)
      const { operation_id } = operation
      const draftOf = { kind: "late_positive", operation_id, detail: { ours: 1, theirs: 2 } } as const
      written(
        await journal.advance(advance(operation, { state: "needs_review" }, journal.now(), { incidents: [draftOf] })),
      )
      await journal.openIncident("other", { kind: "no_worker", operation_id: null, detail: {} })
      const [first, second] = await journal.incidents({})
      assert.ok(first && second)
      assert.deepEqual(
        [first.tenant, first.kind, first.operation_id, first.detail],
        [TENANT, ...Object.values(draftOf)],
      )
      assert.ok(first.opened_at >= operation.created_at)
      assert.deepEqual(await journal.incidents({ operation_id }), [first])
      assert.deepEqual(await journal.incidents({ tenant: "other" }), [second])
      await journal.closeIncident(first.incident_id, "operator:ann", "it was ours")
      await journal.closeIncident(first.incident_id, "operator:bob", "it was not")
      const [closed] = await journal.incidents({ open: false })
      assert.equal(closed?.closed_by, "operator:ann")
      assert.equal(closed?.resolution, "it was ours")
      assert.deepEqual(await journal.incidents({ open: true }), [second])
    },
  },
]

export const timelineCases: readonly ConformanceCase[] = [
  ...chains,
  ...streams,
  ...duplicates,
  ...notices,
  ...incidents,
]
