/** Several real processes on one store: kills, stops, races. */
import assert from "node:assert/strict"

import type { ChildProcess } from "./child-process.ts"
import type { ConformanceCase } from "./conformance-case.ts"
import { TENANT, TOOL, admitted } from "./operation-records.ts"
import { faultsOf } from "./timeline-cases.ts"
import { waitFor } from "./wait-for.ts"

const ENOUGH = 100

/** The newest acknowledged version of each operation that the child told of. */
function acknowledged(child: ChildProcess): Map<string, number> {
  const versions = new Map<string, number>()
  for (const line of child.lines) {
    const [word, operation_id, version] = line.split(" ")
    if (word === "ack" && operation_id) versions.set(operation_id, Number(version))
  }
  return versions
}

const crashes: readonly ConformanceCase[] = [
  {
    name: "what was acknowledged before a kill is all there afterwards, and every chain is whole [CS-5] [ST-1]",
    run: async ({ journal, open, spawn }) => {
      await journal.close()
      for (let round = 1; round <= 3; round += 1) {
        const child = spawn("write_forever")
        await waitFor("the child has written", () => acknowledged(child).size >= ENOUGH * round)
        await child.kill()
        const after = await open()
        const versions = acknowledged(child)
        for (const [operation_id, version] of versions) {
          const stored = await after.operation(operation_id)
          assert.ok(stored && stored.version >= version, `${operation_id} was acknowledged at ${version}`)
          assert.deepEqual(await faultsOf(after, operation_id), [])
        }
        assert.equal(await after.quarantine(), null)
        await after.close()
      }
    },
  },
  {
    name: "two processes write to one store at once and lose nothing [CS-1] [R25]",
    run: async ({ journal, spawn }) => {
      const children = [spawn("write_forever"), spawn("write_forever")]
      for (let index = 0; index < 20; index += 1) await admitted(journal)
      await waitFor("both children have written", () => children.every((child) => acknowledged(child).size >= ENOUGH))
      for (const child of children) await child.kill()
      for (const child of children) {
        for (const [operation_id, version] of acknowledged(child)) {
          const stored = await journal.operation(operation_id)
          assert.ok(stored && stored.version >= version, `${operation_id} was acknowledged at ${version}`)
        }
      }
    },
  },
  {
    name: "processes that race for the same keys win each key once between them [ID-11] [CS-1] [R16]",
    run: async ({ journal, spawn }) => {
      const keys = Array.from({ length: 30 }, (_, index) => `raced-${index}`)
      const children = [spawn("race_for_keys", ...keys), spawn("race_for_keys", ...keys)]
      for (const child of children) assert.equal(await child.ended(), 0)
      const won = children.flatMap((child) => child.lines.filter((line) => line.startsWith("won ")))
      assert.equal(won.length, keys.length)
      assert.deepEqual(new Set(won.map((line) => line.split(" ")[1])), new Set(keys))
      const view = await journal.view({ tenant: TENANT, keys })
      for (const line of won) {
        const [, key, operation_id] = line.split(" ")
        assert.equal(view.heads[key ?? ""]?.operation_id, operation_id)
      }
    },
  },
]

const gone: readonly ConformanceCase[] = [
  {
    name: "a worker's process is proved gone after a kill, not while it lives, and not while it is stopped [CS-4] [item 10]",
    run: async ({ journal, spawn }) => {
      const child = spawn("hold_worker", "600000")
      const [worker_id = "", operation_id = ""] = (await child.line("worker")).split(" ")
      assert.equal(await journal.workers.gone(worker_id), null)
      child.signal("SIGSTOP")
      assert.equal(await journal.workers.gone(worker_id), null)
      child.signal("SIGCONT")
      assert.equal(await journal.workers.gone(worker_id), null)
      await child.kill()
      const proof = await journal.workers.gone(worker_id)
      assert.notEqual(proof, null)
      await journal.workers.markGone(worker_id, proof ?? "")
      const [row] = await journal.workers.list()
      assert.equal(row?.gone?.proof, proof)
      const { lapsed } = await journal.due({ now: journal.now(), limit: 10, tools: [TOOL] })
      assert.deepEqual(
        lapsed.map((operation) => operation.operation_id),
        [operation_id],
      )
    },
  },
  {
    name: "another process cannot take the id of a worker, dead or alive [CS-4] [R32]",
    run: async ({ journal, spawn }) => {
      const child = spawn("hold_worker", "600000")
      const [worker_id = ""] = (await child.line("worker")).split(" ")
      const take = () =>
        journal.workers.register({
          worker_id,
          lease_token: "another",
          host: "here",
          boot_id: "this boot",
          pid: 1,
          started_at: journal.now(),
          tools: [TOOL],
        })
      await assert.rejects(take())
      assert.equal(await journal.workers.gone(worker_id), null)
      await child.kill()
      await assert.rejects(take())
      assert.notEqual(await journal.workers.gone(worker_id), null)
    },
  },
]

export const processCases: readonly ConformanceCase[] = [...crashes, ...gone].map((one) => ({
  ...one,
  needs: "processes",
}))
