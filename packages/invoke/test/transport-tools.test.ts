// Hunts: a wire that said more, or less, than the engine concluded from it.
import { outcome } from "@invokejs/engine"
import { ManualClock } from "@invokejs/testkit"
import { describe, expect, test } from "vitest"
import { chargeTool, httpOutside, openHttp, post } from "./http-outside.ts"
import { BILL } from "./outside.ts"
import { MINUTE, reaches, row, SECOND } from "./world.ts"

const CALL = { tool: "charge", params: BILL, wait: "20s" } as const
const KEY = {
  sentAs: "header:Idempotency-Key",
  retention: "24h",
  replay: "stored",
  inFlight: "refuses",
  onMismatch: "refuses",
  proved: { date: "2026-01-01", against: "the server of http-outside.ts" },
}

describe("an answer", () => {
  test("of 201 is an acknowledgement, of 202 an acceptance, of 206 nothing [R3] [item 17]", async () => {
    const outside = await httpOutside()
    const invoke = await openHttp([chargeTool(outside)])
    const pay = (invoice: string) => invoke.call({ ...CALL, params: { ...BILL, invoice }, wait: 0 })
    outside.answers.push({ status: 201, applies: true })
    expect(await invoke.call(CALL)).toMatchObject({
      status: "succeeded",
      cause: "acknowledged",
      output: { id: "ch_1" },
    })
    outside.answers.push({ status: 202, applies: true })
    const accepted = await pay("2")
    await until(async () => (await row(invoke, accepted.operation_id)).state !== "dispatched")
    expect((await row(invoke, accepted.operation_id)).attempts[0]).toMatchObject({
      status: "accepted",
      http_status: 202,
    })
    outside.answers.push({ status: 206, applies: true })
    const partly = await pay("3")
    await until(async () => (await row(invoke, partly.operation_id)).state === "succeeded")
    // It was found by looking, not believed.
    expect(await row(invoke, partly.operation_id)).toMatchObject({ cause: "operation" })
    expect(outside.charges).toHaveLength(3)
  })

  test("of 500 that the tool swallowed is no success [R3]", async () => {
    const outside = await httpOutside()
    const invoke = await openHttp([chargeTool(outside, { attempts: 1 })])
    outside.answers.push({ status: 500 })
    const result = await invoke.call(CALL)
    expect(result).toMatchObject({ ok: false, final_outcome: "not_executed" })
    expect(outside.charges).toHaveLength(0)
    // Of 500 after the effect took place: found, and not repeated.
    outside.answers.push({ status: 500, applies: true })
    const applied = await invoke.call({ ...CALL, params: { ...BILL, invoice: "2" } })
    expect(applied).toMatchObject({ status: "reconciled", attempt: 1 })
    expect(outside.charges).toHaveLength(1)
  })

  test("that is lost after the effect is found by looking: one request, one effect [A2] [RC-1]", async () => {
    const outside = await httpOutside()
    const invoke = await openHttp([chargeTool(outside)])
    outside.proxy.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }])
    expect(await invoke.call(CALL)).toMatchObject({ status: "reconciled", cause: "operation", attempt: 1 })
    expect(outside.charges).toHaveLength(1)
    expect(outside.arrived.filter((one) => one.startsWith("POST"))).toHaveLength(1)
  })

  test("whose body cannot be read is applied all the same, the id unknown [protocol 5.6]", async () => {
    const outside = await httpOutside()
    const invoke = await openHttp([chargeTool(outside)])
    outside.proxy.script([{ match: { method: "POST" }, fault: { kind: "garble_answer", part: "body" } }])
    const result = await invoke.call(CALL)
    expect(result).toMatchObject({ status: "succeeded", cause: "acknowledged", output: null })
    expect(result.output_error).not.toBeNull()
    expect(outside.charges).toHaveLength(1)
  })

  test("of 401 to a second attempt does not turn an unknown first one into failed [R2]", async () => {
    const outside = await httpOutside()
    const tool = chargeTool(outside, {
      safety: "idempotent",
      contract: { key: KEY },
      probe: undefined,
      expect: undefined,
    })
    const invoke = await openHttp([tool])
    outside.proxy.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }])
    outside.answers.push({ status: 201, applies: true }, { status: 401 })
    const result = await invoke.call(CALL)
    expect(result).toMatchObject({ status: "succeeded", attempt: 3, output: { id: "ch_1" } })
    const { attempts } = await row(invoke, result.operation_id)
    expect(attempts.map((one) => one.generation)).toEqual([0, 0, 0])
    expect(attempts.map((one) => one.http_status)).toEqual([undefined, 401, 201])
    expect(outside.charges).toHaveLength(1)
  })

  test("is not asked for again under a key whose request would be another one: nothing leaves, and it is said why [RP-2]", async () => {
    const outside = await httpOutside()
    let sent = 0
    const changing = async (called: Parameters<typeof post>[1]) => {
      sent += 1
      return (await post(outside.proxy.url, called, { body: JSON.stringify({ ...BILL, note: sent }) })).json()
    }
    const tool = chargeTool(outside, {
      safety: "idempotent",
      contract: { key: KEY },
      probe: undefined,
      expect: undefined,
      execute: changing,
    })
    const invoke = await openHttp([tool])
    outside.proxy.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }])
    outside.answers.push({ status: 201, applies: true })
    const result = await invoke.call(CALL)
    expect(result).toMatchObject({ status: "needs_review", final_outcome: "unknown" })
    const { attempts } = await row(invoke, result.operation_id)
    expect(attempts.map((one) => one.reason?.code)).toEqual([expect.any(String), "key_body_changed"])
    expect(outside.charges).toHaveLength(1)
    expect(outside.arrived).toEqual(["POST /charges"])
  })

  test("of 400 is believed after one look: a mesh that repeats makes a refusal of a success [item 28]", async () => {
    const outside = await httpOutside()
    const invoke = await openHttp([chargeTool(outside)])
    outside.answers.push({ status: 201, applies: true }, { status: 400 })
    outside.proxy.script([{ match: { method: "POST" }, fault: { kind: "duplicate_request", answer: "last" } }])
    expect(await invoke.call(CALL)).toMatchObject({ status: "reconciled", attempt: 1 })
    expect(outside.charges).toHaveLength(1)
    // Without an object the one look is enough: no settle window, no second look.
    outside.answers.push({ status: 422 })
    const before = outside.arrived.length
    const refused = await invoke.call({ ...CALL, params: { ...BILL, invoice: "2" } })
    expect(refused).toMatchObject({ status: "failed", error: { code: "http_422" } })
    expect(outside.arrived.slice(before)).toEqual(["POST /charges", "GET /charges"])
  })

  test("of 307 is not followed with its body [RP-5]", async () => {
    const outside = await httpOutside()
    const invoke = await openHttp([chargeTool(outside, { attempts: 1 })])
    outside.answers.push({ status: 307, headers: { location: `${outside.proxy.url}/charges` } })
    const result = await invoke.call(CALL)
    expect(result.ok).toBe(false)
    expect(outside.arrived.filter((one) => one === "POST /charges")).toHaveLength(1)
    expect(outside.charges).toHaveLength(0)
  })

  test("of 429 waits as long as the provider asks [RP-1]", async () => {
    const outside = await httpOutside()
    const busy = async (called: Parameters<typeof post>[1]) => {
      const answer = await post(outside.proxy.url, called)
      if (answer.status === 429) throw outcome.notApplied({ code: "busy" })
      return answer.json()
    }
    const invoke = await openHttp([chargeTool(outside, { execute: busy })])
    outside.answers.push({ status: 429, headers: { "retry-after": "2" } })
    const result = await invoke.call(CALL)
    expect(result).toMatchObject({ status: "succeeded", attempt: 2 })
    const { attempts } = await row(invoke, result.operation_id)
    const [first, second] = attempts
    expect((second?.dispatched_at ?? 0) - (first?.settled_at ?? 0)).toBeGreaterThanOrEqual(2 * SECOND)
  })
})

describe("a connection that is refused", () => {
  test("proves that nothing left: such attempts do not count, and the call succeeds when the provider is back [item 15] [ST-3]", async () => {
    const clock = new ManualClock(Date.now())
    const outside = await httpOutside()
    const invoke = await openHttp([chargeTool(outside, { attempts: 1 })], clock)
    await outside.proxy.stopListening()
    const { operation_id } = await invoke.call({ ...CALL, wait: 0 })
    for (let n = 1; n <= 5; n += 1) await settledAttempts(clock, invoke, operation_id, n)
    const waiting = await row(invoke, operation_id)
    expect(waiting.state).toBe("ready")
    expect(waiting.attempts.every((one) => one.status === "disproved" && !one.left)).toBe(true)
    await outside.proxy.listenAgain()
    await settledAttempts(clock, invoke, operation_id, 6)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "succeeded" })
    expect(outside.charges).toHaveLength(1)
    expect(outside.arrived).toEqual(["POST /charges"])
  })

  test("for two minutes ends in not_applied, and the next call tries again [item 15]", async () => {
    const clock = new ManualClock(Date.now())
    const outside = await httpOutside()
    const invoke = await openHttp([chargeTool(outside)], clock, 0.9)
    await outside.proxy.stopListening()
    const { operation_id } = await invoke.call({ ...CALL, wait: 0 })
    await settledAttempts(clock, invoke, operation_id, 1)
    const started = clock.wall()
    for (let n = 2; (await row(invoke, operation_id)).state !== "not_applied"; n += 1) {
      await settledAttempts(clock, invoke, operation_id, n)
    }
    expect(clock.wall() - started).toBeLessThan(10 * MINUTE)
    expect(await row(invoke, operation_id)).toMatchObject({ reason: { code: "not_connected" } })
    await outside.proxy.listenAgain()
    await invoke.call({ ...CALL, wait: 0 })
    await real(async () => (await row(invoke, operation_id)).state === "succeeded", clock)
    expect(outside.charges).toHaveLength(1)
  })

  test("told by a tool that sends with a client of its own proves nothing [R1] [item 11]", async () => {
    const outside = await httpOutside()
    const own = () => Promise.reject(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }))
    const invoke = await openHttp([chargeTool(outside, { execute: own, attempts: 1 })])
    const { operation_id } = await invoke.call({ ...CALL, wait: 0 })
    await until(async () => (await row(invoke, operation_id)).state !== "dispatched")
    expect((await row(invoke, operation_id)).attempts[0]).toMatchObject({ status: "unknown", left: true })
  })
})

describe("a second effect request", () => {
  test("is refused before it leaves, the attempt is unknown whatever the first was answered, and the tool sends no more [item 4] [R8]", async () => {
    const outside = await httpOutside()
    const two = async (called: Parameters<typeof post>[1]) => {
      await called.fetch(`${outside.proxy.url}/token`, { method: "POST" })
      return (await post(outside.proxy.url, called)).json()
    }
    const invoke = await openHttp([chargeTool(outside, { execute: two })])
    const result = await invoke.call(CALL)
    expect(result).toMatchObject({ status: "not_applied", reason: { code: "second_effect" } })
    expect(outside.charges).toHaveLength(0)
    // The first request may have been an effect: it is not made again, for this operation or another one.
    const next = await invoke.call({ ...CALL, params: { ...BILL, invoice: "2" } })
    expect(next).toMatchObject({ status: "refused", reason: { code: "second_effect" } })
    expect(outside.arrived.filter((one) => one.startsWith("POST"))).toEqual(["POST /token"])
  })

  test("is none where the first is marked as no effect, or the effect is named [item 4]", async () => {
    const outside = await httpOutside()
    const marked = async (called: Parameters<typeof post>[1]) => {
      await called.fetch(`${outside.proxy.url}/token`, { method: "POST", effect: false })
      return (await post(outside.proxy.url, called)).json()
    }
    const named = async (called: Parameters<typeof post>[1]) => {
      await called.fetch(`${outside.proxy.url}/token`, { method: "POST" })
      return (await post(outside.proxy.url, called)).json()
    }
    const lookup = { correlates: "operation", maxExecution: "200ms", visibility: "100ms", spacing: "100ms" }
    const invoke = await openHttp([
      chargeTool(outside, { execute: marked }),
      chargeTool(outside, {
        name: "named",
        execute: named,
        contract: { lookup, effect: { method: "POST", path: "/charges" } },
      }),
    ])
    expect(await invoke.call(CALL)).toMatchObject({ status: "succeeded" })
    expect(await invoke.call({ ...CALL, tool: "named" })).toMatchObject({ status: "succeeded" })
    expect(outside.charges).toHaveLength(2)
  })
})

describe("a look", () => {
  test("that tries to change the world is refused before a byte leaves, and says nothing [RC-1]", async () => {
    const outside = await httpOutside()
    const probe = async (called: Parameters<typeof post>[1]) => (await post(outside.proxy.url, called)).json()
    const invoke = await openHttp([chargeTool(outside, { probe })])
    outside.proxy.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }])
    const { operation_id } = await invoke.call({ ...CALL, wait: 0 })
    await until(async () => (await row(invoke, operation_id)).probes.failed > 0)
    expect(outside.charges).toHaveLength(1)
    expect((await row(invoke, operation_id)).probes.answered).toBe(0)
  })
})

describe("a timeout", () => {
  test("closes the attempt's sockets: what waits cannot leave any more, and the late answer is not needed [R6] [ST-8]", async () => {
    const outside = await httpOutside()
    const invoke = await openHttp([chargeTool(outside, { timeout: "300ms" })])
    outside.proxy.script([{ match: { method: "POST" }, fault: { kind: "hold" } }])
    const { operation_id } = await invoke.call({ ...CALL, wait: 0 })
    await until(() => outside.proxy.held().length === 1)
    await until(async () => (await row(invoke, operation_id)).state === "unknown")
    // It lands after all, within Q: the look finds it.
    await outside.proxy.release()
    await until(async () => (await row(invoke, operation_id)).state === "succeeded")
    expect(outside.charges).toHaveLength(1)
    expect((await row(invoke, operation_id)).attempts).toHaveLength(1)
  })
})

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** Real sockets under a clock that stands still: first what the wire has to say, then time. */
async function real(holds: () => Promise<boolean>, clock: ManualClock): Promise<void> {
  while (!(await holds())) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    await clock.advance(50)
  }
}

async function settledAttempts(
  clock: ManualClock,
  invoke: Parameters<typeof reaches>[1],
  operation_id: string,
  count: number,
): Promise<void> {
  await real(async () => {
    const { attempts, state, due_at } = await row(invoke, operation_id)
    if (state === "ready" && attempts.length < count) await clock.advance(Math.max(0, (due_at ?? 0) - clock.wall()))
    if (state === "not_applied") return true
    return attempts.length >= count && attempts.at(-1)?.settled_at !== null
  }, clock)
}
