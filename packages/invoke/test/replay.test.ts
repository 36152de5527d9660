// Hunts: a replay that differs from what the first caller got, replays a fact that is no longer true, or runs again.
import { verifyChain, sha256 } from "@invokejs/engine"
import { describe, expect, test } from "vitest"
import { BILL, Outside, payTool } from "./outside.ts"
import { refusal, row, SECOND, world } from "./world.ts"

function setting() {
  const { clock, open } = world()
  return { clock, open, outside: new Outside(clock) }
}

describe("a replay", () => {
  test("gives what the first caller got: output goes through JSON once [ID-7]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside)])
    const at = new Date(Date.UTC(2026, 0, 2))
    outside.script = [() => ({ at, gone: undefined, list: [undefined, 1], nan: Number.NaN, text: "ü" })]
    const first = await invoke.call({ tool: "pay", params: BILL })
    const again = await invoke.call({ tool: "pay", params: BILL })
    const stored = { at: at.toISOString(), list: [null, 1], nan: null, text: "ü" }
    expect(first.output).toEqual(stored)
    expect(again.output).toEqual(stored)
    expect(again).toMatchObject({ status: "replayed", final_outcome: "already_succeeded" })
    expect(again.replayed_from?.at).toBe(
      new Date((await row(invoke, first.operation_id)).settled_at ?? 0).toISOString(),
    )
  })

  test("of output that cannot be stored says so; the effect is in place all the same [ID-7]", async () => {
    const outputs: readonly [string, unknown][] = [
      ["too large", "x".repeat(300 * 1024)],
      ["a bigint", { n: 1n }],
      ["a response", new Response("{}")],
      [
        "itself",
        (() => {
          const one: { self?: unknown } = {}
          one.self = one
          return one
        })(),
      ],
      ["a function", () => 1],
    ]
    for (const [what, output] of outputs) {
      const { open, outside } = setting()
      const invoke = await open([payTool(outside)])
      outside.script = [() => output]
      const first = await invoke.call({ tool: "pay", params: BILL })
      expect(first, what).toMatchObject({ status: "succeeded", ok: true, output: null })
      expect(first.output_error, what).not.toBeNull()
      expect(await invoke.call({ tool: "pay", params: BILL }), what).toMatchObject({
        status: "replayed",
        ok: true,
        output: null,
        output_error: first.output_error,
      })
      expect(outside.requests, what).toHaveLength(1)
    }
  })

  test("of nothing is null, not an error [ID-7]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = [() => undefined]
    expect(await invoke.call({ tool: "pay", params: BILL })).toMatchObject({
      output: null,
      output_error: null,
      ok: true,
    })
  })

  test("of a refusal stays a refusal, for every caller, and runs nothing [E11]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["reject"]
    const first = await invoke.call({ tool: "pay", params: BILL })
    expect(first).toMatchObject({ status: "failed", error: { code: "declined" }, replayed_from: null })
    const again = await invoke.call({ tool: "pay", params: BILL })
    expect(again).toMatchObject({ status: "failed", operation_id: first.operation_id })
    expect(again.replayed_from).not.toBeNull()
    expect(outside.requests).toHaveLength(1)
  })

  test("after a restart is the same [B1] [D1]", async () => {
    const { open, outside } = setting()
    const before = await open([payTool(outside)])
    const first = await before.call({ tool: "pay", params: BILL })
    await before.close()
    const after = await open([payTool(outside)])
    expect(await after.call({ tool: "pay", params: BILL })).toMatchObject({
      status: "replayed",
      operation_id: first.operation_id,
      output: first.output,
    })
    expect(outside.requests).toHaveLength(1)
  })

  test("counts the duplicates, on the timeline, once a second at most [AU-1]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL })
    const before = await row(invoke, operation_id)
    for (let n = 0; n < 5; n += 1) await invoke.call({ tool: "pay", params: BILL })
    await clock.advance(2 * SECOND)
    const after = await row(invoke, operation_id)
    expect(after.duplicates.count).toBe(5)
    // It is no change of the operation: whoever read it before may still act on it.
    expect(after.version).toBe(before.version)
    const events = await invoke.timeline(operation_id)
    expect(events.filter((one) => one.type === "duplicate_retry_blocked").map((one) => one.data)).toEqual([
      { count: 5 },
    ])
    expect(verifyChain(after, events, sha256)).toEqual([])
  })
})

describe("a purged operation", () => {
  test("is a tombstone: the key answers, with the fact and without the payload, and nothing runs [ID-9] [R35]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    const operator = invoke.operator({ name: "ada" })
    const first = await invoke.call({ tool: "pay", params: BILL })
    await clock.advance(SECOND)
    expect(await operator.purge({ before: clock.wall() })).toMatchObject({ purged: 1 })
    expect(await invoke.call({ tool: "pay", params: BILL })).toMatchObject({
      status: "replayed",
      final_outcome: "already_succeeded",
      operation_id: first.operation_id,
      output: null,
      output_purged: true,
      ok: true,
    })
    expect(outside.requests).toHaveLength(1)
  })

  test("still refuses other parameters [ID-9] [ID-4] [R35]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    await invoke.call({ tool: "pay", params: BILL })
    await clock.advance(SECOND)
    await invoke.operator({ name: "ada" }).purge({ before: clock.wall() })
    const error = await refusal(invoke.call({ tool: "pay", params: { ...BILL, amount: 1 } }))
    expect(error.code).toBe("idempotency_key_reused")
    expect(outside.requests).toHaveLength(1)
  })

  test("is never an unresolved one [R35]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["lose_answer"]
    outside.lookup = "fail"
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(SECOND)
    expect(await invoke.operator({ name: "ada" }).purge({ before: clock.wall() })).toMatchObject({ purged: 0 })
    expect((await row(invoke, operation_id)).params).toEqual(BILL)
  })
})
