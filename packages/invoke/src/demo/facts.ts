/** The timeline of act 2 as the article writes it: operational facts, no reasoning. */
import { join } from "node:path"
import { Invoke } from "../index.ts"
import type { Narrator } from "./narrator.ts"
import { payInvoice } from "./payment-tools.ts"
import type { Stage } from "./stage.ts"

export async function showFacts(stage: Stage, say: Narrator, operation_id: string): Promise<void> {
  const invoke = await Invoke.open({
    journal: join(stage.folder, "act-2.db"),
    tools: [payInvoice(stage.toPayments.url)],
    log: "silent",
    reconcile: false,
  })
  const events = await invoke.timeline(operation_id)
  const operation = await invoke.operation(operation_id)
  const at = (type: string) => {
    const event = events.find((one) => one.type === type)
    return event ? new Date(event.at).toISOString().slice(11, 23) : "-"
  }
  const params = operation?.params as { invoice_id: string; amount: number }
  say.heading("The operation of act 2, as facts")
  say.fact("operation_id", operation_id)
  say.fact("invoice_id", params.invoice_id)
  say.fact("amount", String(params.amount / 100))
  say.fact("requested", at("requested"))
  say.fact("submitted", at("submitted"))
  say.fact("connection_lost", at("attempt_unknown"))
  say.fact("state_unknown", at("unknown"))
  say.fact("reconciliation", at("reconciliation_started"))
  say.fact("provider_result", `${at("provider_result")}  ${operation?.state === "succeeded" ? "SUCCESS" : "none"}`)
  say.fact("state_updated", `${at("state_updated")}  ${operation?.state ?? ""}`)
  const blocked = events.some((one) => one.type === "duplicate_retry_blocked")
  say.fact("duplicate_retry_blocked", String(blocked))
  say.check(blocked, "the timeline has the blocked duplicate")
  await invoke.close()
}
