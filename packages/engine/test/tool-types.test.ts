// Hunts a definition or a call that the compiler lets through although it cannot be right, and types that say less than
// what is known. `tsc -p test` judges it: an `@ts-expect-error` without an error is one.

import { id, minor } from "@invokejs/protocol"
import { expect, test } from "vitest"
import { z } from "zod"
import { absent, defineTool, found, guardTool, outcome } from "./tool-exports.ts"
import type { AnyTool, CallOf, Guarded, Jsonify, OutputOf, ParamsOf, ResultOf, ToolName } from "./tool-exports.ts"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_Fact extends true>(): void => undefined

const input = z.object({ customer_id: z.string(), amount: z.int(), note: z.string().default("none") })

const charge = defineTool({
  name: "stripe.charge_customer",
  safety: "write-once-checkable",
  transport: "invoke",
  input,
  intent: (p) => ({ customer: id(p.customer_id), amount: minor(p.amount, "usd") }),
  contract: { applied: "2xx", lookup: { correlates: "operation" } },
  execute: async ({ params, fetch, providerKey, operationId, attempt, signal }) => {
    holds<Equal<typeof params, { customer_id: string; amount: number; note: string }>>()
    const facts: [string, string, number] = [providerKey, operationId, attempt]
    const response = await fetch("https://api.example.test/charges", { method: "POST", signal, effect: true })
    return { charge_id: `${facts.join()}${response.status}`, at: new Date(0) }
  },
  probe: async ({ params, operationId, providerKeys, firstDispatchedAt }) => {
    holds<Equal<typeof firstDispatchedAt, Date | null>>()
    return providerKeys.length > 0
      ? found({ id: params.customer_id, operationId, state: { charged: true } })
      : absent({ complete: true })
  },
  expect: (p) => ({
    match: { customer: id(p.customer_id) },
    effect: { charged: true },
    invariant: { amount: { gte: p.amount } },
  }),
})

const mail = defineTool({
  name: "mail.send",
  safety: "irreversible",
  input: z.object({ to: z.string() }),
  applied: "outcome",
  execute: async ({ params }) =>
    params.to === ""
      ? outcome.accepted("queued")
      : outcome.applied({ sent: params.to }, { object: { id: 1, state: {} } }),
})

const lookUp = defineTool({
  name: "crm.find",
  safety: "read-only",
  input: z.object({ id: z.string() }),
  execute: ({ params }) => [params.id],
})

const tools = [charge, mail, lookUp] as const
type Tools = typeof tools

/** As `open` has it: the list's names, parameters and outputs are inferred, nothing is written twice. */
declare function open<const T extends readonly AnyTool[]>(options: {
  readonly tools: T
}): {
  call<Name extends ToolName<T>>(request: CallOf<T, Name>): Promise<ResultOf<T, Name>>
}

test("a list of tools gives names, parameters and outputs", () => {
  holds<Equal<ToolName<Tools>, "stripe.charge_customer" | "mail.send" | "crm.find">>()
  // What has a default may be left out by a caller, and is there for the tool.
  holds<
    Equal<ParamsOf<Tools, "stripe.charge_customer">, { customer_id: string; amount: number; note?: string | undefined }>
  >()
  holds<Equal<OutputOf<Tools, "stripe.charge_customer">, { charge_id: string; at: Date }>>()
  holds<Equal<OutputOf<Tools, "mail.send">, { sent: string }>>()
  holds<Equal<OutputOf<Tools, "crm.find">, string[]>>()
  expect(tools.map((tool) => tool.name)).toEqual(["stripe.charge_customer", "mail.send", "crm.find"])
})

export async function callsAreTyped(): Promise<void> {
  const invoke = open({ tools })
  const result = await invoke.call({
    tool: "stripe.charge_customer",
    params: { customer_id: "cust_123", amount: 2400 },
    agentId: "billing-agent",
    idempotencyKey: "charge:cust_123:2400",
    wait: "20s",
  })
  holds<Equal<(typeof result)["output"], { charge_id: string; at: string } | null>>()
  if (result.ok) {
    holds<Equal<(typeof result)["decision"], "do_not_retry">>()
    holds<Equal<(typeof result)["final_outcome"], "succeeded" | "already_succeeded">>()
  } else {
    // @ts-expect-error a result that is not ok never says that the effect is in place
    const placed: "succeeded" | "already_succeeded" = result.final_outcome
    expect(placed).toBe(undefined)
  }

  // @ts-expect-error no tool has this name
  await invoke.call({ tool: "stripe.charge_custmer", params: { customer_id: "c", amount: 1 } })
  // @ts-expect-error a parameter is missing
  await invoke.call({ tool: "stripe.charge_customer", params: { customer_id: "c" } })
  // @ts-expect-error a parameter has another type
  await invoke.call({ tool: "stripe.charge_customer", params: { customer_id: "c", amount: "1" } })
  // @ts-expect-error the parameters of another tool
  await invoke.call({ tool: "mail.send", params: { id: "x" } })
  // @ts-expect-error a length of time has a unit
  await invoke.call({ tool: "crm.find", params: { id: "x" }, wait: "20" })
  // @ts-expect-error an option that is not built is not there
  await invoke.call({ tool: "crm.find", params: { id: "x" }, workflow: { entity: "invoice:1" } })
  // @ts-expect-error nobody says what an operation's id is
  await invoke.call({ tool: "crm.find", params: { id: "x" }, operationId: "op" })

  const fromModel: ParamsOf<Tools, "mail.send"> = { to: "a@b.test" }
  // @ts-expect-error an option that a model sent among the parameters stays a parameter, and is none of this tool's
  await invoke.call({ tool: "mail.send", params: { to: "a@b.test", idempotencyKey: "mine" } })
  // @ts-expect-error parameters do not spread into a call: the tool's name and the options are the application's
  await invoke.call(fromModel)
}

export function badDefinitionsDoNotCompile(): void {
  const base = { name: "x", input, applied: "returned", execute: () => 1 } as const
  const probe = () => absent({ complete: true })
  const expectation = () => ({ effect: { done: true } })

  // @ts-expect-error write-once-checkable needs probe and expect
  defineTool({ ...base, safety: "write-once-checkable" })
  // @ts-expect-error write-once-checkable needs expect
  defineTool({ ...base, safety: "write-once-checkable", probe })
  // @ts-expect-error write-once-checkable needs probe
  defineTool({ ...base, safety: "write-once-checkable", expect: expectation })
  // @ts-expect-error idempotent needs the provider's key
  defineTool({ ...base, safety: "idempotent" })
  // @ts-expect-error irreversible means that nobody can look
  defineTool({ ...base, safety: "irreversible", probe, expect: expectation })
  // @ts-expect-error a class that is not built
  defineTool({ ...base, safety: "approval-bound" })
  // @ts-expect-error an option that is not built
  defineTool({ ...base, safety: "irreversible", approval: "required" })
  // @ts-expect-error an unknown option
  defineTool({ ...base, safety: "irreversible", timeot: "30s" })
  // @ts-expect-error a length of time has a unit
  defineTool({ ...base, safety: "irreversible", timeout: "30" })
  // @ts-expect-error a read-only tool applies nothing
  defineTool({ ...base, safety: "read-only" })
  // @ts-expect-error identity fields are typed
  defineTool({ ...base, safety: "irreversible", identity: (p) => ({ customer: p.customer_id }) })
  // @ts-expect-error the schema has no such parameter
  defineTool({ ...base, safety: "irreversible", identity: (p) => ({ period: id(String(p.period)) }) })
  // @ts-expect-error an expectation says what becomes true
  defineTool({ ...base, safety: "write-once-checkable", probe, expect: () => ({ match: {} }) })
  // @ts-expect-error a probe answers with a word
  defineTool({ ...base, safety: "write-once-checkable", probe: () => null, expect: expectation })
}

async function chargeCustomer(p: { invoice_id: string; amount: number }): Promise<{ id: string; at: Date }> {
  return { id: p.invoice_id, at: new Date(p.amount) }
}

export function guardIsTyped(): void {
  const identity = (p: { invoice_id: string }) => ({ invoice: id(p.invoice_id) })
  const guarded = guardTool(chargeCustomer, {
    name: "charge_customer",
    identity: (p) => ({ invoice: id(p.invoice_id) }),
    applied: (value) => value.id !== "",
    probe: async (p, { operationId }) => found({ id: p.invoice_id, operationId, state: p }),
  })
  holds<Equal<(typeof guarded)["name"], "charge_customer">>()
  holds<Equal<Guarded<{ a: 1 }, Promise<{ at: Date }>>, (params: { a: 1 }) => Promise<{ at: string }>>>()

  guardTool(chargeCustomer, { name: "x", identity, applied: "returned" })
  guardTool(chargeCustomer, {
    name: "x",
    identity,
    applied: "returned",
    probe: () => found({ id: 1, createdAt: 1_735_725_600, state: {} }),
  })
  guardTool(chargeCustomer, {
    name: "x",
    identity,
    applied: "returned",
    resource: (p) => `invoice:${p.invoice_id}`,
    probe: () => found({ id: 1, state: { paid: true } }),
  })
  guardTool(chargeCustomer, {
    name: "x",
    identity,
    applied: "returned",
    contract: { lookup: { correlates: "created", creationTime: false } },
    probe: () => found([{ id: 1, state: {} }]),
  })
  const blind = () => found({ id: 1, state: {} })
  // @ts-expect-error an object without operationId, createdAt or resource may be anybody's
  guardTool(chargeCustomer, { name: "x", identity, applied: "returned", probe: blind })
  // @ts-expect-error what returning means is the author's word
  guardTool(chargeCustomer, { name: "x", identity })
  // @ts-expect-error a guarded function has no other name for its action
  guardTool(chargeCustomer, { name: "x", applied: "returned" })
  // @ts-expect-error the class follows from the probe
  guardTool(chargeCustomer, { name: "x", identity, applied: "returned", safety: "read-only" })
}

test("Jsonify is what a value becomes by going through JSON once", () => {
  interface Charge {
    readonly id: string
    readonly at: Date
    readonly note?: string
    readonly gone: undefined
    readonly maybe: number | undefined
    cancel(): void
    readonly tags: readonly [string, Date]
    readonly inner: { readonly deep: readonly (string | undefined)[] }
  }
  holds<
    Equal<
      Jsonify<Charge>,
      {
        id: string
        at: string
        tags: readonly [string, string]
        inner: { deep: readonly (string | null)[] }
        note?: string
        maybe?: number
      }
    >
  >()
  holds<Equal<Jsonify<void>, null>>()
  holds<Equal<Jsonify<string | undefined>, string | null>>()
  holds<Equal<Jsonify<{ toJSON(): { a: Date } }>, { a: string }>>()
  holds<Equal<Jsonify<bigint>, never>>()
  holds<Equal<Jsonify<() => void>, never>>()
  holds<Equal<Jsonify<string[]>, string[]>>()
  expect(JSON.parse(JSON.stringify({ at: new Date(0), gone: undefined }))).toEqual({ at: "1970-01-01T00:00:00.000Z" })
})
