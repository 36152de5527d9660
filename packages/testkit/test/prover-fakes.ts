/** A payment provider in this process, a good tool for it, and tools that each have one thing wrong. */
import { absent, defineTool, found, type AnyTool, type AttemptContext, type ProbeContext } from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import type { FakeAnswer, FakeInProcess, FakeRequest, FakeWorld, ProveEntry } from "@invokejs/testkit"

export interface Bill {
  readonly invoice: string
  readonly amount: number
  readonly memo?: string
}

export interface Charge extends Bill {
  readonly id: string
  readonly operation_id: string | null
  readonly created: string
}

export interface FakeOptions {
  /** Lists show what was made only after so long. */
  readonly lag_ms?: number
  /** How long a key is kept. */
  readonly keys_ms?: number
  readonly facts?: Partial<FakeInProcess>
}

export class Payments implements FakeInProcess {
  readonly charges: Charge[] = []
  readonly #world: FakeWorld
  readonly #options: FakeOptions
  readonly #keys = new Map<string, { readonly at: number; readonly body: string; readonly charge: Charge }>()

  constructor(world: FakeWorld, options: FakeOptions = {}) {
    this.#world = world
    this.#options = options
    Object.assign(this, options.facts)
  }

  effects(): number {
    return this.charges.length
  }

  handle(request: FakeRequest): FakeAnswer {
    const url = new URL(request.path, "http://fake")
    if (request.method === "GET") return { body: this.#list(url.searchParams) }
    return this.#charge(request)
  }

  #charge({ body, headers }: FakeRequest): FakeAnswer {
    const key = headers["idempotency-key"]
    const kept = key === undefined ? undefined : this.#keys.get(key)
    if (kept !== undefined && this.#world.now() - kept.at < (this.#options.keys_ms ?? 0)) {
      return kept.body === body ? { body: kept.charge } : { status: 400, body: { error: "key_used" } }
    }
    const given = JSON.parse(body) as Omit<Charge, "id" | "created">
    const created = new Date(this.#world.now()).toISOString()
    const charge = { ...given, id: `ch_${this.charges.length + 1}`, created }
    this.charges.push(charge)
    if (key !== undefined) this.#keys.set(key, { at: this.#world.now(), body, charge })
    return { status: 201, body: charge }
  }

  #list(query: URLSearchParams): readonly Charge[] {
    const before = this.#world.now() - (this.#options.lag_ms ?? 0)
    return this.charges
      .filter((charge) => Date.parse(charge.created) <= before)
      .filter((charge) => [...query].every(([name, value]) => String(charge[name as keyof Charge]) === value))
  }
}

/** Anything is taken as it is. */
const BILL = {
  "~standard": { version: 1 as const, vendor: "test", validate: (value: unknown) => ({ value: value as Bill }) },
}

type Call = AttemptContext & { readonly params: Bill }
type Look = ProbeContext & { readonly params: Bill }

export async function send(
  url: string,
  { params, operationId, signal }: Call,
  headers: object = {},
): Promise<Response> {
  return fetch(`${url}/charges`, {
    method: "POST",
    headers: { ...headers },
    body: JSON.stringify({ ...params, operation_id: operationId }),
    signal,
  })
}

export async function charge(url: string, call: Call, headers: object = {}): Promise<unknown> {
  const answer = await send(url, call, headers)
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
  return answer.json()
}

export async function list(url: string, query: string, signal: AbortSignal): Promise<readonly Charge[]> {
  const answer = await fetch(`${url}/charges?${query}`, { signal })
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
  return (await answer.json()) as readonly Charge[]
}

export function stateOf({ id: charge_id, invoice, amount }: Charge): object {
  return { id: charge_id, invoice, amount, paid: true }
}

export async function look(url: string, { operationId, signal }: Look) {
  const own = await list(url, `operation_id=${operationId}`, signal)
  if (own.length === 0) return absent({ complete: true })
  return found(
    own.map((one) => ({ id: one.id, operationId: one.operation_id ?? "", state: stateOf(one) })),
    { complete: true },
  )
}

export const LOOKUP = { correlates: "operation", maxExecution: "1m", visibility: "10s", spacing: "10s" } as const

/** Options over those of the good tool. */
export interface Over {
  readonly [option: string]: unknown
}

export const payTool =
  (over: (url: string) => Over = () => ({})) =>
  ({ url }: { readonly url: string }): readonly AnyTool[] => [
    defineTool({
      name: "pay",
      safety: "write-once-checkable",
      input: BILL,
      identity: (p: Bill) => ({ invoice: id(p.invoice) }),
      applied: "returned",
      contract: { lookup: LOOKUP },
      execute: (call: Call) => charge(url, call),
      probe: (on: Look) => look(url, on),
      expect: (p: Bill) => ({
        match: { invoice: id(p.invoice) },
        effect: { paid: true },
        invariant: { amount: p.amount },
      }),
      ...over(url),
    } as never),
  ]

/** A module as an author writes it. */
export function moduleOf(
  tools: ReturnType<typeof payTool>,
  entry: Partial<ProveEntry> = {},
  fake: FakeOptions = {},
): { readonly [name: string]: unknown } {
  return {
    tools,
    prove: {
      pay: {
        params: { invoice: "84721", amount: 50_000 },
        other: (n: number) => ({ invoice: `other-${n}`, amount: 100 + n }),
        provider: (world: FakeWorld) => new Payments(world, fake),
        ...entry,
      },
    },
  }
}
