// Hunts: a window that a clock's jump shortens, a deadline that ends knowledge, a budget that ends in a second effect.
import { absent, found, unsure } from "@invokejs/engine"
import { describe, expect, test } from "vitest"
import { BILL, Outside, payTool } from "./outside.ts"
import { during, exchanged, HOUR, MINUTE, reaches, row, SECOND, turns, world } from "./world.ts"

function setting() {
  const made = world()
  return { ...made, outside: new Outside(made.clock) }
}

describe("a clock", () => {
  test("that jumps forward restarts the windows that were open: no negative counts because time seems to have passed [R28]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["lose_request"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(5 * SECOND)
    clock.stepWall(HOUR)
    // Q + V are 70 s, and they begin at the jump.
    await clock.advance(65 * SECOND)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "unknown" })
    expect(outside.requests).toHaveLength(1)
    await reaches(clock, invoke, operation_id, "succeeded")
    expect(outside.payments).toHaveLength(1)
  })

  test("that goes back between the record and the tool starts no tool [item 6] [ST-8]", async () => {
    const { clock, open, outside } = setting()
    let step = true
    const invoke = await open([payTool(outside)], {
      wrap: (journal) =>
        exchanged(journal, {
          async admit(write) {
            const written = await journal.admit(write)
            if (step) clock.stepWall(-SECOND)
            step = false
            return written
          },
        }),
    })
    const result = await during(clock, invoke.call({ tool: "pay", params: BILL, wait: "5m" }))
    expect(result).toMatchObject({ status: "succeeded", attempt: 2 })
    expect((await row(invoke, result.operation_id)).attempts[0]).toMatchObject({ reason: { code: "never_started" } })
    expect(outside.requests).toHaveLength(1)
  })
})

describe("a deadline", () => {
  test("bounds dispatches: what is refuted after it is not sent again [ST-7] [RP-1]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside, { timeout: "10s", deadline: "1m" })])
    outside.script = ["lose_request"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    const done = await reaches(clock, invoke, operation_id, "not_applied")
    expect(done).toMatchObject({ reason: { code: "deadline" }, verdict: "refuted" })
    expect(outside.requests).toHaveLength(1)
  })

  test("bounds no knowledge: what is found after it is succeeded all the same [ST-7] [R29]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside, { timeout: "10s", deadline: "1m" })])
    outside.script = ["lose_answer"]
    outside.lookup = "fail"
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(3 * MINUTE)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "unknown" })
    outside.lookup = "answer"
    expect(await reaches(clock, invoke, operation_id, "succeeded")).toMatchObject({ cause: "operation" })
  })
})

describe("looks that say nothing", () => {
  test("end at a person after twenty, go on slowly, and still settle what they find [RC-8] [R29]", async () => {
    const { clock, open, outside } = setting()
    let say: (() => unknown) | null = () => absent({ complete: false })
    const invoke = await open([
      payTool(outside, {
        probe: ({ operationId }: { operationId: string }) => {
          outside.lookups += 1
          return say?.() ?? foundBy(outside, operationId)
        },
      }),
    ])
    outside.script = ["lose_answer"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    const operator = invoke.operator({ name: "ada" })
    for (let n = 0; n < 20; n += 1) {
      await operator.reconcile(operation_id)
      await clock.idle()
    }
    await reaches(clock, invoke, operation_id, "needs_review")
    expect(outside.lookups).toBe(20)
    expect(await row(invoke, operation_id)).toMatchObject({ reason: { code: "probes_spent" } })
    say = null
    await operator.reconcile(operation_id)
    await clock.idle()
    expect(await row(invoke, operation_id)).toMatchObject({ state: "succeeded", cause: "operation" })
    expect(outside.requests).toHaveLength(1)
  })

  test("in review refute into not_applied: nothing goes out by itself any more [protocol 4] [R29]", async () => {
    const { clock, open, outside } = setting()
    let say: (() => unknown) | null = () => unsure("the provider is busy")
    const invoke = await open([
      payTool(outside, {
        probe: ({ operationId }: { operationId: string }) => say?.() ?? foundBy(outside, operationId),
      }),
    ])
    outside.script = ["lose_request"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    const operator = invoke.operator({ name: "ada" })
    for (let n = 0; n < 20; n += 1) {
      await operator.reconcile(operation_id)
      await clock.idle()
    }
    await reaches(clock, invoke, operation_id, "needs_review")
    say = null
    await clock.advance(2 * MINUTE)
    await operator.reconcile(operation_id)
    await clock.advance(20 * SECOND)
    await operator.reconcile(operation_id)
    await clock.idle()
    expect(await row(invoke, operation_id)).toMatchObject({ state: "not_applied", verdict: "refuted" })
    await clock.advance(5 * MINUTE)
    expect(outside.requests).toHaveLength(1)
  })
})

describe("a logger that throws", () => {
  test("takes no outcome with it [S3]", async () => {
    const { clock, open, outside } = setting()
    let away = false
    const telemetry = {
      log: () => {
        throw new Error("the disk is full")
      },
      count: () => {
        throw new Error("the disk is full")
      },
    }
    const invoke = await open([payTool(outside)], {
      telemetry,
      wrap: (journal) =>
        exchanged(journal, {
          advance: (write) => (away ? Promise.reject(new Error("no")) : journal.advance(write)),
        }),
    })
    outside.script = ["hang"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    away = true
    outside.release()
    await turns()
    away = false
    await reaches(clock, invoke, operation_id, "succeeded")
    expect(await row(invoke, operation_id)).toMatchObject({ cause: "acknowledged" })
  })
})

function foundBy(outside: Outside, operationId: string) {
  const payment = outside.find(operationId)
  if (!payment) return absent({ complete: true })
  const { invoice, amount } = payment
  return found({ id: payment.id, operationId, state: { invoice, amount, paid: true } })
}
