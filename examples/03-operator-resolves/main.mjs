// A mail through a provider that takes no key and answers no questions: Invoke asks a person, and does not guess.
import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Invoke, InvokeError, defineTool, id } from "@invokejs/invoke"
import { FaultProxy, startProvider } from "@invokejs/testkit"
import { z } from "zod"

const folder = await mkdtemp(join(tmpdir(), "invoke-example-"))
const mail = await startProvider("mail", { directory: join(folder, "mail"), settings: { api_key: "key_example" } })
const network = await FaultProxy.start({
  target: mail.url,
  script: [{ fault: { kind: "drop_answer", then: "rst" } }],
})

const sendReceipt = defineTool({
  name: "mail.send_receipt",
  safety: "irreversible",
  transport: "invoke",
  input: z.object({ to: z.string(), invoice_id: z.string() }),
  identity: (p) => ({ to: id(p.to), invoice_id: id(p.invoice_id) }),
  applied: "2xx",
  execute: async ({ params, fetch }) => {
    const answer = await fetch(`${network.url}/send`, {
      method: "POST",
      headers: { authorization: "Bearer key_example", "content-type": "application/json" },
      body: JSON.stringify({ to: params.to, subject: `Receipt ${params.invoice_id}`, body: "Paid. Thank you." }),
    })
    return await answer.json()
  },
})

const invoke = await Invoke.open({ journal: join(folder, "invoke.db"), tools: [sendReceipt], log: "error" })
const attention = new Promise((resolve) => invoke.on("attention", resolve))
const params = { to: "ap@acme.example", invoice_id: "84721" }

const result = await invoke.run("mail.send_receipt", params)
console.log(`the call: ${result.status}, ${result.final_outcome}, retry ${result.retry}`)
assert.equal(result.status, "needs_review")
assert.equal((await attention).operation_id, result.operation_id)

const again = await invoke.run("mail.send_receipt", params)
assert.equal(again.operation_id, result.operation_id)
assert.equal(again.status, "needs_review")

// A person asks the customer. Without evidence the word is refused.
const operator = invoke.operator({ name: "ada@example.com" })
const word = { to: "succeeded", reason: "the customer has the receipt" }
const bare = await operator.resolve(result.operation_id, { ...word, evidence: {} }).catch((error) => error)
console.log(`without evidence: ${bare.code}`)
assert.ok(InvokeError.is(bare, "illegal_transition"))

const resolved = await operator.resolve(result.operation_id, { ...word, evidence: { ticket: "SUP-1182" } })
console.log(`with evidence: ${resolved.status}, ${resolved.final_outcome}, cause ${resolved.cause}`)
assert.equal(resolved.final_outcome, "already_succeeded")
assert.equal(resolved.cause, "attested")

// The agent that was told unknown is told what was found; whoever asks after it is told a replay.
const told = await invoke.run("mail.send_receipt", params)
const later = await invoke.run("mail.send_receipt", params)
console.log(`the agent's next tries: ${told.status}, ${later.status}, retry ${later.retry}`)
assert.equal(told.status, "reconciled")
assert.equal(later.status, "replayed")

const mails = await mail.effects()
console.log(`mails in the provider's ledger: ${mails.length}`)
assert.equal(mails.length, 1)

await invoke.close()
await network.close()
await mail.stop()
await rm(folder, { recursive: true })
