// The article's charge: Stripe charges, the acknowledgement is lost, the agent tries again. One charge.
import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stripeTools } from "@invokejs/connectors/stripe"
import { Invoke } from "@invokejs/invoke"
import { FaultProxy, startProvider } from "@invokejs/testkit"

const folder = await mkdtemp(join(tmpdir(), "invoke-example-"))
// A process that behaves like Stripe, and a network that drops the answer of the first charge.
const stripe = await startProvider("stripe", {
  directory: join(folder, "stripe"),
  settings: { api_key: "sk_test_example" },
})
const network = await FaultProxy.start({
  target: stripe.url,
  script: [{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }],
})

const invoke = await Invoke.open({
  journal: join(folder, "invoke.db"),
  tools: stripeTools({ apiKey: "sk_test_example", baseUrl: network.url }),
  log: "error",
})
const charge = () =>
  invoke.call({
    tool: "stripe.charge_customer",
    params: { customer_id: "cust_123", amount: 2400 },
    agentId: "billing-agent",
    idempotencyKey: "charge:cust_123:2400",
  })

const result = await charge()
console.log(`the call:  ${result.status}, ${result.final_outcome}, retry ${result.retry}`)
assert.equal(result.status, "reconciled")
assert.equal(result.final_outcome, "already_succeeded")
assert.equal(result.retry, "blocked")

const again = await charge()
console.log(`the retry: ${again.status}, ${again.final_outcome}, retry ${again.retry}`)
assert.equal(again.status, "replayed")

const charges = await stripe.effects("charge.created")
console.log(`charges in the provider's ledger: ${charges.length}`)
assert.equal(charges.length, 1)

await invoke.close()
await network.close()
await stripe.stop()
await rm(folder, { recursive: true })
