// An outside system in this process: it counts its own effects, and does with each request what the test says.
import { absent, defineTool, found, outcome, type AnyTool } from "@invokejs/engine"
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

export interface Bill {
  readonly invoice: string
  readonly amount: number
}

export interface About {
  readonly key: string
  readonly operation_id: string
  readonly attempt: number
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
  /** Nothing is applied, and the promise hangs until `release` is called; then it is applied. */
  | "hang_first"
  /** A structured refusal: permanent. */
  | "reject"
  /** A structured refusal that may be tried again. */
  | "busy"
  /** Taken, and finished later. */
  | "accept"
  | ((bill: Bill, about: About) => unknown)

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

  async pay(bill: Bill, about: About): Promise<unknown> {
    this.requests.push({ key: about.key, attempt: about.attempt })
    const behaviour = this.script.shift() ?? "answer"
    if (typeof behaviour === "function") return behaviour(bill, about)
    if (behaviour === "reject") throw outcome.rejected({ code: "declined", message: "the card was declined" })
    if (behaviour === "busy") throw outcome.notApplied({ code: "busy", message: "try later" })
    if (behaviour === "lose_request") throw new Error("ECONNRESET")
    if (behaviour === "accept") return outcome.accepted(`job-${this.requests.length}`)
    if (behaviour === "hang_first") await this.#hang()
    const payment = this.apply(bill, about)
    if (behaviour === "lose_answer") throw new Error("ECONNRESET")
    if (behaviour === "hang") await this.#hang()
    return { payment: payment.id }
  }

  /** An effect lands, by whatever way. */
  apply(bill: Bill, about: { readonly key: string; readonly operation_id: string | null }): Payment {
    const payment = {
      id: `pay_${this.payments.length + 1}`,
      invoice: bill.invoice,
      amount: bill.amount,
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

  #hang(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** What a lookup by operation id answers. */
  find(operation_id: string): Payment | undefined {
    return this.list().find((one) => one.operation_id === operation_id)
  }

  list(): readonly Payment[] {
    this.lookups += 1
    if (this.lookup === "fail") throw new Error("the provider does not answer")
    return this.lookup === "blind" ? [] : this.payments
  }
}

export const BILL: Bill = { invoice: "84721", amount: 50_000 }

export const INVOICE = z.object({ invoice: z.string(), amount: z.int(), note: z.string().optional() })

/** Options over those of the tool. */
export interface Over {
  readonly [option: string]: unknown
}

interface Called {
  readonly params: Bill
  readonly providerKey: string
  readonly operationId: string
  readonly attempt: number
}

/** Q 60 s, V 10 s, two looks 10 s apart. */
export const LOOKUP = { correlates: "operation", maxExecution: "60s", visibility: "10s", spacing: "10s" } as const

/** Opaque, checkable, correlated by operation id. */
export function payTool(outside: Outside, over: Over = {}): AnyTool {
  return defineTool({
    name: "pay",
    safety: "write-once-checkable",
    input: INVOICE,
    identity: (p: Bill) => ({ invoice: id(p.invoice) }),
    applied: "returned",
    contract: { lookup: LOOKUP },
    execute: ({ params, providerKey, operationId, attempt }: Called) =>
      outside.pay(params, { key: providerKey, operation_id: operationId, attempt }),
    probe: ({ operationId }: { operationId: string }) => {
      const payment = outside.find(operationId)
      if (!payment) return absent({ complete: true })
      const { invoice, amount } = payment
      return found({ id: payment.id, operationId, state: { invoice, amount, paid: true } })
    },
    expect: (p: Bill) => ({
      match: { invoice: id(p.invoice) },
      effect: { paid: true },
      invariant: { amount: p.amount },
    }),
    ...over,
  } as never)
}

/** Nobody can look. */
export function mailTool(outside: Outside, over: Over = {}): AnyTool {
  return defineTool({
    name: "mail",
    safety: "irreversible",
    input: INVOICE,
    identity: (p: Bill) => ({ invoice: id(p.invoice) }),
    applied: "returned",
    execute: ({ params, providerKey, operationId, attempt }: Called) =>
      outside.pay(params, { key: providerKey, operation_id: operationId, attempt }),
    ...over,
  } as never)
}
