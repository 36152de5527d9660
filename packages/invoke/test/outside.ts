// An outside system in this process: it counts its own effects, and does with each request what the test says.
import { absent, defineTool, found, outcome } from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import type { ManualClock } from "@invokejs/testkit"
import { z } from "zod"

export interface Payment {
  readonly id: string
  readonly invoice: string
  readonly amount: number
  readonly operation_id: string | null
  readonly key: string
  readonly created: Date
}

/** What becomes of one request. */
export type Behaviour =
  | "answer"
  /** Applied; the answer is lost. */
  | "lose_answer"
  /** Nothing arrives; the client cannot tell. */
  | "lose_request"
  /** Applied, and the promise hangs until `release` is called. */
  | "hang"
  /** A structured refusal: permanent. */
  | "reject"
  /** A structured refusal that may be tried again. */
  | "busy"

export class Outside {
  readonly payments: Payment[] = []
  readonly requests: { readonly key: string; readonly attempt: number }[] = []
  script: Behaviour[] = []
  lookups = 0
  lookup: "answer" | "fail" | "blind" = "answer"
  readonly #clock: ManualClock
  readonly #waiting: (() => void)[] = []

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  async pay(
    params: { readonly invoice: string; readonly amount: number },
    about: { key: string; operation_id: string; attempt: number },
  ) {
    this.requests.push({ key: about.key, attempt: about.attempt })
    const behaviour = this.script.shift() ?? "answer"
    if (behaviour === "reject") throw outcome.rejected({ code: "declined", message: "the card was declined" })
    if (behaviour === "busy") throw outcome.notApplied({ code: "busy", message: "try later" })
    if (behaviour === "lose_request") throw new Error("ECONNRESET")
    const payment = this.apply(params, about)
    if (behaviour === "lose_answer") throw new Error("ECONNRESET")
    if (behaviour === "hang") await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return { payment: payment.id }
  }

  /** An effect lands, by whatever way. */
  apply(
    params: { readonly invoice: string; readonly amount: number },
    about: { key: string; operation_id: string | null },
  ): Payment {
    const payment = {
      id: `pay_${this.payments.length + 1}`,
      invoice: params.invoice,
      amount: params.amount,
      operation_id: about.operation_id,
      key: about.key,
      created: new Date(this.#clock.wall()),
    }
    this.payments.push(payment)
    return payment
  }

  release(): void {
    for (const resume of this.#waiting.splice(0)) resume()
  }

  get hanging(): number {
    return this.#waiting.length
  }

  find(operation_id: string): Payment | undefined {
    this.lookups += 1
    if (this.lookup === "fail") throw new Error("the provider does not answer")
    return this.lookup === "blind" ? undefined : this.payments.find((one) => one.operation_id === operation_id)
  }
}

export const INVOICE = z.object({ invoice: z.string(), amount: z.int(), note: z.string().optional() })

/** Opaque, checkable, correlated by operation id; Q 60 s, V 10 s, two looks 10 s apart. */
export function payTool(outside: Outside) {
  return defineTool({
    name: "pay",
    safety: "write-once-checkable",
    input: INVOICE,
    identity: (p) => ({ invoice: id(p.invoice) }),
    applied: "returned",
    contract: { lookup: { correlates: "operation", maxExecution: "60s", visibility: "10s", spacing: "10s" } },
    execute: ({ params, providerKey, operationId, attempt }) =>
      outside.pay(params, { key: providerKey, operation_id: operationId, attempt }),
    probe: ({ operationId }) => {
      const payment = outside.find(operationId)
      if (!payment) return absent({ complete: true })
      return found({
        id: payment.id,
        operationId,
        state: { invoice: payment.invoice, amount: payment.amount, paid: true },
      })
    },
    expect: (p) => ({ match: { invoice: id(p.invoice) }, effect: { paid: true }, invariant: { amount: p.amount } }),
  })
}

/** Nobody can look. */
export function mailTool(outside: Outside) {
  return defineTool({
    name: "mail",
    safety: "irreversible",
    input: INVOICE,
    identity: (p) => ({ invoice: id(p.invoice) }),
    applied: "returned",
    execute: ({ params, providerKey, operationId, attempt }) =>
      outside.pay(params, { key: providerKey, operation_id: operationId, attempt }),
  })
}
