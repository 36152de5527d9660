/** Purge and quarantine: what a journal forgets on purpose, and what it does when it forgot by accident. */
import type { Journal } from "@invokejs/engine"
import type { Operation } from "@invokejs/protocol"
import assert from "node:assert/strict"

import type { ConformanceCase } from "./conformance-case.ts"
import {
  TENANT,
  admission,
  admitted,
  advance,
  dispatch,
  draft,
  newOperation,
  refusal,
  registered,
  written,
} from "./operation-records.ts"
import { faultsOf } from "./timeline-cases.ts"

async function settledNow(journal: Journal, over: Partial<Operation> = {}): Promise<Operation> {
  const operation = await admitted(journal)
  const now = journal.now()
  const write = advance(operation, { state: "succeeded", output: { secret: "output" }, ...over }, now)
  const events = [draft("acknowledged", operation.state, write.operation.next.state, { secret: "event" })]
  return written(await journal.advance({ ...write, operation: { ...write.operation, events } }))
}

function purgeAll(journal: Journal) {
  return journal.purge({ before: journal.now() + 60_000, limit: 100 })
}

const purges: readonly ConformanceCase[] = [
  {
    name: "a purged operation is a tombstone: its payloads are gone, its key, state, times, objects and chain are not [ID-9] [R35]",
    run: async ({ journal, open }) => {
      const object = { object_id: "ch_1", account: "acct", kind: "charge" }
      const operation = await settledNow(journal, { object })
      assert.deepEqual(await purgeAll(journal), { purged: 1, refused: 0 })
      const tombstone = await (await open()).operation(operation.operation_id)
      assert.ok(tombstone)
      const stays = [
        "key",
        "revision",
        "state",
        "settled_at",
        "created_at",
        "object",
        "fingerprint",
        "intent_digest",
      ] as const
      for (const field of stays) assert.deepEqual(tombstone[field], operation[field], field)
      assert.equal(tombstone.output, null)
      assert.equal(tombstone.output_purged, true)
      assert.equal(tombstone.version, operation.version + 1)
      const everything = JSON.stringify([tombstone, await journal.events(operation.operation_id, 0, 100)])
      assert.ok(!everything.includes("ünïcode") && !everything.includes("secret"))
      assert.deepEqual(await faultsOf(journal, operation.operation_id), [])
      assert.equal((await journal.events(operation.operation_id, 0, 100)).at(-1)?.type, "payload_purged")
      assert.deepEqual(await purgeAll(journal), { purged: 0, refused: 0 })
    },
  },
  {
    name: "a purged key is never new work [ID-9]",
    run: async ({ journal }) => {
      const operation = await settledNow(journal)
      await purgeAll(journal)
      const again = newOperation(journal.now(), { key: operation.key })
      assert.equal(refusal(await journal.admit(admission(again, journal.now()))), "revision")
      const view = await journal.view({ tenant: TENANT, keys: [operation.key] })
      assert.equal(view.heads[operation.key]?.operation_id, operation.operation_id)
      const found = await journal.operations(
        { where: { field: "invoice", value: operation.operation_id } },
        { limit: 10 },
      )
      assert.deepEqual(found.items, [])
    },
  },
  {
    name: "nothing open, contradicted or with an open incident is purged, nor what settled later [R35]",
    run: async ({ journal }) => {
      const open = await admitted(journal, { state: "needs_review" })
      const contradicted = await settledNow(journal, { state: "failed", contradicted: true })
      const spoken = await settledNow(journal)
      const draftOf = { kind: "double_effect", operation_id: spoken.operation_id, detail: {} } as const
      await journal.openIncident(TENANT, draftOf)
      assert.deepEqual(await purgeAll(journal), { purged: 0, refused: 2 })
      for (const operation of [open, contradicted, spoken]) {
        assert.deepEqual(await journal.operation(operation.operation_id), operation)
      }
      const [incident] = await journal.incidents({ open: true })
      await journal.closeIncident(incident?.incident_id ?? "", "operator", "seen")
      assert.deepEqual(await journal.purge({ before: open.created_at - 1, limit: 10 }), { purged: 0, refused: 0 })
      assert.deepEqual(await journal.purge({ before: journal.now() + 1, tenant: "another", limit: 10 }), {
        purged: 0,
        refused: 0,
      })
      assert.deepEqual(await purgeAll(journal), { purged: 1, refused: 1 })
    },
  },
  {
    name: "a purge stops at its limit and goes on with the next one [CS-8]",
    run: async ({ journal }) => {
      for (let index = 0; index < 5; index += 1) await settledNow(journal)
      const before = journal.now() + 60_000
      const purged: number[] = []
      for (let index = 0; index < 3; index += 1) purged.push((await journal.purge({ before, limit: 2 })).purged)
      assert.deepEqual(purged, [2, 2, 1])
    },
  },
  {
    name: "a change decided before a purge does not bring the payload back [R35] [ST-5]",
    run: async ({ journal }) => {
      const operation = await settledNow(journal, { state: "failed" })
      await purgeAll(journal)
      const late = advance(operation, { contradicted: true }, journal.now())
      assert.equal(refusal(await journal.advance(late)), "operation")
      const tombstone = await journal.operation(operation.operation_id)
      assert.ok(tombstone)
      written(await journal.advance(advance(tombstone, { contradicted: true }, journal.now())))
      assert.equal((await journal.operation(operation.operation_id))?.output, null)
    },
  },
]

const quarantines: readonly ConformanceCase[] = [
  {
    name: "a journal that may have gone back in time dispatches nothing until it is lifted, and does everything else [R24] [CS-9]",
    run: async ({ store, journal, open }) => {
      assert.equal(await journal.quarantine(), null)
      const before = await admitted(journal)
      const { incarnation, name, journal_id } = journal.identity
      await journal.close()
      store.forgetIncarnation()
      const after = await open()
      const quarantine = await after.quarantine()
      assert.ok(quarantine && quarantine.since > 0 && quarantine.reason !== "")
      assert.notEqual(after.identity.incarnation, incarnation)
      assert.deepEqual([after.identity.name, after.identity.journal_id], [name, journal_id])
      const lease = await registered(after, after.now() + 60_000)
      assert.equal(refusal(await after.dispatch(dispatch(before, lease, after.now()))), "quarantine")
      const sending = admission(newOperation(after.now()), after.now(), { lease })
      assert.equal(refusal(await after.admit(sending)), "quarantine")
      const operation = await admitted(after)
      written(await after.advance(advance(operation, { state: "cancelled" }, after.now())))
      assert.deepEqual(await (await open()).quarantine(), quarantine)
      await assert.rejects(after.liftQuarantine("operator:ann", " "))
      await after.liftQuarantine("operator:ann", "nothing was lost: the sibling file was deleted by hand")
      assert.equal(await after.quarantine(), null)
      written(await after.dispatch(dispatch(before, { ...lease, until: after.now() + 60_000 }, after.now())))
    },
  },
  {
    name: "a journal that is closed and opened again is no other journal [R24]",
    run: async ({ journal, open }) => {
      const { identity } = journal
      const operation = await admitted(journal)
      await journal.close()
      await assert.rejects(journal.operation(operation.operation_id), { code: "journal_closed" })
      await assert.rejects(admitted(journal), { code: "journal_closed" })
      const again = await open()
      assert.deepEqual(again.identity, identity)
      assert.equal(await again.quarantine(), null)
      assert.deepEqual(await again.operation(operation.operation_id), operation)
    },
  },
]

export const retentionCases: readonly ConformanceCase[] = [...purges, ...quarantines]
