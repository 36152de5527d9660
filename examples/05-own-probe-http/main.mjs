// A tool of your own for a ticket system without idempotency keys: the probe asks its list, and both kinds of loss settle.
import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Invoke, absent, defineTool, found, id } from "@invokejs/invoke"
import { FaultProxy, startProvider } from "@invokejs/testkit"
import { z } from "zod"

const folder = await mkdtemp(join(tmpdir(), "invoke-example-"))
// Its list is 300 ms behind: what was written a moment ago is not in it yet.
const LIST_LAG_MS = 300
const tickets = await startProvider("ticket", {
  directory: join(folder, "tickets"),
  settings: { api_key: "key_example", list_lag_ms: LIST_LAG_MS },
})
const network = await FaultProxy.start({ target: tickets.url })
const headers = { authorization: "Bearer key_example", "content-type": "application/json" }

const openTicket = defineTool({
  name: "tickets.open",
  safety: "write-once-checkable",
  transport: "invoke",
  input: z.object({ incident: z.string(), title: z.string() }),
  identity: (p) => ({ incident: id(p.incident) }),
  applied: "2xx",
  contract: {
    // What this system states about itself: a request takes at most a second, its list is at most 300 ms behind.
    lookup: { correlates: "operation", maxExecution: "1s", visibility: LIST_LAG_MS, spacing: "500ms" },
    effect: { method: "POST", path: "/tickets" },
  },
  execute: async ({ params, operationId, fetch }) => {
    // The operation's id travels in the field that the system keeps for its clients.
    const body = JSON.stringify({ title: params.title, external_ref: operationId })
    const answer = await fetch(`${network.url}/tickets`, { method: "POST", headers, body })
    return await answer.json()
  },
  probe: async ({ operationId, fetch }) => {
    const answer = await fetch(`${network.url}/tickets?external_ref=${operationId}`, { headers })
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
    const { data, next_cursor } = await answer.json()
    const [ticket] = data
    if (ticket === undefined) return absent({ complete: next_cursor === null })
    return found({ id: ticket.id, operationId, createdAt: ticket.created_at, state: ticket })
  },
  expect: (p) => ({ match: { title: p.title }, effect: { state: "open" } }),
})

const invoke = await Invoke.open({ journal: join(folder, "invoke.db"), tools: [openTicket], log: "error" })
const open = (incident) => invoke.run("tickets.open", { incident, title: `Incident ${incident}` })

network.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }])
const lostAnswer = await open("INC-1")
console.log(`the answer was lost:  ${lostAnswer.status}, attempt ${lostAnswer.attempt}, cause ${lostAnswer.cause}`)
assert.equal(lostAnswer.status, "reconciled")
assert.equal(lostAnswer.attempt, 1)

network.script([
  { match: { method: "POST" }, fault: { kind: "cut", direction: "request", at: { after_bytes: 40 }, by: "rst" } },
])
const lostRequest = await open("INC-2")
console.log(`the request was lost: ${lostRequest.status}, attempt ${lostRequest.attempt}`)
assert.equal(lostRequest.status, "succeeded")
assert.equal(lostRequest.attempt, 2)

const { attempts } = await invoke.operation(lostRequest.operation_id)
assert.deepEqual(
  attempts.map(({ status }) => status),
  ["disproved", "acknowledged"],
)

const made = await tickets.effects("ticket.created")
console.log(`tickets in the provider's ledger: ${made.length}`)
assert.equal(made.length, 2)

await invoke.close()
await network.close()
await tickets.stop()
await rm(folder, { recursive: true })
