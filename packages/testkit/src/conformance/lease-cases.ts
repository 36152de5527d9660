/** Leases: who may start attempts, until when, and what a lapse means. */
import type { DueAnswer, Journal, Lease, WriteResult } from "@invokejs/engine"
import { systemIds } from "@invokejs/engine"
import type { Operation } from "@invokejs/protocol"
import assert from "node:assert/strict"

import type { ConformanceCase } from "./conformance-case.ts"
import {
  TOOL,
  admission,
  admitted,
  advance,
  attemptUnder,
  dispatch,
  newOperation,
  refusal,
  registered,
  written,
} from "./operation-records.ts"
import { waitFor } from "./wait-for.ts"

const LONG_MS = 60_000
const SHORT_MS = 40

function send(journal: Journal, operation: Operation, lease: Lease, lease_ms = LONG_MS): Promise<WriteResult> {
  const now = journal.now()
  return journal.dispatch(dispatch(operation, { ...lease, until: now + lease_ms }, now))
}

async function lapse(journal: Journal): Promise<void> {
  const over = journal.now() + SHORT_MS
  await waitFor("the lease has lapsed", () => journal.now() > over)
}

function lookFor(journal: Journal): Promise<DueAnswer> {
  return journal.due({ now: journal.now(), limit: 100, tools: [TOOL] })
}

const ids = (operations: readonly Operation[]): string[] => operations.map(({ operation_id }) => operation_id)

const starting: readonly ConformanceCase[] = [
  {
    name: "a dispatch needs a registered worker with its own token [CS-3] [R32]",
    run: async ({ journal }) => {
      const operation = await admitted(journal)
      const stranger = { worker_id: "nobody", lease_token: "none", until: 0 }
      assert.equal(refusal(await send(journal, operation, stranger)), "lease")
      const lease = await registered(journal, 0)
      assert.equal(refusal(await send(journal, operation, { ...lease, lease_token: "stolen" })), "lease")
      assert.equal((await journal.operation(operation.operation_id))?.attempts.length, 0)
      const sent = written(await send(journal, operation, lease))
      assert.equal(sent.state, "dispatched")
      assert.deepEqual(await journal.operation(operation.operation_id), sent)
    },
  },
  {
    name: "an admission may be the first dispatch, under the same rules [ST-1] [CS-3]",
    run: async ({ journal }) => {
      const lease = await registered(journal, 0)
      const admitSent = (held: Lease): Promise<WriteResult> => {
        const now = journal.now()
        const attempts = [attemptUnder(held, 1, now)]
        const next = newOperation(now, { state: "dispatched", version: 2, attempts, due_at: now + LONG_MS })
        return journal.admit(admission(next, now, { lease: { ...held, until: now + LONG_MS } }))
      }
      assert.equal(refusal(await admitSent({ ...lease, lease_token: "stolen" })), "lease")
      assert.equal(written(await admitSent(lease)).attempts.length, 1)
      const [row] = await journal.workers.list()
      assert.ok((row?.lease_until ?? 0) > journal.now())
    },
  },
  {
    name: "a lapsed lease with an open attempt starts nothing more, and its operation is told as lapsed [CS-3] [R32]",
    run: async ({ journal }) => {
      const [first, second] = [await admitted(journal), await admitted(journal)]
      const lease = await registered(journal, 0)
      const sent = written(await send(journal, first, lease, SHORT_MS))
      assert.deepEqual(ids((await lookFor(journal)).lapsed), [])
      await lapse(journal)
      assert.deepEqual(ids((await lookFor(journal)).lapsed), [first.operation_id])
      assert.equal(refusal(await send(journal, second, lease)), "lease")
      assert.equal(await journal.workers.renew({ ...lease, until: journal.now() + LONG_MS }, journal.now()), false)
      const settled = written(await journal.advance(advance(sent, { state: "succeeded" }, journal.now())))
      assert.equal(settled.state, "succeeded")
    },
  },
  {
    name: "a lapsed lease without an open attempt is taken again by its own token [CS-3]",
    run: async ({ journal }) => {
      const [first, second] = [await admitted(journal), await admitted(journal)]
      const lease = await registered(journal, 0)
      const sent = written(await send(journal, first, lease, SHORT_MS))
      written(await journal.advance(advance(sent, { state: "succeeded" }, journal.now())))
      await lapse(journal)
      assert.equal(await journal.workers.renew({ ...lease, until: journal.now() + LONG_MS }, journal.now()), false)
      written(await send(journal, second, lease))
      assert.equal(await journal.workers.renew({ ...lease, until: journal.now() + LONG_MS }, journal.now()), true)
    },
  },
]

const holding: readonly ConformanceCase[] = [
  {
    name: "a lease that has not lapsed is renewed, only by its token, and a dispatch renews it too [CS-3]",
    run: async ({ journal }) => {
      const lease = await registered(journal, 0)
      written(await send(journal, await admitted(journal), lease))
      const until = journal.now() + 2 * LONG_MS
      assert.equal(await journal.workers.renew({ ...lease, lease_token: "stolen", until }, journal.now()), false)
      assert.equal(await journal.workers.renew({ ...lease, until }, journal.now()), true)
      const [row] = await journal.workers.list()
      assert.equal(row?.lease_until, until)
      written(await send(journal, await admitted(journal), lease, 3 * LONG_MS))
      const [later] = await journal.workers.list()
      assert.ok((later?.lease_until ?? 0) > until)
    },
  },
  {
    name: "a worker that registers anew has lost its former attempts to the reconcilers [R32] [CS-4]",
    run: async ({ journal }) => {
      const lease = await registered(journal, 0)
      const operation = written(await send(journal, await admitted(journal), lease))
      const { worker_id } = lease
      const place = { host: "here", boot_id: "this boot", pid: 1, started_at: journal.now(), tools: [TOOL] }
      const anew = { worker_id, lease_token: systemIds.token() }
      await journal.workers.register({ ...anew, ...place })
      assert.deepEqual(ids((await lookFor(journal)).lapsed), [operation.operation_id])
      assert.equal(refusal(await send(journal, await admitted(journal), lease)), "lease")
      written(await send(journal, await admitted(journal), { ...anew, until: 0 }))
    },
  },
  {
    name: "a worker with an open attempt is not closed; without one it is, and starts nothing more [CS-6]",
    run: async ({ journal }) => {
      const lease = await registered(journal, 0)
      const sent = written(await send(journal, await admitted(journal), lease))
      await journal.workers.close(lease.worker_id)
      assert.equal((await journal.workers.list())[0]?.closed_at, null)
      const [attempt] = sent.attempts
      assert.ok(attempt)
      const attempts = [{ ...attempt, status: "acknowledged", settled_at: journal.now() } as const]
      written(await journal.advance(advance(sent, { state: "succeeded", attempts }, journal.now())))
      await journal.workers.close(lease.worker_id)
      assert.notEqual((await journal.workers.list())[0]?.closed_at, null)
      assert.equal(refusal(await send(journal, await admitted(journal), lease)), "lease")
    },
  },
  {
    name: "a worker that somebody vouches is gone holds no lease, and its operations are told as lapsed [CS-4] [item 10]",
    run: async ({ journal }) => {
      const lease = await registered(journal, 0)
      const operation = written(await send(journal, await admitted(journal), lease))
      assert.equal(await journal.workers.gone(lease.worker_id), null)
      await journal.workers.markGone(lease.worker_id, "operator: the machine was scrapped")
      assert.equal(await journal.workers.gone(lease.worker_id), "operator: the machine was scrapped")
      assert.deepEqual(ids((await lookFor(journal)).lapsed), [operation.operation_id])
      assert.equal(refusal(await send(journal, await admitted(journal), lease)), "lease")
      assert.equal(await journal.workers.renew({ ...lease, until: journal.now() + LONG_MS }, journal.now()), false)
    },
  },
  {
    name: "nobody knows of a worker that never registered [item 10]",
    run: async ({ journal }) => {
      assert.equal(await journal.workers.gone("nobody"), null)
      assert.deepEqual(await journal.workers.list(), [])
    },
  },
]

export const leaseCases: readonly ConformanceCase[] = [...starting, ...holding]
