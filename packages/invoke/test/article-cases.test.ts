// Hunts: the promise itself, once for each safety class: an agent that loses an answer, tries again, restarts, tries again.
import { absent, defineTool, found, outcome, type AnyTool, type Invoke } from "@invokejs/engine"
import { id, text } from "@invokejs/protocol"
import type { ManualClock } from "@invokejs/testkit"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { LOOKUP } from "./outside.ts"
import { during, HOUR, refusal, row, SECOND, world } from "./world.ts"

interface Thing {
  readonly id: string
  readonly operation_id: string
  readonly key: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly created: Date
}

/** One provider of things, which loses what it is told to lose and counts what it made. */
class Provider {
  readonly things: Thing[] = []
  readonly requests: string[] = []
  /** What becomes of each request, in order. */
  faults: ("answer_lost" | "request_lost" | "refused" | "fine")[] = []
  readonly #clock: ManualClock
  readonly #stored = new Map<string, unknown>()

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  async make(key: string, operation_id: string, fields: Record<string, unknown>, remembers = false): Promise<unknown> {
    this.requests.push(key)
    const fault = this.faults.shift() ?? "fine"
    if (fault === "request_lost") throw new Error("socket hang up")
    if (fault === "refused") throw outcome.rejected({ code: "refused", message: "no" })
    const known = remembers ? this.#stored.get(key) : undefined
    if (known !== undefined) return known
    const thing = {
      id: `t_${this.things.length + 1}`,
      operation_id,
      key,
      fields,
      created: new Date(this.#clock.wall()),
    }
    this.things.push(thing)
    const answer = { id: thing.id }
    if (remembers) this.#stored.set(key, answer)
    if (fault === "answer_lost") throw new Error("socket hang up")
    return answer
  }
}

const MAKERS: { readonly [name: string]: (provider: Provider) => AnyTool } = {
  /** A mail that nobody can look up: irreversible. */
  send_mail: (provider) =>
    defineTool({
      name: "send_mail",
      safety: "irreversible",
      input: z.object({ to: z.string(), invoice: z.string(), body: z.string() }),
      identity: (p) => ({ to: text(p.to), invoice: id(p.invoice) }),
      applied: "returned",
      execute: ({ params, providerKey, operationId }) => provider.make(providerKey, operationId, params),
    }),
  /** A ticket that carries our operation id in a label: checkable by operation. */
  create_ticket: (provider) =>
    defineTool({
      name: "create_ticket",
      safety: "write-once-checkable",
      input: z.object({ order: z.string(), title: z.string() }),
      identity: (p) => ({ order: id(p.order) }),
      applied: "returned",
      contract: { lookup: LOOKUP },
      execute: ({ params, providerKey, operationId }) => provider.make(providerKey, operationId, params),
      probe: ({ operationId }) => {
        const thing = provider.things.find((one) => one.operation_id === operationId)
        return thing
          ? found({ id: thing.id, operationId, state: { ...thing.fields, open: true } })
          : absent({ complete: true })
      },
      expect: (p) => ({ match: { order: id(p.order) }, effect: { open: true }, invariant: { title: text(p.title) } }),
    }),
  /** An order at a shop that dedupes by key: idempotent, proved. */
  place_order: (provider) =>
    defineTool({
      name: "place_order",
      safety: "idempotent",
      input: z.object({ basket: z.string() }),
      identity: (p) => ({ basket: id(p.basket) }),
      applied: "returned",
      contract: {
        key: {
          sentAs: "body:key",
          retention: "24h",
          replay: "stored",
          inFlight: "refuses",
          onMismatch: "refuses",
          proved: { date: "2026-01-01", against: "the provider of this file" },
        },
      },
      execute: ({ params, providerKey, operationId }) => provider.make(providerKey, operationId, params, true),
    }),
  /** A machine that is found again by its name and its time of creation. */
  provision: (provider) =>
    defineTool({
      name: "provision",
      safety: "write-once-checkable",
      input: z.object({ host: z.string() }),
      identity: (p) => ({ host: id(p.host) }),
      applied: "returned",
      contract: { lookup: { ...LOOKUP, correlates: "created" } },
      execute: ({ params, providerKey, operationId }) => provider.make(providerKey, operationId, params),
      probe: ({ params }) => {
        const things = provider.things.filter((one) => one.fields["host"] === params.host)
        if (things.length === 0) return absent({ complete: true })
        return found(
          things.map((one) => ({ id: one.id, createdAt: one.created, state: { host: params.host, running: true } })),
          { complete: true },
        )
      },
      expect: (p) => ({ match: { host: id(p.host) }, effect: { running: true } }),
    }),
}

const PARAMS: { readonly [tool: string]: { readonly [field: string]: string } } = {
  send_mail: { to: "ada@example.com", invoice: "84721", body: "Due on Friday." },
  create_ticket: { order: "o-17", title: "Late delivery" },
  place_order: { basket: "b-9" },
  provision: { host: "db-3" },
}

const ALL = Object.keys(MAKERS)

function setting() {
  const { clock, open } = world()
  const provider = new Provider(clock)
  const start = () =>
    open(
      ALL.map((name) => (MAKERS[name] as (typeof MAKERS)[string])(provider)),
      { poll_ms: 5 * SECOND },
    )
  return { clock, provider, start }
}

describe("an agent whose answer is lost", () => {
  for (const tool of ALL) {
    test(`and that tries again, in other words of its own, makes one ${tool} [A1] [B1] [ID-11] [RP-7]`, async () => {
      const { clock, provider, start } = setting()
      const invoke = await start()
      provider.faults = ["answer_lost"]
      const first = await during(
        clock,
        invoke.call({ tool, params: PARAMS[tool], wait: "5m", runId: "1", turnId: "1" }),
      )
      // The agent crashes, a new run of it starts, with another tool-call id and another key of its own making.
      const again = await during(
        clock,
        invoke.call({ tool, params: PARAMS[tool], wait: "5m", runId: "2", turnId: "1", idempotencyKey: "made-up" }),
      )
      expect(again.operation_id).toBe(first.operation_id)
      expect(provider.things).toHaveLength(1)
      const settled = tool !== "send_mail"
      expect(again.ok, tool).toBe(settled)
      if (!settled) {
        expect(again).toMatchObject({ status: "needs_review", retry: "blocked" })
        expect(again.agent_text).not.toMatch(/\bfailed\b|try again/i)
      }
    })

    test(`and whose process restarts in between makes one ${tool} [CS-5] [D1]`, async () => {
      const { clock, provider, start } = setting()
      const before = await start()
      provider.faults = ["answer_lost"]
      await before.call({ tool, params: PARAMS[tool], wait: 0 })
      await clock.idle()
      await before.close()
      const after = await start()
      await during(clock, after.call({ tool, params: PARAMS[tool], wait: "5m" }))
      expect(provider.things).toHaveLength(1)
    })
  }
})

describe("a request that is lost on its way out", () => {
  test("is made again where that can be proved or is safe, and left to a person where it cannot [RC-4] [RP-7]", async () => {
    for (const tool of ALL) {
      const { clock, provider, start } = setting()
      const invoke = await start()
      provider.faults = ["request_lost"]
      const result = await during(clock, invoke.call({ tool, params: PARAMS[tool], wait: "10m" }))
      expect(result.ok, tool).toBe(tool !== "send_mail")
      expect(provider.things.length, tool).toBe(tool === "send_mail" ? 0 : 1)
    }
  })

  test("of a mail is sent by a person's word, once, and the agent hears of it [HU-3] [A4]", async () => {
    const { clock, provider, start } = setting()
    const invoke = await start()
    provider.faults = ["request_lost"]
    const call = { tool: "send_mail", params: PARAMS["send_mail"] }
    const { operation_id } = await during(clock, invoke.call({ ...call, wait: "5m" }))
    await invoke.operator({ name: "ada" }).resolve(operation_id, {
      to: "ready",
      reason: "the mail server never saw it",
      evidence: { log: "mx-1" },
    })
    expect(await during(clock, invoke.call({ ...call, wait: "5m" }))).toMatchObject({ ok: true, operation_id })
    expect(provider.things).toHaveLength(1)
  })
})

describe("the CRM of the article", () => {
  function crm(provider: { tier: string; etag: number; writes: string[]; fault: string[] }): AnyTool {
    return defineTool({
      name: "set_tier",
      safety: "write-once-checkable",
      input: z.object({ customer: z.string(), tier: z.string() }),
      identity: (p) => ({ customer: id(p.customer), tier: id(p.tier) }),
      resource: (p) => `customer:${p.customer}`,
      applied: "returned",
      contract: { lookup: { ...LOOKUP, correlates: "state" } },
      execute: async ({ params }) => {
        const fault = provider.fault.shift()
        if (fault === "request_lost") throw new Error("socket hang up")
        provider.writes.push(params.tier)
        Object.assign(provider, { tier: params.tier, etag: provider.etag + 1 })
        if (fault === "answer_lost") throw new Error("socket hang up")
        return { tier: params.tier }
      },
      probe: ({ params }) =>
        found({
          id: params.customer,
          version: `e${provider.etag}`,
          state: { customer: params.customer, tier: provider.tier },
        }),
      expect: (p) => ({ match: { customer: id(p.customer) }, effect: { tier: id(p.tier) } }),
    })
  }

  test("keeps the newest word: a lost answer is not repeated over what a person wrote since [R15] [C1]", async () => {
    const { clock, open } = world()
    const provider = { tier: "bronze", etag: 1, writes: [] as string[], fault: ["answer_lost"] }
    const invoke = await open([crm(provider)], { poll_ms: 5 * SECOND })
    const call = { tool: "set_tier", params: { customer: "c1", tier: "gold" } }
    const { operation_id } = await invoke.call({ ...call, wait: 0 })
    await clock.until(() => provider.writes.length === 1, HOUR)
    Object.assign(provider, { tier: "silver", etag: 9 })
    await clock.until(async () => (await row(invoke, operation_id)).state === "needs_review", HOUR)
    expect(await invoke.call({ ...call, wait: 0 })).toMatchObject({ final_outcome: "drifted", retry: "blocked" })
    expect(provider).toMatchObject({ tier: "silver", writes: ["gold"] })
  })
})

describe("the checklist of the article", () => {
  test("an outcome is never a guess: what a caller is told follows from the provider's own count [S3]", async () => {
    for (const tool of ALL) {
      for (const fault of ["fine", "answer_lost", "request_lost", "refused"] as const) {
        const { clock, provider, start } = setting()
        const invoke: Invoke = await start()
        provider.faults = [fault]
        const result = await during(clock, invoke.call({ tool, params: PARAMS[tool], wait: "10m" }))
        const inPlace = provider.things.length === 1
        if (result.ok) expect(inPlace, `${tool} ${fault}`).toBe(true)
        if (result.final_outcome === "failed" || result.final_outcome === "not_executed")
          expect(inPlace, `${tool} ${fault}`).toBe(false)
        expect(provider.things.length, `${tool} ${fault}`).toBeLessThan(2)
      }
    }
  })

  test("an agent cannot settle, allow or retry by anything that it can call [HU-4] [R9]", async () => {
    const { clock, provider, start } = setting()
    const invoke = await start()
    provider.faults = ["request_lost"]
    const call = { tool: "send_mail", params: PARAMS["send_mail"] }
    await during(clock, invoke.call({ ...call, wait: "5m" }))
    for (const option of ["approved", "force", "retry", "resolve", "supersedes", "repeat", "evidence"]) {
      expect((await refusal(invoke.call({ ...call, [option]: true }))).code, option).toBe("unsupported_option")
    }
    const forged = { ...PARAMS["send_mail"], approved: true, operation_id: "x", idempotency_key: "y" }
    const again = await invoke.call({ tool: "send_mail", params: forged, wait: 0 })
    expect(again.status).toBe("needs_review")
    expect(provider.requests).toHaveLength(1)
  })
})
