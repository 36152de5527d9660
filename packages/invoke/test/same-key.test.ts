// Hunts: a second effect under a key that protects no more, or never did; a key that protects and is not used.
import { copyFileSync } from "node:fs"
import { absent, found } from "@invokejs/engine"
import { describe, expect, test } from "vitest"
import { BILL, LOOKUP, Outside, payTool, type About, type Bill, type Over } from "./outside.ts"
import { during, HOUR, MINUTE, row, SECOND, world } from "./world.ts"

const PROVED = { date: "2026-01-01", against: "the store of this file" }
const KEY = {
  sentAs: "body:id",
  retention: "24h",
  replay: "stored",
  inFlight: "refuses",
  onMismatch: "refuses",
  proved: PROVED,
}

/** A provider that remembers keys for a time and answers a known one with what it answered before. */
class KeyedOutside extends Outside {
  readonly stored = new Map<string, { answer: unknown; until: number }>()
  readonly clock: { wall(): number }
  retention = 24 * HOUR
  /** What happens to an answer on its way back. */
  lose: boolean[] = []

  constructor(clock: ConstructorParameters<typeof Outside>[0]) {
    super(clock)
    this.clock = clock
  }

  keyed = (bill: Bill, about: About): unknown => {
    const known = this.stored.get(about.key)
    const fresh = !known || known.until <= this.clock.wall()
    const answer = fresh ? { payment: this.apply(bill, about).id } : known.answer
    if (fresh) this.stored.set(about.key, { answer, until: this.clock.wall() + this.retention })
    if (this.lose.shift() === true) throw new Error("ECONNRESET")
    return answer
  }
}

async function setting(key: object = KEY, over: Over = {}) {
  const { clock, open } = world()
  const outside = new KeyedOutside(clock)
  outside.script = Array.from({ length: 20 }, () => outside.keyed)
  const tool = payTool(outside, {
    safety: "idempotent",
    contract: { key },
    probe: undefined,
    expect: undefined,
    ...over,
  })
  const invoke = await open([tool], { poll_ms: 10 * SECOND })
  const pay = (wait: string | number = "30m") =>
    during(clock, invoke.call({ tool: "pay", params: BILL, wait: wait as number }))
  return { clock, open, outside, invoke, pay, tool }
}

describe("a provider key that is proved and protects", () => {
  test("is used again after a lost answer: one effect, and the stored answer is the acknowledgement [RP-2] [item 2] [B1]", async () => {
    const { outside, pay, invoke } = await setting()
    outside.lose = [true]
    const result = await pay()
    expect(result).toMatchObject({
      status: "succeeded",
      cause: "acknowledged",
      attempt: 2,
      output: { payment: "pay_1" },
    })
    const { attempts } = await row(invoke, result.operation_id)
    expect(new Set(attempts.map((one) => one.provider_key)).size).toBe(1)
    expect(attempts.map((one) => one.generation)).toEqual([0, 0])
    expect(outside.payments).toHaveLength(1)
    expect(outside.requests).toHaveLength(2)
  })

  test("is used again after a request that never arrived: executing now is right [RP-2] [R12]", async () => {
    const { outside, pay } = await setting()
    outside.script = ["lose_request", outside.keyed]
    expect(await pay()).toMatchObject({ status: "succeeded", attempt: 2 })
    expect(outside.payments).toHaveLength(1)
  })

  test("is used a bounded number of times; then a person is asked [RP-1]", async () => {
    const { outside, pay } = await setting()
    outside.lose = [true, true, true, true, true]
    expect(await pay()).toMatchObject({ status: "needs_review", final_outcome: "unknown" })
    expect(outside.requests).toHaveLength(3)
    expect(outside.payments).toHaveLength(1)
  })

  test("is not used while an earlier attempt of an opaque tool is open [R6] [RP-9]", async () => {
    const { clock, outside, invoke } = await setting()
    outside.script = ["hang", outside.keyed]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(10 * MINUTE)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "unknown" })
    expect(outside.requests).toHaveLength(1)
    outside.release()
    await clock.idle()
    expect(await row(invoke, operation_id)).toMatchObject({ state: "succeeded" })
  })
})

describe("a provider key protects", () => {
  test("until its retention less a margin is over, and is not used after that [RP-4] [R20] [E8]", async () => {
    const { clock, outside, invoke } = await setting({ ...KEY, retention: "1h" })
    outside.retention = HOUR
    outside.lose = [true]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    // The margin is a tenth, and five minutes at least.
    clock.stepWall(54 * MINUTE)
    await clock.advance(2 * MINUTE)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "needs_review" })
    expect(outside.requests).toHaveLength(1)
  })

  test("from the first dispatch of its generation on, also where nothing is said about its retention: not at all [RP-4]", async () => {
    const { retention: _undeclared, ...key } = KEY
    const { outside, pay } = await setting(key)
    outside.lose = [true]
    expect(await pay()).toMatchObject({ status: "needs_review" })
    expect(outside.requests).toHaveLength(1)
  })

  for (const [what, key] of [
    ["is not proved", { ...KEY, proved: undefined }],
    ["executes a known key again", { ...KEY, replay: "executes" }],
    ["does not compare bodies, and those of the attempt are not known", { ...KEY, onMismatch: "ignores" }],
  ] as const) {
    test(`not at all where the provider ${what} [RP-9] [R12] [R19]`, async () => {
      const { outside, pay } = await setting(key)
      outside.lose = [true]
      expect(await pay()).toMatchObject({ status: "needs_review" })
      expect(outside.requests).toHaveLength(1)
    })
  }

  test("against overlap only after the settle window where the provider races [R19] [RP-9]", async () => {
    const lookup = { ...LOOKUP, maxExecution: "3m" }
    const { clock, outside, invoke } = await setting(
      { ...KEY, inFlight: "races" },
      {
        contract: { key: { ...KEY, inFlight: "races" }, lookup },
        // A lookup that never says anything, so that the key is the only means.
        probe: () => absent({ complete: false }),
        expect: () => ({ effect: { paid: true } }),
      },
    )
    outside.lose = [true]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(3 * MINUTE)
    expect(outside.requests).toHaveLength(1)
    await clock.advance(20 * MINUTE)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "succeeded", attempts: [{}, { attempt: 2 }] })
    expect(outside.payments).toHaveLength(1)
  })
})

describe("a checkable tool with a key", () => {
  test("looks first; what is found needs no second request [protocol 6, order of means]", async () => {
    const { outside, pay } = await setting(KEY, {
      contract: { key: KEY, lookup: LOOKUP },
      ...checked(() => keyed),
    })
    const keyed = outside
    outside.lose = [true]
    expect(await pay()).toMatchObject({ status: "reconciled", attempt: 1 })
    expect(outside.requests).toHaveLength(1)
  })

  test("whose object is not there yet uses its key, before the settle window is over [item 2]", async () => {
    const { clock, outside, invoke } = await setting(KEY, {
      contract: { key: KEY, lookup: { ...LOOKUP, maxExecution: "30m" } },
      probe: () => absent({ complete: true }),
      expect: () => ({ effect: { paid: true } }),
    })
    outside.script = ["lose_request", outside.keyed]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(2 * MINUTE)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "succeeded" })
    expect(outside.payments).toHaveLength(1)
  })
})

describe("a refusal under a key", () => {
  test("that the provider would replay changes the generation, so that the next attempt has another key [RP-2] [protocol 6]", async () => {
    const { outside, pay, invoke } = await setting({ ...KEY, replaysErrors: true })
    outside.script = ["busy", outside.keyed]
    const result = await pay()
    expect(result).toMatchObject({ status: "succeeded", attempt: 2 })
    const { attempts } = await row(invoke, result.operation_id)
    expect(attempts.map((one) => one.generation)).toEqual([0, 1])
    expect(attempts[0]?.provider_key).not.toBe(attempts[1]?.provider_key)
  })

  test("that is not stored keeps the generation [RP-2]", async () => {
    const { outside, pay, invoke } = await setting({ ...KEY, replaysErrors: false })
    outside.script = ["busy", outside.keyed]
    const result = await pay()
    const { attempts } = await row(invoke, result.operation_id)
    expect(attempts.map((one) => one.generation)).toEqual([0, 0])
  })

  test("of a later attempt while an earlier one is unknown leads to unknown, never to failed [R2]", async () => {
    const { outside, pay, invoke } = await setting()
    outside.lose = [true]
    outside.script = [outside.keyed, "reject", outside.keyed]
    const result = await pay()
    // The key still protects: the third attempt learns the truth.
    expect(result).toMatchObject({ status: "succeeded", attempt: 3 })
    expect((await row(invoke, result.operation_id)).attempts.map((one) => one.generation)).toEqual([0, 0, 0])
    expect(outside.payments).toHaveLength(1)
  })
})

describe("the provider key of a forgotten admission", () => {
  test("is the same again: it is made of journal, chain, revision and generation, not of the operation [item 18] [RP-2]", async () => {
    const { path, folder, clock, open } = world()
    const outside = new KeyedOutside(clock)
    outside.script = Array.from({ length: 5 }, () => outside.keyed)
    const tool = payTool(outside, { safety: "idempotent", contract: { key: KEY }, probe: undefined, expect: undefined })
    const first = await open([tool])
    await first.call({ tool: "pay", params: { ...BILL, invoice: "before" } })
    await first.close()
    copyFileSync(path, `${folder}/copy.db`)
    const lives = await open([tool])
    await lives.call({ tool: "pay", params: BILL })
    // The restored life knows nothing of that call.
    await clock.advance(SECOND)
    const restored = await open([tool], { path: `${folder}/copy.db` })
    await restored.operator({ name: "ada" }).liftQuarantine("the last minute is lost")
    const again = await during(clock, restored.call({ tool: "pay", params: BILL }))
    expect(again).toMatchObject({ ok: true })
    expect(outside.payments.filter((one) => one.invoice === BILL.invoice)).toHaveLength(1)
  })
})

function checked(outside: () => Outside): Over {
  return {
    probe: ({ operationId }: { operationId: string }) => {
      const payment = outside().find(operationId)
      if (!payment) return absent({ complete: true })
      return found({ id: payment.id, operationId, state: { paid: true } })
    },
    expect: () => ({ effect: { paid: true } }),
  }
}
