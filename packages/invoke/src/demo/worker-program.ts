/** The agent's process of act 3: opens the journal, makes the call (or waits for what an earlier process left), prints the result. */
import { Invoke } from "../index.ts"
import { payInvoice } from "./payment-tools.ts"

const [journal = "", url = "", mode = "call", params = "{}"] = process.argv.slice(2)
const invoke = await Invoke.open({ journal, tools: [payInvoice(url)], log: "silent", mode: "inline" })
if (mode === "call") {
  const result = await invoke.call({ tool: "billing.pay_invoice", params: JSON.parse(params) as unknown })
  process.stdout.write(`${JSON.stringify(result)}\n`)
} else {
  const { items } = await invoke.operations({ tool: "billing.pay_invoice" })
  for (const operation of items) process.stdout.write(`${JSON.stringify(await invoke.wait(operation.operation_id))}\n`)
}
await invoke.close()
