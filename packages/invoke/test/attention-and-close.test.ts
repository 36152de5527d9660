// Hunts: a person who is needed and never told, a process that ends and leaves work without a word.
import { describe, expect, test } from "vitest"
import type { Attention } from "@invokejs/engine"
import { BILL, mailTool, Outside, payTool } from "./outside.ts"
import { during, MINUTE, reaches, refusal, row, SECOND, world } from "./world.ts"

function setting() {
  const made = world()
  return { ...made, outside: new Outside(made.clock) }
}

describe("attention", () => {
  test("is told once when an operation needs a person, with the command that shows it [HU-6]", async () => {
    const { clock, open, outside, logs, path } = setting()
    const invoke = await open([mailTool(outside)])
    const heard: Attention[] = []
    const stop = invoke.on("attention", (one) => heard.push(one))
    outside.script = ["lose_request"]
    const { operation_id } = await invoke.call({ tool: "mail", params: BILL, wait: 0 })
    await reaches(clock, invoke, operation_id, "needs_review")
    await clock.advance(MINUTE)
    expect(heard).toMatchObject([{ operation_id, tool: "mail", state: "needs_review" }])
    expect(heard[0]?.command).toBe(`invoke ops show ${operation_id} --journal ${path}`)
    expect(logs.filter((one) => one.level === "warn" && one.message.includes("needs a person"))).toHaveLength(1)
    stop()
    outside.script = ["lose_request"]
    const second = await invoke.call({ tool: "mail", params: { ...BILL, invoice: "2" }, wait: 0 })
    await reaches(clock, invoke, second.operation_id, "needs_review")
    expect(heard).toHaveLength(1)
  })

  test("is told again when it needs one again [HU-6]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([mailTool(outside)])
    const heard: string[] = []
    invoke.on("attention", (one) => heard.push(one.state))
    outside.script = ["lose_request", "lose_request"]
    const { operation_id } = await invoke.call({ tool: "mail", params: BILL, wait: 0 })
    await reaches(clock, invoke, operation_id, "needs_review")
    await clock.advance(SECOND)
    const word = { to: "ready", reason: "looked", evidence: { ticket: "1" } } as const
    await invoke.operator({ name: "ada" }).resolve(operation_id, word)
    await clock.until(() => outside.requests.length === 2, MINUTE)
    await reaches(clock, invoke, operation_id, "needs_review")
    await clock.advance(SECOND)
    expect(heard).toEqual(["needs_review", "needs_review"])
  })

  test("of a listener that throws, or of a promise that nobody has, stops nothing [HU-6]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([mailTool(outside)])
    const heard: string[] = []
    invoke.on("attention", () => {
      throw new Error("the pager is down")
    })
    invoke.on("attention", (one) => heard.push(one.operation_id))
    outside.script = ["lose_request"]
    const { operation_id } = await invoke.call({ tool: "mail", params: BILL, wait: 0 })
    await reaches(clock, invoke, operation_id, "needs_review")
    await clock.advance(SECOND)
    expect(heard).toEqual([operation_id])
  })

  test("is the only event: another name is refused, not ignored", async () => {
    const { open, outside } = setting()
    const invoke = await open([mailTool(outside)])
    expect(() => invoke.on("attentoin" as "attention", () => undefined)).toThrow(/no event/)
    expect(() => invoke.on("attention", "log" as never)).toThrow(/function/)
  })
})

describe("closing", () => {
  test("says how many operations are not settled, where, and the command that lists them [interfaces]", async () => {
    const { clock, open, outside, logs, path } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["lose_answer", "lose_answer"]
    outside.lookup = "fail"
    await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await invoke.call({ tool: "pay", params: { ...BILL, invoice: "2" }, wait: 0 })
    await invoke.call({ tool: "pay", params: { ...BILL, invoice: "3" } })
    await clock.idle()
    await invoke.close()
    const said = logs.filter((one) => one.level === "warn").map((one) => one.message)
    expect(said).toEqual([`2 operations are not settled; list them with: invoke ops --journal ${path} --open`])
  })

  test("with everything settled says nothing", async () => {
    const { open, outside, logs } = setting()
    const invoke = await open([payTool(outside)])
    await invoke.call({ tool: "pay", params: BILL })
    await invoke.close()
    expect(logs).toEqual([])
  })

  test("refuses what comes after it: draining, and nothing ran [CS-6]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside)])
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL })
    await invoke.close()
    const call = await refusal(invoke.call({ tool: "pay", params: { ...BILL, invoice: "2" } }))
    expect(call).toMatchObject({ code: "draining", nothingRan: true })
    const operator = invoke.operator({ name: "ada" })
    expect((await refusal(invoke.operation(operation_id))).code).toBe("draining")
    expect((await refusal(invoke.operations())).code).toBe("draining")
    expect((await refusal(invoke.wait(operation_id))).code).toBe("draining")
    expect((await refusal(invoke.timeline(operation_id))).code).toBe("draining")
    expect((await refusal(operator.cancel(operation_id))).code).toBe("draining")
    expect((await refusal(operator.repeat(operation_id, { reason: "r" }))).code).toBe("draining")
    expect((await refusal(invoke.checkpoint("run").read())).code).toBe("draining")
    expect(outside.requests).toHaveLength(1)
  })

  test("answers those who wait, with what the row says [interfaces: an elapsed wait ends the waiting]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["lose_answer"]
    outside.lookup = "fail"
    const waits = invoke.call({ tool: "pay", params: BILL, wait: "10m" })
    await clock.advance(10 * SECOND)
    await invoke.close()
    const told = await during(clock, waits, SECOND)
    expect(told).toMatchObject({ status: "unknown", final_outcome: "unknown" })
  })

  test("works through `await using` too", async () => {
    const { open, outside, journal } = setting()
    {
      await using invoke = await open([payTool(outside)])
      await invoke.call({ tool: "pay", params: BILL })
    }
    const reader = await journal()
    expect((await reader.workers.list())[0]?.closed_at).not.toBeNull()
    await reader.close()
  })

  test("in the middle of a look loses nothing: the next process looks [PB1]", async () => {
    const { clock, open, outside } = setting()
    let answer: () => void = () => undefined
    const hanging = payTool(outside, {
      probe: () =>
        new Promise((resolve) => {
          answer = () => resolve(undefined)
        }),
    })
    const before = await open([hanging])
    outside.script = ["lose_answer"]
    const { operation_id } = await before.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(5 * SECOND)
    await before.close()
    answer()
    await clock.idle()
    const after = await open([payTool(outside)])
    await reaches(clock, after, operation_id, "succeeded")
    expect(await row(after, operation_id)).toMatchObject({ attempts: [{ attempt: 1 }] })
  })
})
