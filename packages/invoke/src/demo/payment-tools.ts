/**
 * The demo's tools: an invoice paid through a Stripe-shaped provider, and a mail that nobody can look up.
 *
 * Their windows are short so that the demo ends in seconds. A real provider's are minutes: see docs/concepts/reconciliation.
 */
import { absent, defineTool, found, outcome, type InvokeFetch } from "@invokejs/engine"
import { id, minor } from "@invokejs/protocol"
import { z } from "zod"

const KEY = "sk_test_demo"
const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/x-www-form-urlencoded" }

interface Charge {
  readonly id: string
  readonly amount: number
  readonly created: number
  readonly status: string
  readonly metadata: { readonly invoice?: string; readonly operation_id?: string }
}

const invoice = z.object({
  invoice_id: z.string(),
  customer_id: z.string(),
  /** In cents. */
  amount: z.int().positive(),
  note: z.string().optional(),
})
type Invoice = z.infer<typeof invoice>

const lookup = {
  correlates: "operation",
  consistency: "bounded",
  maxExecution: "300ms",
  visibility: "100ms",
  spacing: "200ms",
} as const

export function chargeBody(params: Invoice, operation_id?: string): string {
  return new URLSearchParams({
    amount: String(params.amount),
    currency: "usd",
    customer: params.customer_id,
    description: params.note ?? `invoice ${params.invoice_id}`,
    "metadata[invoice]": params.invoice_id,
    ...(operation_id === undefined ? {} : { "metadata[operation_id]": operation_id }),
  }).toString()
}

async function charge(fetch: InvokeFetch, url: string, params: Invoice, operation_id: string) {
  const answer = await fetch(`${url}/v1/charges`, { method: "POST", headers, body: chargeBody(params, operation_id) })
  const made = (await answer.json()) as Charge
  return { charge: made.id, amount: made.amount }
}

async function findCharge(fetch: InvokeFetch, url: string, params: Invoice, operation_id: string) {
  const answer = await fetch(`${url}/v1/charges?customer=${params.customer_id}&limit=100`, { headers })
  if (!answer.ok) throw new Error(`the provider answered ${answer.status}`)
  const { data, has_more } = (await answer.json()) as { data: Charge[]; has_more: boolean }
  const ours = data.find((one) => one.metadata.operation_id === operation_id)
  if (!ours) return absent({ complete: !has_more })
  return found({
    id: ours.id,
    operationId: operation_id,
    state: { invoice: ours.metadata.invoice, amount: ours.amount, currency: "usd", paid: ours.status === "succeeded" },
  })
}

/** Pays one invoice. Its identity is the invoice: a repeat is the same action, whatever the model calls it. */
export function payInvoice(url: string) {
  return defineTool({
    name: "billing.pay_invoice",
    safety: "write-once-checkable",
    transport: "invoke",
    input: invoice,
    identity: (p) => ({ invoice: id(p.invoice_id) }),
    applied: "2xx",
    timeout: "2s",
    contract: { lookup, effect: { method: "POST", path: "/v1/charges" } },
    execute: ({ params, fetch, operationId }) => charge(fetch, url, params, operationId),
    probe: ({ params, fetch, operationId }) => findCharge(fetch, url, params, operationId),
    expect: (p) => ({ match: { invoice: id(p.invoice_id) }, effect: { paid: true }, invariant: { amount: p.amount } }),
  })
}

/** The same payment without a declared identity: the caller brings a key, and the intent guards against a made-up one. */
export function chargeCustomer(url: string) {
  return defineTool({
    name: "billing.charge_customer",
    safety: "write-once-checkable",
    transport: "invoke",
    input: invoice,
    intent: (p) => ({ customer: id(p.customer_id), amount: minor(p.amount, "usd") }),
    applied: "2xx",
    timeout: "2s",
    contract: { lookup, effect: { method: "POST", path: "/v1/charges" } },
    execute: ({ params, fetch, operationId }) => charge(fetch, url, params, operationId),
    probe: ({ params, fetch, operationId }) => findCharge(fetch, url, params, operationId),
    expect: (p) => ({ match: { invoice: id(p.invoice_id) }, effect: { paid: true }, invariant: { amount: p.amount } }),
  })
}

/** A mail through a provider that takes no key and cannot be asked. */
export function sendMail(url: string) {
  return defineTool({
    name: "mail.send_receipt",
    safety: "irreversible",
    transport: "invoke",
    input: z.object({ to: z.string(), invoice_id: z.string() }),
    identity: (p) => ({ to: id(p.to), invoice: id(p.invoice_id) }),
    applied: "outcome",
    timeout: "2s",
    execute: async ({ params, fetch }) => {
      const answer = await fetch(`${url}/send`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
        body: JSON.stringify({ to: params.to, subject: `Receipt ${params.invoice_id}`, body: "Paid." }),
      })
      const sent = (await answer.json()) as { id: string }
      return outcome.applied({ message: sent.id })
    },
  })
}
