// A function that exists, guarded: agents call it as often as they like, one invoice is paid once.
import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Invoke, InvokeError, id } from "@invokejs/invoke"

const folder = await mkdtemp(join(tmpdir(), "invoke-example-"))
const paid = []

/** The application's own function. Its list of payments stands for the outside system. */
async function payInvoice({ invoice_id, amount }) {
  if (amount > 1_000_000) throw new Error("the bank closed the connection")
  paid.push({ invoice_id, amount })
  return { payment: `pay_${paid.length}`, amount }
}

const invoke = await Invoke.open({ journal: join(folder, "invoke.db"), log: "error" })
const pay = invoke.guard(payInvoice, {
  name: "pay_invoice",
  identity: (p) => ({ invoice_id: id(p.invoice_id) }),
  applied: "returned",
})

// Ten agents at once, and one an hour later.
const answers = await Promise.all(Array.from({ length: 10 }, () => pay({ invoice_id: "84721", amount: 50_000 })))
answers.push(await pay({ invoice_id: "84721", amount: 50_000 }))
console.log(`eleven calls: ${new Set(answers.map(({ payment }) => payment)).size} payment`)
assert.deepEqual(paid, [{ invoice_id: "84721", amount: 50_000 }])

// The model changes the amount of a payment that was made.
const changed = await pay({ invoice_id: "84721", amount: 60_000 }).catch((error) => error)
console.log(`another amount: ${changed.code}, nothing ran: ${changed.nothingRan}`)
assert.ok(InvokeError.is(changed, "idempotency_key_reused"))

// The connection breaks, and there is no probe: a person must look.
const broken = await pay({ invoice_id: "84722", amount: 2_000_000 }).catch((error) => error)
console.log(`a broken connection: ${broken.code}, ${broken.result.status}, retry ${broken.result.retry}`)
assert.ok(InvokeError.is(broken, "unsettled"))
assert.equal(broken.result.final_outcome, "unknown")

assert.equal(paid.length, 1)
await invoke.close()
await rm(folder, { recursive: true })
