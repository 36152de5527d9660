// Hunts: a commit whose answer was lost, read as a failure or as a success; an effect that nobody records.
import { JournalError, type Journal, type WriteResult } from "@invokejs/engine"
import { describe, expect, test } from "vitest"
import { BILL, mailTool, Outside, payTool } from "./outside.ts"
import { during, exchanged, MINUTE, reaches, refusal, row, SECOND, world } from "./world.ts"

type Door = "admit" | "dispatch" | "advance"

/** A journal whose commits can be put in doubt: the write lands, or not, and its answer is lost either way. */
function doubtful() {
  const script: { door: Door; lands: boolean; away?: boolean }[] = []
  let away = false
  const said = (error: string) => new JournalError(error as "commit_in_doubt", `simulated ${error}`)
  const wrap = (journal: Journal) => {
    const door =
      (name: Door) =>
      async (write: never): Promise<WriteResult> => {
        if (away) throw said("journal_unavailable")
        const fault = script[0]?.door === name ? script.shift() : undefined
        if (!fault) return journal[name](write)
        if (fault.lands) await journal[name](write)
        if (fault.away === true) away = true
        throw said("commit_in_doubt")
      }
    const reads = <K extends "settled" | "operation" | "view" | "due" | "quarantine" | "operations">(name: K) =>
      (async (...args: never[]) => {
        if (away) throw said("journal_unavailable")
        return (journal[name] as (...all: never[]) => Promise<unknown>)(...args)
      }) as Journal[K]
    return exchanged(journal, {
      admit: door("admit"),
      dispatch: door("dispatch"),
      advance: door("advance"),
      settled: reads("settled"),
      operation: reads("operation"),
      view: reads("view"),
      due: reads("due"),
      quarantine: reads("quarantine"),
      operations: reads("operations"),
    })
  }
  return {
    script,
    wrap,
    setAway(value: boolean) {
      away = value
    },
  }
}

function setting() {
  const made = world()
  return { ...made, outside: new Outside(made.clock), doubt: doubtful() }
}

describe("the commit of an admission in doubt", () => {
  test("that landed is learned by a locking read, and the attempt goes on as if it had been answered [R23] [CS-9] [L6]", async () => {
    const { open, outside, doubt } = setting()
    const invoke = await open([payTool(outside)], { wrap: doubt.wrap })
    doubt.script.push({ door: "admit", lands: true })
    expect(await invoke.call({ tool: "pay", params: BILL })).toMatchObject({ status: "succeeded" })
    expect(outside.requests).toHaveLength(1)
    expect((await invoke.operations()).items).toHaveLength(1)
  })

  test("that did not land is made again, once [R23] [CS-9]", async () => {
    const { open, outside, doubt } = setting()
    const invoke = await open([payTool(outside)], { wrap: doubt.wrap })
    doubt.script.push({ door: "admit", lands: false })
    expect(await invoke.call({ tool: "pay", params: BILL })).toMatchObject({ status: "succeeded" })
    expect(outside.requests).toHaveLength(1)
    expect((await invoke.operations()).items).toHaveLength(1)
  })

  for (const lands of [true, false]) {
    test(`while the journal is away is unknown, never an error; the same call is safe (${lands ? "it landed" : "it did not"}) [item 12] [R23]`, async () => {
      const { clock, open, outside, doubt } = setting()
      const invoke = await open([payTool(outside)], { wrap: doubt.wrap })
      doubt.script.push({ door: "admit", lands, away: true })
      const told = await invoke.call({ tool: "pay", params: BILL })
      expect(told).toMatchObject({
        status: "unknown",
        final_outcome: "unknown",
        retry: "automatic",
        reason: { code: "admission_in_doubt" },
      })
      expect(told.operation_id).not.toBe("")
      await clock.advance(5 * SECOND)
      expect(outside.requests).toHaveLength(0)
      doubt.setAway(false)
      const again = await during(clock, invoke.call({ tool: "pay", params: BILL }))
      expect(again.ok).toBe(true)
      if (lands) expect(again.operation_id).toBe(told.operation_id)
      expect(outside.payments).toHaveLength(1)
      expect((await invoke.operations()).items).toHaveLength(1)
    })
  }

  test("that landed with its dispatch is told never started, and goes on as attempt 2 without a look [R23] [item 12]", async () => {
    const { clock, open, outside, doubt } = setting()
    const invoke = await open([mailTool(outside)], { wrap: doubt.wrap })
    doubt.script.push({ door: "admit", lands: true, away: true })
    const { operation_id } = await invoke.call({ tool: "mail", params: BILL, wait: 0 })
    await clock.advance(3 * SECOND)
    doubt.setAway(false)
    const done = await reaches(clock, invoke, operation_id, "succeeded")
    // Irreversible, and yet nobody had to be asked: its own process knows that the tool was never called.
    expect(done.attempts).toMatchObject([
      { status: "disproved", left: false, reason: { code: "never_started" } },
      { status: "acknowledged" },
    ])
    expect((await invoke.timeline(operation_id)).map((one) => one.type)).toContain("never_started")
    expect(outside.requests).toHaveLength(1)
  })
})

describe("the commit of a dispatch record in doubt", () => {
  test("that landed starts its tool once [R23]", async () => {
    const { clock, open, outside, doubt } = setting()
    const invoke = await open([payTool(outside)], { wrap: doubt.wrap })
    outside.script = ["busy"]
    doubt.script.push({ door: "dispatch", lands: true })
    expect(await during(clock, invoke.call({ tool: "pay", params: BILL }))).toMatchObject({
      status: "succeeded",
      attempt: 2,
    })
    expect(outside.requests).toHaveLength(2)
  })

  test("while the journal is away starts nothing; found later, that attempt is told never started [R23] [CS-9]", async () => {
    const { clock, open, outside, doubt } = setting()
    const invoke = await open([payTool(outside)], { wrap: doubt.wrap })
    outside.script = ["busy"]
    doubt.script.push({ door: "dispatch", lands: true, away: true })
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.until(() => doubt.script.length === 0, MINUTE)
    await clock.advance(3 * SECOND)
    expect(outside.requests).toHaveLength(1)
    doubt.setAway(false)
    const done = await reaches(clock, invoke, operation_id, "succeeded")
    expect(done.attempts.map((one) => one.reason?.code ?? one.status)).toEqual([
      "busy",
      "never_started",
      "acknowledged",
    ])
    expect(outside.requests).toHaveLength(2)
  })

  test("that did not land changes nothing [R23]", async () => {
    const { clock, open, outside, doubt } = setting()
    const invoke = await open([payTool(outside)], { wrap: doubt.wrap })
    outside.script = ["busy"]
    doubt.script.push({ door: "dispatch", lands: false, away: true })
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.until(() => doubt.script.length === 0, MINUTE)
    doubt.setAway(false)
    const done = await reaches(clock, invoke, operation_id, "succeeded")
    expect(done.attempts).toHaveLength(2)
    expect(outside.requests).toHaveLength(2)
  })

  test("whose answer comes after its window starts no tool: that it never started is proof [R23] [item 6] [ST-8]", async () => {
    const { clock, open, outside } = setting()
    let slow = true
    const invoke = await open([mailTool(outside)], {
      wrap: (journal) =>
        exchanged(journal, {
          async admit(write) {
            const written = await journal.admit(write)
            if (slow) await new Promise<void>((resolve) => clock.after(27 * SECOND, resolve))
            slow = false
            return written
          },
        }),
    })
    const result = await during(clock, invoke.call({ tool: "mail", params: BILL, wait: "5m" }))
    expect(result).toMatchObject({ status: "succeeded", attempt: 2 })
    expect((await row(invoke, result.operation_id)).attempts[0]).toMatchObject({
      status: "disproved",
      left: false,
      reason: { code: "never_started" },
    })
    expect(outside.requests).toHaveLength(1)
  })
})

describe("an outcome", () => {
  test("whose commit is in doubt and landed is no late news of its own [R23]", async () => {
    const { open, outside, doubt, journal } = setting()
    const invoke = await open([payTool(outside)], { wrap: doubt.wrap })
    doubt.script.push({ door: "advance", lands: true })
    const { operation_id, status } = await invoke.call({ tool: "pay", params: BILL })
    expect(status).toBe("succeeded")
    const events = (await invoke.timeline(operation_id)).map((one) => one.type)
    expect(events.filter((one) => one === "acknowledged")).toHaveLength(1)
    const reader = await journal()
    expect(await reader.incidents({})).toEqual([])
    await reader.close()
  })

  test("that cannot be written for a while is kept, the caller told unknown, nothing dispatched [protocol 11] [S3]", async () => {
    const { clock, open, outside, doubt } = setting()
    const invoke = await open([payTool(outside)], { wrap: doubt.wrap })
    outside.script = ["hang"]
    const call = invoke.call({ tool: "pay", params: BILL, wait: "20s" })
    await clock.advance(SECOND)
    doubt.setAway(true)
    outside.release()
    const told = await during(clock, call)
    expect(told).toMatchObject({ status: "unknown", final_outcome: "unknown", reason: { code: "not_recorded" } })
    await clock.advance(10 * SECOND)
    doubt.setAway(false)
    const done = await reaches(clock, invoke, told.operation_id, "succeeded")
    expect(done).toMatchObject({ cause: "acknowledged", output: { payment: "pay_1" } })
    expect(outside.requests).toHaveLength(1)
  })

  test("that cannot be written while the process closes is written as soon as it can be, within the drain [CS-6]", async () => {
    const { clock, open, outside, doubt } = setting()
    const invoke = await open([payTool(outside)], { wrap: doubt.wrap })
    const other = await open([payTool(outside)], { reconcile: false })
    outside.script = ["hang"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    doubt.setAway(true)
    const closed = invoke.close({ drain: "10s" })
    outside.release()
    await clock.advance(SECOND)
    doubt.setAway(false)
    await during(clock, closed)
    expect(await row(other, operation_id)).toMatchObject({ state: "succeeded" })
  })
})

describe("a journal that is away", () => {
  test("refuses a call, and nothing ran [ST-1] [S2]", async () => {
    const { open, outside, doubt } = setting()
    const invoke = await open([payTool(outside)], { wrap: doubt.wrap })
    doubt.setAway(true)
    const error = await refusal(invoke.call({ tool: "pay", params: BILL }))
    expect(error).toMatchObject({ code: "journal_unavailable", nothingRan: true })
    expect(error.retry_after_ms).toBeGreaterThan(0)
    expect(outside.requests).toHaveLength(0)
    doubt.setAway(false)
    expect(await invoke.call({ tool: "pay", params: BILL })).toMatchObject({ status: "succeeded" })
  })

  test("does not turn a call that was admitted into an error [interfaces: a Result always has an operation id]", async () => {
    const { clock, open, outside, doubt } = setting()
    const invoke = await open([payTool(outside)], { wrap: doubt.wrap })
    outside.script = ["hang"]
    const call = invoke.call({ tool: "pay", params: BILL, wait: "5s" })
    await clock.idle()
    doubt.setAway(true)
    const told = await during(clock, call)
    expect(told).toMatchObject({ status: "in_progress" })
    expect(told.operation_id).not.toBe("")
    doubt.setAway(false)
    outside.release()
    await reaches(clock, invoke, told.operation_id, "succeeded")
  })

  test("stops the background loop from nothing but its steps: it goes on when the journal is back [L1]", async () => {
    const { clock, open, outside, doubt, logs } = setting()
    const invoke = await open([payTool(outside)], { wrap: doubt.wrap })
    outside.script = ["lose_answer"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.idle()
    doubt.setAway(true)
    await clock.advance(30 * SECOND)
    // It says so, and not without end.
    const said = logs.filter((one) => one.level === "error").length
    expect(said).toBeGreaterThan(0)
    expect(said).toBeLessThan(100)
    doubt.setAway(false)
    await reaches(clock, invoke, operation_id, "succeeded")
    expect(outside.requests).toHaveLength(1)
  })
})
