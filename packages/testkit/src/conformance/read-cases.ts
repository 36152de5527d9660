/** Reads: what is due, who is asked about, lists and their pages. */
import type { Journal, OperationFilter } from "@invokejs/engine"
import type { Expectation, Operation } from "@invokejs/protocol"
import assert from "node:assert/strict"

import type { ConformanceCase } from "./conformance-case.ts"
import { TENANT, TOOL, admitted, advance, written } from "./operation-records.ts"

const ids = (operations: readonly Operation[]): string[] => operations.map(({ operation_id }) => operation_id)

async function listed(journal: Journal, filter: OperationFilter): Promise<string[]> {
  return ids((await journal.operations(filter, { limit: 100 })).items).sort()
}

const due: readonly ConformanceCase[] = [
  {
    name: "operations whose time has come are told oldest first, and when the next one is due [ST-7]",
    run: async ({ journal }) => {
      const now = journal.now()
      const later = await admitted(journal, { due_at: now - 10 })
      const first = await admitted(journal, { due_at: now - 30 })
      await admitted(journal, { due_at: now + 5_000 })
      await admitted(journal, { due_at: now + 3_000 })
      await admitted(journal, { due_at: null, state: "expired", settled_at: now })
      const answer = await journal.due({ now, limit: 10, tools: [TOOL] })
      assert.deepEqual(ids(answer.due), [first.operation_id, later.operation_id])
      assert.deepEqual(answer.lapsed, [])
      assert.equal(answer.next_due_at, now + 3_000)
      assert.equal(answer.waiting_for_tool, 0)
      assert.equal((await journal.due({ now, limit: 1, tools: [TOOL] })).due.length, 1)
    },
  },
  {
    name: "due operations of tools that this worker cannot run are counted, not told [ST-7]",
    run: async ({ journal }) => {
      const now = journal.now()
      await admitted(journal, { tool: "elsewhere", due_at: now - 1 })
      await admitted(journal, { tool: "elsewhere", due_at: now + 1_000 })
      const mine = await admitted(journal, { due_at: now - 1 })
      const answer = await journal.due({ now, limit: 10, tools: [TOOL] })
      assert.deepEqual(ids(answer.due), [mine.operation_id])
      assert.equal(answer.waiting_for_tool, 1)
      assert.equal(answer.next_due_at, null)
      assert.equal((await journal.due({ now, limit: 10, tools: [] })).waiting_for_tool, 2)
    },
  },
]

const MATCH: Expectation["match"] = { customer: { op: "equals", to: { type: "id", value: "c1" } } } as never

const lists: readonly ConformanceCase[] = [
  {
    name: "every filter of the list finds its operations and no others",
    run: async ({ journal }) => {
      const base = { agent_id: "agent-1", run_id: "run-1", tool: "alpha" }
      const one = await admitted(journal, { ...base, identity: { invoice: "84721" }, key: "k1" })
      const two = await admitted(journal, { tenant: "other", intent: { customer: "cust_1" } })
      const three = written(
        await journal.advance(advance(await admitted(journal), { state: "needs_review" }, journal.now())),
      )
      const four = written(
        await journal.advance(advance(await admitted(journal), { state: "failed", contradicted: true }, journal.now())),
      )
      const expected: readonly (readonly [OperationFilter, readonly Operation[]])[] = [
        [{}, [one, two, three, four]],
        [{ tenant: "other" }, [two]],
        [{ states: ["needs_review", "failed"] }, [three, four]],
        [{ states: [] }, []],
        [{ tool: "alpha" }, [one]],
        [{ agent_id: "agent-1" }, [one]],
        [{ run_id: "run-1" }, [one]],
        [{ key: "k1" }, [one]],
        [{ key: "unknown" }, []],
        [{ where: { field: "invoice", value: "84721" } }, [one]],
        [{ where: { field: "customer", value: "cust_1" } }, [two]],
        [{ where: { field: "customer", value: "84721" } }, []],
        [{ contradicted: true }, [four]],
        [{ contradicted: false, tenant: TENANT }, [one, three]],
        [{ created_before: one.created_at }, []],
        [{ created_before: journal.now() + 1_000, tool: TOOL, states: ["ready"] }, [two]],
      ]
      for (const [filter, operations] of expected) {
        assert.deepEqual(await listed(journal, filter), ids(operations).sort(), JSON.stringify(filter))
      }
    },
  },
  {
    name: "the pages of a list hold every operation once, newest first, also while others are admitted",
    run: async ({ journal }) => {
      const operations: Operation[] = []
      for (let index = 0; index < 7; index += 1) operations.push(await admitted(journal))
      const told: string[] = []
      let cursor: string | null = null
      do {
        const page = await journal.operations({ tool: TOOL }, cursor === null ? { limit: 3 } : { limit: 3, cursor })
        told.push(...ids(page.items))
        cursor = page.next_cursor
        await admitted(journal)
      } while (cursor !== null)
      assert.deepEqual(told, ids(operations).reverse())
    },
  },
  {
    name: "operations held because of another are found while they are held [ID-8]",
    run: async ({ journal }) => {
      const holder = await admitted(journal)
      const held = await admitted(journal, { state: "held", held_by: holder.operation_id })
      await admitted(journal, { state: "refused", held_by: holder.operation_id, settled_at: 1, due_at: null })
      assert.deepEqual(ids(await journal.heldBy(holder.operation_id)), [held.operation_id])
      written(await journal.advance(advance(held, { state: "ready", held_by: null }, journal.now())))
      assert.deepEqual(await journal.heldBy(holder.operation_id), [])
    },
  },
  {
    name: "rivals are the tool's other operations with an equal match that are open, or succeeded or were closed without an object [RC-12] [item 7]",
    run: async ({ journal }) => {
      const expectation: Expectation = { match: MATCH, effect: {}, invariant: {} }
      const other: Expectation = { ...expectation, match: { ...MATCH, more: MATCH["customer"] } as never }
      const asking = await admitted(journal, { expectation })
      assert.equal(await journal.rivals(asking), 0)
      const open = await admitted(journal, { expectation })
      const closed = await admitted(journal, { expectation, state: "closed_unknown", due_at: null, settled_at: 1 })
      const unnamed = await admitted(journal, { expectation, state: "succeeded", due_at: null, settled_at: 1 })
      const object = { object_id: "o", account: "a", kind: "charge" }
      await admitted(journal, { expectation, state: "succeeded", object, due_at: null, settled_at: 1 })
      await admitted(journal, { expectation, state: "failed", due_at: null, settled_at: 1 })
      await admitted(journal, { expectation: other })
      await admitted(journal, { expectation, tenant: "another" })
      await admitted(journal, { expectation, namespace: "another", tool: "another" })
      assert.equal(await journal.rivals(asking), 3)
      written(await journal.advance(advance(open, { state: "expired" }, journal.now())))
      written(await journal.advance(advance(unnamed, { object }, journal.now())))
      written(await journal.advance(advance(closed, { state: "not_applied" }, journal.now())))
      assert.equal(await journal.rivals(asking), 0)
      assert.equal(await journal.rivals(await admitted(journal)), 0)
    },
  },
  {
    name: "what another journal on the store committed is read at once [CS-1]",
    run: async ({ journal, open }) => {
      const other = await open()
      for (let index = 0; index < 20; index += 1) {
        const operation = await admitted(index % 2 === 0 ? journal : other)
        const reader = index % 2 === 0 ? other : journal
        assert.deepEqual(await reader.operation(operation.operation_id), operation)
      }
    },
  },
  {
    name: "what is not there is null, and no error [CS-1]",
    run: async ({ journal }) => {
      const slot = { tenant: TENANT, namespace: "n", intent_digest: "d" }
      assert.equal(await journal.operation("none"), null)
      assert.equal(await journal.revision(TENANT, "none", 1), null)
      assert.equal(await journal.slot(slot), null)
      assert.equal(await journal.resourceWriter(TENANT, "none"), null)
      assert.equal(await journal.checkpoint(TENANT, "none"), null)
      assert.deepEqual(await journal.events("none", 0, 10), [])
      assert.deepEqual(await journal.incidents({}), [])
      assert.deepEqual((await journal.operations({}, { limit: 10 })).items, [])
      const view = await journal.view({ tenant: TENANT, keys: ["none"], slot, resource: "none" })
      const { now, ...rest } = view
      assert.ok(now > 0)
      assert.deepEqual(rest, { chains: {}, heads: {}, slot: null, holder: null, resource_writer: null })
    },
  },
]

export const readCases: readonly ConformanceCase[] = [...due, ...lists]
