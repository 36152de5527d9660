// Hunts: news that comes too late to be heard, a second dispatch that never read it, a settled fact rewritten.
import { outcome } from "@invokejs/engine"
import { describe, expect, test } from "vitest"
import { BILL, mailTool, Outside, payTool, type Bill, type About } from "./outside.ts"
import { during, exchanged, HOUR, MINUTE, reaches, refusal, row, SECOND, turns, world } from "./world.ts"

interface Promised {
  readonly answer: (value: unknown) => void
  readonly fail: (error: unknown) => void
}

/** A request whose promise the test ends. */
function promised(outside: Outside) {
  const ends: Promised[] = []
  const hold = (apply: boolean) => (bill: Bill, about: About) => {
    const payment = apply ? outside.apply(bill, about) : null
    return new Promise((answer, fail) => {
      ends.push({ answer: (value) => answer(value ?? { payment: payment?.id }), fail })
    })
  }
  return { ends, applied: hold(true), nothing: hold(false) }
}

function setting() {
  const made = world()
  const outside = new Outside(made.clock)
  return { ...made, outside, ...promised(outside) }
}

const GONE = { to: "not_applied", reason: "looked", evidence: { ticket: "7" }, process_gone: true } as const

describe("a late acknowledgement", () => {
  test("settles an unknown operation, and nothing is dispatched beside it [ST-5] [R5] [C1]", async () => {
    const { clock, open, outside, applied, ends } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = [applied]
    outside.lookup = "blind"
    const call = invoke.call({ tool: "pay", params: BILL, wait: "30m" })
    await clock.advance(10 * MINUTE)
    expect(outside.requests).toHaveLength(1)
    ends[0]?.answer(undefined)
    expect(await during(clock, call)).toMatchObject({ status: "succeeded", cause: "acknowledged", attempt: 1 })
    expect(outside.requests).toHaveLength(1)
  })

  test("settles one in review, and the person's queue is empty [ST-5] [R5]", async () => {
    const { clock, open, outside, applied, ends } = setting()
    const invoke = await open([mailTool(outside)])
    outside.script = [applied]
    const { operation_id } = await invoke.call({ tool: "mail", params: BILL, wait: 0 })
    await reaches(clock, invoke, operation_id, "needs_review")
    ends[0]?.answer({ sent: true })
    await clock.idle()
    expect(await row(invoke, operation_id)).toMatchObject({ state: "succeeded", output: { sent: true } })
  })

  test("heard before another attempt settles the operation, and that attempt is not made [R5] [ST-5]", async () => {
    const { clock, open, outside, applied, ends, journal } = setting()
    const invoke = await open([payTool(outside)], { reconcile: false })
    outside.script = [applied]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(31 * SECOND)
    await invoke.operator({ name: "ada" }).resolve(operation_id, { ...GONE, to: "ready" })
    ends[0]?.answer(undefined)
    await clock.idle()
    await during(clock, invoke.settle())
    expect(await row(invoke, operation_id)).toMatchObject({ state: "succeeded", attempts: [{ attempt: 1 }] })
    const reader = await journal()
    expect(await reader.incidents({ operation_id })).toMatchObject([{ kind: "late_positive" }])
    await reader.close()
    expect(outside.requests).toHaveLength(1)
  })

  test("after a settled denial contradicts it: incident, attention, everything closed until amended [ST-5] [R5]", async () => {
    const { clock, open, outside, applied, ends, journal } = setting()
    const invoke = await open([payTool(outside)])
    const operator = invoke.operator({ name: "ada" })
    const heard: string[] = []
    invoke.on("attention", (one) => heard.push(one.state))
    outside.script = [applied]
    outside.lookup = "blind"
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await reaches(clock, invoke, operation_id, "unknown")
    await operator.resolve(operation_id, GONE)
    expect(await invoke.wait(operation_id, { wait: 0 })).toMatchObject({ status: "not_applied" })
    ends[0]?.answer(undefined)
    await clock.idle()
    const contradicted = await row(invoke, operation_id)
    expect(contradicted).toMatchObject({ state: "not_applied", contradicted: true })
    expect(heard).toContain("contradicted")
    const reader = await journal()
    expect(await reader.incidents({ operation_id, open: true })).toMatchObject([{ kind: "contradicted" }])
    await reader.close()
    const again = await invoke.call({ tool: "pay", params: BILL })
    expect(again).toMatchObject({ status: "needs_review", final_outcome: "unknown", retry: "blocked", ok: false })
    expect((await refusal(operator.retry(operation_id, { afterAttempt: 1 }))).code).toBe("retry_refused")
    const supersede = operator.supersede(operation_id, { params: BILL, expectedVersion: contradicted.version })
    expect((await refusal(supersede)).code).toBe("supersedes_refused")
    expect(outside.requests).toHaveLength(1)

    await operator.amend(operation_id, { to: "succeeded", reason: "the bank confirms it" })
    expect(await invoke.call({ tool: "pay", params: BILL })).toMatchObject({ ok: true, operation_id })
    const types = (await invoke.timeline(operation_id)).map((one) => one.type)
    // Nobody edited the denial: it stands before the contradiction and the amendment.
    expect(types.indexOf("resolved")).toBeLessThan(types.indexOf("contradicted"))
    expect(types.indexOf("contradicted")).toBeLessThan(types.indexOf("amended"))
  })

  test("of another object than the confirmed one is a double effect, for a person [RC-7] [R5]", async () => {
    const { clock, open, outside, nothing, ends, journal } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = [nothing]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    const [one] = [outside.apply(BILL, { key: "", operation_id })]
    await reaches(clock, invoke, operation_id, "succeeded")
    expect(await row(invoke, operation_id)).toMatchObject({ object: { object_id: one?.id } })
    ends[0]?.answer(outcome.applied({ done: true }, { object: { id: "pay_99", state: {} } }))
    await clock.idle()
    const reader = await journal()
    expect(await reader.incidents({ operation_id, open: true })).toMatchObject([
      { kind: "double_effect", detail: { objects: [one?.id, "pay_99"] } },
    ])
    await reader.close()
    expect(await row(invoke, operation_id)).toMatchObject({ state: "succeeded" })
  })

  test("of the same object is no incident, and twice is once [EV3]", async () => {
    const { clock, open, outside, applied, ends, journal } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = [applied]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await reaches(clock, invoke, operation_id, "succeeded")
    const payment = outside.payments[0]?.id ?? ""
    ends[0]?.answer(outcome.applied({ done: true }, { object: { id: payment, state: {} } }))
    await clock.idle()
    const reader = await journal()
    expect(await reader.incidents({ operation_id })).toEqual([])
    await reader.close()
    expect(await row(invoke, operation_id)).toMatchObject({ state: "succeeded", object: { object_id: payment } })
  })
})

describe("an acknowledgement that names an object", () => {
  test("which confirms another operation settles all the same, and says that it is shared [item 3] [RC-12]", async () => {
    const { open, outside, journal } = setting()
    const invoke = await open([payTool(outside)])
    const daily = () => outcome.applied({ done: true }, { object: { id: "digest-1", state: {} } })
    outside.script = [daily, daily]
    const first = await invoke.call({ tool: "pay", params: BILL })
    const second = await invoke.call({ tool: "pay", params: { ...BILL, invoice: "2" } })
    expect([first.status, second.status]).toEqual(["succeeded", "succeeded"])
    expect(await row(invoke, first.operation_id)).toMatchObject({ object: { object_id: "digest-1" } })
    expect(await row(invoke, second.operation_id)).toMatchObject({ object: null })
    const reader = await journal()
    expect(await reader.incidents({})).toMatchObject([
      { kind: "object_shared", operation_id: second.operation_id, detail: { confirms: first.operation_id } },
    ])
    await reader.close()
  })
})

describe("a late negative", () => {
  test("of a promise that ends after its timeout disproves its attempt [ST-5] [ST-8]", async () => {
    const { clock, open, outside, nothing, ends } = setting()
    const invoke = await open([payTool(outside, { attempts: 1 })])
    outside.script = [nothing]
    outside.lookup = "fail"
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await reaches(clock, invoke, operation_id, "unknown")
    ends[0]?.fail(outcome.notApplied({ code: "busy" }))
    await clock.idle()
    expect(await row(invoke, operation_id)).toMatchObject({ state: "not_applied" })
    expect(outside.payments).toHaveLength(0)
  })

  test("after a success changes nothing [JU6]", async () => {
    const { clock, open, outside, applied, ends } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = [applied]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await reaches(clock, invoke, operation_id, "succeeded")
    ends[0]?.fail(outcome.rejected({ code: "declined" }))
    await clock.advance(MINUTE)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "succeeded", contradicted: false })
    expect(outside.requests).toHaveLength(1)
  })
})

describe("a promise that never ends", () => {
  test("keeps every negative from counting, and goes to a person after its hour [item 10] [R6]", async () => {
    const { clock, open, outside, nothing } = setting()
    const invoke = await open([payTool(outside)], { poll_ms: 30 * SECOND })
    outside.script = [nothing]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(10 * MINUTE)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "unknown", verdict: "inconclusive" })
    clock.stepWall(HOUR)
    await clock.advance(MINUTE)
    const open_ = await row(invoke, operation_id)
    expect(open_).toMatchObject({ state: "needs_review", reason: { code: "attempt_open" } })
    const operator = invoke.operator({ name: "ada" })
    const { process_gone: _word, ...without } = GONE
    expect((await refusal(operator.resolve(operation_id, without))).message).toContain("process_gone")
    expect(await operator.resolve(operation_id, GONE)).toMatchObject({ status: "not_applied" })
    expect(outside.requests).toHaveLength(1)
  })
})

describe("evidence between a read and a compare-and-set", () => {
  test("is read by the decision that follows: a dispatch that has not seen it does not happen [R5] [S4]", async () => {
    const { clock, open, outside, applied, ends } = setting()
    let armed = false
    const invoke = await open([payTool(outside)], {
      wrap: (journal) =>
        exchanged(journal, {
          async dispatch(write) {
            // The acknowledgement of attempt 1 lands after the decision was made and before it is written.
            if (armed) ends[0]?.answer(undefined)
            armed = false
            await turns()
            return journal.dispatch(write)
          },
        }),
    })
    outside.script = [applied]
    outside.lookup = "blind"
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await reaches(clock, invoke, operation_id, "unknown")
    armed = true
    await invoke.operator({ name: "ada" }).resolve(operation_id, { ...GONE, to: "ready" })
    await clock.advance(MINUTE)
    expect(armed).toBe(false)
    expect(outside.payments).toHaveLength(1)
    expect(outside.requests).toHaveLength(1)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "succeeded" })
  })
})
