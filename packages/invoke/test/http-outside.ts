// A provider over HTTP behind a proxy that breaks on order; it counts its own effects. And an engine on the system's clock.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import {
  absent,
  defineTool,
  found,
  Invoke,
  systemClock,
  systemIds,
  thisMachine,
  type AnyTool,
  type Clock,
} from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { id } from "@invokejs/protocol"
import { FaultProxy } from "@invokejs/testkit"
import { onTestFinished } from "vitest"
import { INVOICE, type Bill, type Over } from "./outside.ts"
import { world } from "./world.ts"

export interface Charge extends Bill {
  readonly id: string
  readonly operation_id: string
  readonly key: string
}

export interface HttpOutside {
  readonly proxy: FaultProxy
  readonly charges: Charge[]
  /** Method and path of everything that arrived. */
  readonly arrived: string[]
  /** What the next charges are answered, after or instead of the effect. */
  readonly answers: { readonly status: number; readonly applies?: boolean; readonly headers?: Record<string, string> }[]
}

export async function httpOutside(): Promise<HttpOutside> {
  const charges: Charge[] = []
  const arrived: string[] = []
  const answers: HttpOutside["answers"] = []
  const server = createServer((request, response) => {
    void serve(request, response)
  })
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://provider")
    let text = ""
    for await (const chunk of request) text += String(chunk)
    arrived.push(`${request.method} ${url.pathname}`)
    const say = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
    if (request.method === "GET") {
      const wanted = url.searchParams.get("operation_id")
      say(
        200,
        charges.filter((one) => one.operation_id === wanted),
      )
      return
    }
    if (url.pathname !== "/charges") {
      say(200, { token: "t" })
      return
    }
    const key = String(request.headers["idempotency-key"] ?? "")
    const answer = answers.shift()
    const known = charges.find((one) => one.key === key && key !== "")
    if (answer && answer.applies !== true) {
      say(answer.status, { error: answer.status }, answer.headers)
      return
    }
    const body = JSON.parse(text) as Bill & { operation_id: string }
    const charge = known ?? { ...body, id: `ch_${charges.length + 1}`, key }
    if (!known) charges.push(charge)
    say(answer?.status ?? 201, { id: charge.id }, answer?.headers)
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const proxy = await FaultProxy.start({ target: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  onTestFinished(async () => {
    await proxy.close()
    server.closeAllConnections()
    server.close()
  })
  return { proxy, charges, arrived, answers }
}

interface Called {
  readonly params: Bill
  readonly operationId: string
  readonly fetch: (url: string, init?: RequestInit & { effect?: boolean }) => Promise<Response>
}

/** Windows of tenths of a second: Q 200 ms, V 100 ms. */
export function chargeTool({ proxy }: HttpOutside, over: Over = {}): AnyTool {
  return defineTool({
    name: "charge",
    safety: "write-once-checkable",
    transport: "invoke",
    input: INVOICE,
    identity: (p: Bill) => ({ invoice: id(p.invoice) }),
    applied: "2xx",
    contract: { lookup: { correlates: "operation", maxExecution: "200ms", visibility: "100ms", spacing: "100ms" } },
    execute: async (called: Called) => (await post(proxy.url, called)).json(),
    probe: async ({ operationId, fetch }: Called) => {
      const answer = await fetch(`${proxy.url}/charges?operation_id=${operationId}`)
      const [charge] = (await answer.json()) as Charge[]
      if (!charge) return absent({ complete: true })
      const { invoice, amount } = charge
      return found({ id: charge.id, operationId, state: { invoice, amount, paid: true } })
    },
    expect: (p: Bill) => ({
      match: { invoice: id(p.invoice) },
      effect: { paid: true },
      invariant: { amount: p.amount },
    }),
    ...over,
  } as never)
}

export function post(url: string, { params, operationId, fetch }: Called, init: object = {}): Promise<Response> {
  return fetch(`${url}/charges`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...params, operation_id: operationId }),
    ...init,
  })
}

/** `unit` is the jitter: 0 makes every backoff the least. */
export async function openHttp(tools: readonly AnyTool[], clock: Clock = systemClock, unit = 0): Promise<Invoke> {
  const { path } = world()
  const journal = await openSqliteJournal({ path, mode: "inline", clock, ids: systemIds, allowEphemeral: true })
  const invoke = await Invoke.on({
    journal,
    tools,
    clock,
    ids: systemIds,
    random: { unit: () => unit },
    telemetry: { log: () => undefined, count: () => undefined },
    machine: thisMachine(),
    poll_ms: 50,
  })
  onTestFinished(() => invoke.close({ drain: 0 }))
  return invoke
}
