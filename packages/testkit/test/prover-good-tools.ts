/** Tools of every class that tell the truth about themselves: the prover has nothing to find. */
import {
  absent,
  defineTool,
  found,
  guardTool,
  outcome,
  type AnyTool,
  type AttemptContext,
  type ProbeContext,
} from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { recordedProvider } from "@invokejs/testkit"
import type { FakeAnswer, FakeInProcess, FakeRequest, ProveEntry } from "@invokejs/testkit"
import { charge, list, LOOKUP, moduleOf, payTool, stateOf, type Bill, type FakeOptions } from "./prover-fakes.ts"

type Call = AttemptContext & { readonly params: Bill }
type Look = ProbeContext & { readonly params: Bill }
type Module = ReturnType<typeof moduleOf>

const KEY = {
  sentAs: "header:Idempotency-Key",
  retention: "24h",
  replay: "stored",
  inFlight: "refuses",
  onMismatch: "refuses",
  proved: { date: "2026-01-01", against: "the fake" },
} as const
const KEPT: FakeOptions = { keys_ms: 86_400_000 }

const keyed = (call: Call, url: string) => charge(url, call, { "idempotency-key": call.providerKey })

async function ofInvoice(url: string, { params, signal }: Pick<Look, "params" | "signal">) {
  const own = await list(url, `invoice=${params.invoice}`, signal)
  if (own.length === 0) return absent({ complete: true })
  return found(
    own.map((one) => ({ id: one.id, createdAt: one.created, state: stateOf(one) })),
    { complete: true },
  )
}

/** Sends and reads through Invoke's own transport. */
const wired = (url: string) => ({
  transport: "invoke",
  applied: "2xx",
  execute: async ({ params, operationId, fetch: send }: Call) => {
    const answer = await send(`${url}/charges`, {
      method: "POST",
      body: JSON.stringify({ ...params, operation_id: operationId }),
    })
    return answer.json()
  },
  probe: async ({ operationId, fetch: read }: Look) => {
    const answer = await read(`${url}/charges?operation_id=${operationId}`)
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
    const [one] = (await answer.json()) as { readonly id: string; readonly invoice: string; readonly amount: number }[]
    return one ? found({ id: one.id, operationId, state: { ...one, paid: true } }) : absent({ complete: true })
  },
})

const guarded = ({ url }: { readonly url: string }): readonly AnyTool[] => [
  guardTool((params: Bill, context: AttemptContext) => charge(url, { ...context, params }), {
    name: "pay",
    identity: (p) => ({ invoice: id(p.invoice) }),
    applied: "returned",
    contract: { lookup: { maxExecution: "1m", visibility: "10s" } },
    probe: async (params: Bill, context) => {
      const [one] = await list(url, `invoice=${params.invoice}`, context.signal)
      return one
        ? found({ id: one.id, createdAt: one.created, state: one }, { complete: true })
        : absent({ complete: true })
    },
  }) as AnyTool,
]

interface Issue {
  status: string
  version: number
}

/** Sets what one thing is; every write is counted. */
class Issues implements FakeInProcess {
  readonly #issue: Issue = { status: "open", version: 1 }
  #writes = 0

  effects(): number {
    return this.#writes
  }

  handle({ method, body }: FakeRequest): FakeAnswer {
    if (method === "PUT") {
      this.#issue.status = (JSON.parse(body) as Issue).status
      this.#issue.version += 1
      this.#writes += 1
    }
    return { body: { number: 5, ...this.#issue } }
  }
}

interface IssueChange {
  readonly number: number
  readonly status: string
}

const AS_GIVEN: StandardSchemaV1<IssueChange, IssueChange> = {
  "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value: value as IssueChange }) },
}

async function issueAt(url: string, init: RequestInit): Promise<Issue & { readonly number: number }> {
  const answer = await fetch(`${url}/issues/5`, init)
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
  return (await answer.json()) as Issue & { readonly number: number }
}

const issues: Module = {
  tools: ({ url }: { readonly url: string }): readonly AnyTool[] => [
    defineTool({
      name: "close_issue",
      safety: "write-once-checkable",
      input: AS_GIVEN,
      identity: (p) => ({ number: id(String(p.number)) }),
      resource: (p) => `issue:${p.number}`,
      applied: "returned",
      contract: { lookup: { correlates: "state", maxExecution: "1m", visibility: "10s" }, exclusive: true },
      execute: async ({ params: { status }, signal }) =>
        issueAt(url, { method: "PUT", body: JSON.stringify({ status }), signal }),
      probe: async ({ signal }) => {
        const issue = await issueAt(url, { signal })
        return found({ id: "5", version: String(issue.version), state: { ...issue } }, { complete: true })
      },
      expect: (p) => ({ match: { number: p.number }, effect: { status: p.status } }),
    }),
  ],
  prove: {
    close_issue: { params: { number: 5, status: "closed" }, provider: () => new Issues() } satisfies ProveEntry,
  },
}

/** What was accepted is done by the fourth look at it. */
const looks = new Map<string, number>()
function looksAt(operation: string): number {
  const now = (looks.get(operation) ?? 0) + 1
  looks.set(operation, now)
  return now
}

export interface GoodTool {
  readonly what: string
  readonly module: Module
  /** How many of its cases end at what no tool can help. */
  readonly limits: number
}

export const GOOD_TOOLS: readonly GoodTool[] = [
  { what: "correlated by operation id, opaque", module: moduleOf(payTool()), limits: 2 },
  { what: "on Invoke's transport", module: moduleOf(payTool(wired)), limits: 3 },
  {
    what: "with a key and a probe",
    module: moduleOf(
      payTool((url) => ({
        safety: "idempotent",
        contract: { lookup: LOOKUP, key: KEY },
        execute: (call: Call) => keyed(call, url),
      })),
      {},
      KEPT,
    ),
    limits: 0,
  },
  {
    what: "with a key and no probe",
    module: moduleOf(
      payTool((url) => ({
        safety: "idempotent",
        contract: { key: KEY },
        execute: (call: Call) => keyed(call, url),
        probe: undefined,
        expect: undefined,
      })),
      {},
      KEPT,
    ),
    limits: 0,
  },
  {
    what: "correlated by creation time",
    module: moduleOf(
      payTool((url) => ({
        contract: { lookup: { ...LOOKUP, correlates: "created" } },
        probe: (on: Look) => ofInvoice(url, on),
      })),
    ),
    limits: 2,
  },
  { what: "a guarded function", module: moduleOf(guarded), limits: 2 },
  {
    what: "irreversible",
    module: moduleOf(
      payTool(() => ({ safety: "irreversible", contract: undefined, probe: undefined, expect: undefined })),
    ),
    limits: 2,
  },
  {
    what: "with an intent and no identity",
    module: moduleOf(
      payTool(() => ({ identity: undefined, intent: (p: Bill) => ({ invoice: id(p.invoice) }) })),
      {},
    ),
    limits: 2,
  },
  {
    what: "that is accepted first and settles later",
    module: moduleOf(
      payTool((url) => ({
        applied: "outcome",
        execute: async (call: Call) => {
          const { id: job } = (await charge(url, call)) as { readonly id: string }
          return outcome.accepted(job)
        },
        probe: async (on: Look) => {
          const [one] = await list(url, `operation_id=${on.operationId}`, on.signal)
          if (!one) return absent({ complete: true })
          const paid = looksAt(on.operationId) > 3
          return found(
            { id: one.id, operationId: on.operationId, state: { ...stateOf(one), paid } },
            { complete: true },
          )
        },
      })),
    ),
    limits: 2,
  },
  {
    what: "against a recording",
    module: moduleOf(payTool(), {
      provider: recordedProvider({
        effect: {
          method: "POST",
          path: "/charges",
          answer: { status: 201, body: { id: "ch_77", invoice: "84721", amount: 50_000 } },
        },
        before: [{ method: "GET", path: "/charges", answer: { body: [] } }],
        after: [
          {
            method: "GET",
            path: "/charges",
            answer: {
              body: [
                {
                  id: "ch_77",
                  invoice: "{{body.invoice}}",
                  amount: 50_000,
                  created: "{{now}}",
                  operation_id: "{{body.operation_id}}",
                },
              ],
            },
          },
        ],
      }),
    }),
    limits: 2,
  },
  { what: "that sets a state", module: issues, limits: 2 },
]
