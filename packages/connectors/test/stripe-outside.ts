/** The Stripe-shaped provider behind a fault proxy, and the tools' own functions called as the engine calls them. */
import type { AnyTool, AttemptContext, ProbeContext } from "@invokejs/engine"
import { stripeTools, type StripeToolsOptions } from "@invokejs/connectors/stripe"
import { FaultProxy, startProvider, type RunningProvider, type StripeSettings } from "@invokejs/testkit"
import { onTestFinished } from "vitest"
import { scratchDirectory } from "./scratch-directory.ts"

export const API_KEY = "sk_test_invoke"

export interface StripeOutside {
  readonly provider: RunningProvider<"stripe">
  readonly proxy: FaultProxy
  /** Through the proxy. */
  readonly url: string
}

export async function stripeOutside(settings: Partial<StripeSettings> = {}): Promise<StripeOutside> {
  const provider = await startProvider("stripe", { directory: scratchDirectory(), seed: "stripe", settings })
  onTestFinished(() => provider.kill())
  const proxy = await FaultProxy.start({ target: provider.url })
  onTestFinished(() => proxy.close())
  return { provider, proxy, url: proxy.url }
}

export type StripeToolName = ReturnType<typeof stripeTools>[number]["name"]

export function toolAt(url: string, name: StripeToolName): AnyTool {
  return toolOf({ apiKey: API_KEY, baseUrl: url }, name)
}

export function toolOf(options: StripeToolsOptions, name: StripeToolName): AnyTool {
  const tool = stripeTools(options).find((one) => one.name === name)
  if (!tool) throw new Error(`there is no tool ${name}`)
  return tool
}

/** What a compiled definition holds; the engine reads the same two functions. */
interface Functions {
  run(params: unknown, context: AttemptContext): unknown
  look(params: unknown, context: ProbeContext): unknown
}

/** A word as a test compares it: `applied`, `accepted`, `not_applied`, `rejected`, or `threw` for what is no word. */
export interface Said {
  readonly kind: string
  readonly [part: string]: unknown
}

export async function execute(tool: AnyTool, params: object, call: Partial<AttemptContext> = {}): Promise<Said> {
  const context: AttemptContext = {
    operationId: "op_1",
    providerKey: "key_1",
    attempt: 1,
    signal: new AbortController().signal,
    fetch,
    ...call,
  }
  try {
    return said(await functionsOf(tool).run(await parsed(tool, params), context))
  } catch (error) {
    if (error instanceof Error && "kind" in error) return said(error)
    return { kind: "threw", message: error instanceof Error ? error.message : String(error) }
  }
}

export async function look(tool: AnyTool, params: object, on: Partial<ProbeContext> = {}): Promise<Said> {
  const context: ProbeContext = {
    operationId: "op_1",
    providerKeys: ["key_1"],
    firstDispatchedAt: new Date(),
    signal: new AbortController().signal,
    fetch,
    ...on,
  }
  return said(await functionsOf(tool).look(await parsed(tool, params), context))
}

/** The objects of a `found` word. */
export function objectsOf(word: Said): readonly Said[] {
  const objects = word["objects"]
  return Array.isArray(objects) ? objects.map((one: unknown) => said(one)) : []
}

function functionsOf(tool: AnyTool): Functions {
  return tool["~definition"] as Functions
}

async function parsed(tool: AnyTool, params: object): Promise<unknown> {
  const result = await tool.input["~standard"].validate(params)
  if (result.issues) throw new Error(result.issues.map((issue) => issue.message).join("; "))
  return result.value
}

function said(value: unknown): Said {
  return value as Said
}
