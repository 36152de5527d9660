// A model makes up a new key and rewrites the note. The intent of the call is the same, so it does not go out.
import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Invoke, defineTool, id, minor } from "@invokejs/invoke"
import { z } from "zod"

const folder = await mkdtemp(join(tmpdir(), "invoke-example-"))
const charges = []
let finish = () => {}
const firstMayFinish = new Promise((resolve) => {
  finish = resolve
})

const chargeCustomer = defineTool({
  name: "billing.charge_customer",
  safety: "irreversible",
  input: z.object({ customer_id: z.string(), amount: z.int().positive(), note: z.string().optional() }),
  // No identity: callers bring a key. What makes two calls look like one action is the customer and the amount.
  intent: (p) => ({ customer: id(p.customer_id), amount: minor(p.amount, "usd") }),
  applied: "returned",
  execute: async ({ params }) => {
    charges.push(params)
    if (charges.length === 1) await firstMayFinish
    return { charge: `ch_${charges.length}` }
  },
})

const invoke = await Invoke.open({ journal: join(folder, "invoke.db"), tools: [chargeCustomer], log: "error" })
const charge = (idempotencyKey, note) =>
  invoke.call({
    tool: "billing.charge_customer",
    params: { customer_id: "cust_123", amount: 2400, note },
    idempotencyKey,
    wait: 0,
  })

const first = await charge("invoice:84721", "Invoice 84721")
const second = await charge("retry:9f31", "Second try, please pay ACME")
console.log(`while the first one runs: ${second.status}, retry ${second.retry}`)
assert.equal(second.status, "held")
assert.equal(second.held_by, first.operation_id)

finish()
const settled = await invoke.wait(first.operation_id)
const refused = await invoke.wait(second.operation_id)
console.log(
  `when the first one is settled: ${settled.final_outcome}; the second: ${refused.status}, ${refused.decision}`,
)
assert.ok(settled.ok)
assert.equal(refused.status, "refused")
assert.equal(charges.length, 1)

// The customer did buy twice. A person says so, and the repeat is an operation of its own.
const operator = invoke.operator({ name: "ada@example.com" })
const repeat = await operator.repeat(first.operation_id, { reason: "a second order, ORD-2231" })
const repeated = await invoke.wait(repeat.operation_id)
console.log(`a repeat on purpose: ${repeated.final_outcome}, ${charges.length} charges`)
assert.ok(repeated.ok)
assert.notEqual(repeated.operation_id, first.operation_id)
assert.equal(charges.length, 2)

await invoke.close()
await rm(folder, { recursive: true })
