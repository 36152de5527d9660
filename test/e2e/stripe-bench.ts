/** One embedded Invoke on its own SQLite file, the Stripe connector, and the Stripe-shaped provider behind a fault proxy. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stripeTools, type StripeToolsOptions } from "@invokejs/connectors/stripe"
import { Invoke, type Result } from "@invokejs/invoke"
import { FaultProxy, startProvider, type Effect, type RunningProvider, type StripeSettings } from "@invokejs/testkit"
import { onTestFinished } from "vitest"

export const API_KEY = "sk_test_invoke"

/** Windows of a provider that answers within a fraction of a second: what takes minutes with Stripe takes seconds here. */
export const SOON = { maxExecution: 300, visibility: 0, spacing: 300 } as const

export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "invoke-e2e-"))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export interface Outside {
  readonly provider: RunningProvider<"stripe">
  readonly proxy: FaultProxy
}

export async function outside(settings: Partial<StripeSettings> = {}): Promise<Outside> {
  const provider = await startProvider("stripe", { directory: scratchDirectory(), seed: "e2e", settings })
  onTestFinished(() => provider.kill())
  const proxy = await FaultProxy.start({ target: provider.url })
  onTestFinished(() => proxy.close())
  return { provider, proxy }
}

type Options = Omit<StripeToolsOptions, "apiKey" | "client" | "baseUrl" | "apiVersion">

/** The connector over Invoke's transport, looking soon. */
export function toolsOn({ proxy }: Outside, options: Options = {}) {
  return stripeTools({ apiKey: API_KEY, baseUrl: proxy.url, lookup: SOON, ...options })
}

export type StripeInvoke = Invoke<ReturnType<typeof stripeTools>>

export async function open(
  tools: ReturnType<typeof stripeTools>,
  journal: { readonly path?: string; readonly name?: string } = {},
): Promise<StripeInvoke> {
  const path = journal.path ?? join(scratchDirectory(), "invoke.db")
  const name = journal.name === undefined ? {} : { name: journal.name }
  const invoke = await Invoke.open({ journal: path, tools, log: "silent", ...name })
  onTestFinished(() => invoke.close())
  return invoke
}

/** The call of the article: the idempotency key names the action. */
export function charge(
  invoke: StripeInvoke,
  more: { readonly source?: string } = {},
  key = "charge:cust_123:2400",
): Promise<Result> {
  return invoke.call({
    tool: "stripe.charge_customer",
    params: { customer_id: "cust_123", amount: 2400, ...more },
    agentId: "billing-agent",
    idempotencyKey: key,
  })
}

/** Keys of the POSTs that reached the provider, in their order. */
export async function keysPosted({ provider }: Outside): Promise<(string | null)[]> {
  const lines = await provider.ledger()
  return lines.flatMap((line) => (line.type === "request" && line.method === "POST" ? [line.idempotency_key] : []))
}

/** Whether the provider has answered a look. */
export async function looked({ provider }: Outside): Promise<boolean> {
  const lines = await provider.ledger()
  return lines.some((line) => line.type === "request" && line.method === "GET")
}

/** Asks again until the condition holds; the test's own time limit ends what never does. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50))
}

export function idOf(effect: Effect | undefined): string {
  if (effect === undefined) throw new Error("the provider made no such effect")
  return effect.object_id
}
