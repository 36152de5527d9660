// @ts-check
// A result for the docs: the article's charge, whose acknowledgement is lost and whose object is found.

import { absent, defineTool, found } from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import { z } from "zod"
import { during } from "./bench.mjs"

/** @param {import("./bench.mjs").Bench} bench */
export async function reconciledResult({ open, clock }) {
  /** @type {{ id: string, operation_id: string, invoice_id: string, amount: number }[]} */
  const charges = []
  const payInvoice = defineTool({
    name: "pay_invoice",
    safety: "write-once-checkable",
    input: z.object({ invoice_id: z.string(), amount: z.int() }),
    identity: (p) => ({ invoice_id: id(p.invoice_id) }),
    applied: "returned",
    contract: { lookup: { correlates: "operation" } },
    execute: ({ params, operationId }) => {
      charges.push({ id: "ch_1", operation_id: operationId, ...params })
      throw new Error("socket hang up")
    },
    probe: ({ operationId }) => {
      const charge = charges.find((one) => one.operation_id === operationId)
      if (charge === undefined) return absent({ complete: true })
      const { invoice_id, amount } = charge
      return found({ id: charge.id, operationId, state: { id: charge.id, invoice_id, amount, paid: true } })
    },
    expect: (p) => ({
      match: { invoice_id: id(p.invoice_id) },
      effect: { paid: true },
      invariant: { amount: p.amount },
    }),
  })
  const invoke = await open([payInvoice])
  return during(clock, invoke.call({ tool: "pay_invoice", params: { invoice_id: "84721", amount: 50_000 } }))
}
