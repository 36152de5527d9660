// Hunts an outcome that nobody said: a value that passes for a yes, an error that passes for a no, an answer that a provider
// forges, and output that a replay would give differently from the first telling.

import { DEFAULTS } from "@invokejs/protocol"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { compileTool, defineTool, guardTool, isOutcome, jsonOutput, outcome, OutcomeError } from "./tool-exports.ts"
import type { AttemptContext, CompiledTool } from "./tool-exports.ts"

function tool(options: object = {}): CompiledTool {
  return compileTool(
    defineTool({
      name: "pay",
      safety: "irreversible",
      transport: "invoke",
      input: z.object({ n: z.int() }),
      applied: "returned",
      execute: () => null,
      ...options,
    } as never),
  )
}

const returned = (value: unknown) => ({ returned: { value }, timed_out: false })
const thrown = (error: unknown) => ({ thrown: { error }, timed_out: false })

class Declined extends Error {}

describe("what a tool says", () => {
  test("outcome words are heard whatever the applied rule is, returned or thrown [R3]", () => {
    for (const applied of ["returned", "2xx", "outcome", () => false]) {
      const pay = tool({ applied })
      expect(pay.interpret(returned(outcome.applied({ id: 1 })))).toEqual({ says: "applied", value: { id: 1 } })
      expect(pay.interpret(returned(outcome.accepted("ref")))).toEqual({
        says: "accepted",
        value: null,
        reference: "ref",
      })
      expect(pay.interpret(returned(outcome.accepted()))).toEqual({ says: "accepted", value: null })
      for (const evidence of [thrown, returned]) {
        expect(
          pay.interpret(evidence(outcome.notApplied({ code: "busy", message: "later", retryAfter: "2s" }))),
        ).toEqual({
          says: "not_applied",
          code: "busy",
          message: "later",
          retry_after_ms: 2_000,
        })
        expect(pay.interpret(evidence(outcome.rejected({ code: "declined" })))).toEqual({
          says: "rejected",
          code: "declined",
          message: "declined",
        })
      }
    }
  })

  test("applied names the object it made; one that cannot be read costs the object, not the fact", () => {
    const pay = tool()
    const made = { id: 7, createdAt: new Date(1_735_725_600_000), account: "acct", state: { at: new Date(0) } }
    expect(pay.interpret(returned(outcome.applied("v", { object: made })))).toEqual({
      says: "applied",
      value: "v",
      candidate: {
        object_id: "7",
        account: "acct",
        kind: "pay",
        created_at: 1_735_725_600_000,
        state: { at: "1970-01-01T00:00:00.000Z" },
      },
    })
    const broken = { id: "", state: {} }
    expect(pay.interpret(returned(outcome.applied("v", { object: broken })))).toEqual({ says: "applied", value: "v" })
  })

  test("a plain value is handed on; only a predicate's own true or false counts [R3]", () => {
    expect(tool().interpret(returned({ ok: false }))).toEqual({ says: "returned", value: { ok: false }, accepts: null })
    expect(tool({ applied: "2xx" }).interpret(returned(1))).toEqual({ says: "returned", value: 1, accepts: null })
    const ok = tool({ applied: (value: { ok?: unknown }) => value.ok })
    const accepts = (value: unknown) => {
      const word = ok.interpret(returned(value))
      return word.says === "returned" ? word.accepts : word.says
    }
    expect([accepts({ ok: true }), accepts({ ok: false })]).toEqual([true, false])
    // Truthy is not true: a promise, a text, a count. And a rule that throws has said nothing.
    expect([
      accepts({ ok: Promise.resolve(false) }),
      accepts({ ok: "false" }),
      accepts({ ok: 1 }),
      accepts(null),
    ]).toEqual([null, null, null, null])
  })

  test("a returned response that says 500 is no acknowledgement, whatever the author promised [R3]", () => {
    expect(tool().interpret(returned(new Response("{}", { status: 500 })))).toMatchObject({
      says: "unknown",
      code: "response_not_ok",
    })
    expect(tool().interpret(returned(new Response("{}", { status: 200 }))).says).toBe("returned")
  })

  test("an error that is no word says nothing, whatever its code [item 17]", () => {
    for (const error of [
      new Error("ECONNREFUSED"),
      Object.assign(new Error("x"), { code: "ECONNRESET" }),
      null,
      "no",
      404,
    ]) {
      expect(tool().interpret(thrown(error))).toMatchObject({ says: "unknown", code: "threw" })
    }
    expect(tool().interpret({ timed_out: true })).toMatchObject({ says: "unknown", code: "timeout" })
  })

  test("classify gives the same words for functions one cannot edit", () => {
    const pay = tool({
      classify: ({ value, error }: { value?: { state?: string }; error?: unknown }) => {
        if (error instanceof Declined) return outcome.rejected({ code: "declined" })
        if (error === "throw") throw outcome.notApplied({ code: "thrown" })
        if (error === "broken") throw new TypeError("x")
        if (error === "wrong") return { kind: "rejected" }
        return value?.state === "queued" ? outcome.accepted("q") : undefined
      },
    })
    expect(pay.interpret(thrown(new Declined()))).toMatchObject({ says: "rejected", code: "declined" })
    expect(pay.interpret(thrown("throw"))).toMatchObject({ says: "not_applied", code: "thrown" })
    expect(pay.interpret(returned({ state: "queued" }))).toMatchObject({ says: "accepted", reference: "q" })
    expect(pay.interpret(returned({ state: "done" })).says).toBe("returned")
    expect(pay.interpret(thrown(new Error("x")))).toMatchObject({ says: "unknown", code: "threw" })
    // The author's own code that fails is no proof of anything.
    expect(pay.interpret(thrown("broken"))).toMatchObject({ says: "unknown", code: "classify_failed" })
    expect(pay.interpret(thrown("wrong"))).toMatchObject({ says: "unknown", code: "classify_failed" })
    expect(pay.interpret({ timed_out: true })).toMatchObject({ code: "timeout" })
  })

  test("words survive a second copy of the package, and no provider's JSON can forge one", async () => {
    const address: string = new URL("../dist/tool/outcome.js?second-copy", import.meta.url).href
    const copy = (await import(/* @vite-ignore */ address)) as {
      outcome: typeof outcome
      OutcomeError: typeof OutcomeError
    }
    const word = copy.outcome.rejected({ code: "declined" })
    expect(copy.OutcomeError).not.toBe(OutcomeError)
    expect(word instanceof OutcomeError).toBe(false)
    expect(tool().interpret(thrown(word))).toMatchObject({ says: "rejected", code: "declined" })
    const forged: unknown = JSON.parse(JSON.stringify({ ...outcome.applied({ paid: true }), kind: "applied" }))
    expect(isOutcome(forged)).toBe(false)
    expect(tool({ applied: "outcome" }).interpret(returned(forged))).toMatchObject({ says: "returned", accepts: null })
  })
})

describe("the author's function", () => {
  const context: AttemptContext = {
    providerKey: "pk",
    operationId: "op",
    attempt: 2,
    signal: new AbortController().signal,
    fetch: () => Promise.reject(new Error("no network")),
  }

  test("defineTool's gets one object, guard's gets its parameters and the context [AU-12]", async () => {
    const seen: unknown[] = []
    const defined = tool({ execute: (given: object) => void seen.push(given) })
    await defined.execute({ n: 1 }, context)
    const guarded = compileTool(
      guardTool((...given: readonly unknown[]) => void seen.push(given), {
        name: "pay",
        identity: () => ({}),
        applied: "returned",
      }),
    )
    await guarded.execute({ n: 1 }, context)
    expect(seen).toEqual([{ ...context, params: { n: 1 } }, [{ n: 1 }, context]])
  })

  test("what it throws comes through as a rejection, also when it throws at once", async () => {
    const failing = tool({
      execute: () => {
        throw new Declined("no")
      },
    })
    await expect(failing.execute({ n: 1 }, context)).rejects.toBeInstanceOf(Declined)
  })
})

describe("parameters", () => {
  test("issues are places and words for a model, bounded", async () => {
    const nested = tool({ input: z.object({ items: z.array(z.object({ sku: z.string() })), n: z.int().positive() }) })
    expect(await nested.parse({ items: [{ sku: "a" }], n: 1 })).toEqual({
      ok: true,
      value: { items: [{ sku: "a" }], n: 1 },
    })
    expect(await nested.parse({ items: [{ sku: "a" }, { sku: 2 }], n: -1 })).toEqual({
      ok: false,
      issues: [
        { path: "items[1].sku", message: "Invalid input: expected string, received number" },
        { path: "n", message: "Too small: expected number to be >0" },
      ],
    })
    const many = await nested.parse({ items: Array.from({ length: 100 }, () => ({ sku: 1 })), n: 1 })
    expect(many.ok ? 0 : many.issues.length).toBe(32)
  })

  test("any Standard Schema will do: asynchronous, with keys as objects, or one that throws", async () => {
    const schema = (validate: (value: unknown) => unknown) => ({ "~standard": { version: 1, vendor: "x", validate } })
    const slow = tool({ input: schema((value) => Promise.resolve({ value: { was: value } })) })
    expect(await slow.parse(1)).toEqual({ ok: true, value: { was: 1 } })
    const keyed = tool({
      input: schema(() => ({ issues: [{ message: "no", path: [{ key: "a" }, { key: 0 }] }, { message: "x" }] })),
    })
    expect(await keyed.parse(1)).toEqual({
      ok: false,
      issues: [
        { path: "a[0]", message: "no" },
        { path: "$", message: "x" },
      ],
    })
    const silent = tool({ input: schema(() => ({ issues: [] })) })
    expect((await silent.parse(1)).ok).toBe(false)
    const broken = tool({ input: schema(() => Promise.reject(new Error("secret"))) })
    await expect(broken.parse(1)).rejects.toMatchObject({ code: "invalid_params", nothingRan: true })
  })

  test("guard without a schema takes parameters as they are given", async () => {
    const guarded = compileTool(
      guardTool((p: unknown) => p, { name: "pay", identity: () => ({}), applied: "returned" }),
    )
    expect(await guarded.parse({ any: [1] })).toEqual({ ok: true, value: { any: [1] } })
  })
})

describe("output goes through JSON once", () => {
  test("the first caller gets what a replay gets", () => {
    expect(jsonOutput({ at: new Date(0), gone: undefined, list: [undefined, 1] })).toEqual({
      output: { at: "1970-01-01T00:00:00.000Z", list: [null, 1] },
    })
    expect(jsonOutput(undefined)).toEqual({ output: null })
    expect(jsonOutput(null)).toEqual({ output: null })
    expect(jsonOutput("x")).toEqual({ output: "x" })
  })

  test("what cannot be stored is told and never thrown: the effect took place", () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    let deep: unknown = 1
    for (let depth = 0; depth < 100; depth += 1) deep = [deep]
    const throwing = {
      toJSON: () => {
        throw new Error("secret")
      },
    }
    for (const value of [
      circle,
      1n,
      { n: 1n },
      () => 1,
      Symbol("x"),
      deep,
      throwing,
      new Map([[1, 2]]),
      new Set([1]),
      Promise.resolve(1),
      new Response("{}"),
      new Error("x"),
      "\ud800",
      "x".repeat(DEFAULTS.output_bytes_max),
      "ü".repeat(DEFAULTS.output_bytes_max / 2),
    ]) {
      const stored = jsonOutput(value)
      expect(stored.output).toBe(null)
      expect("output_error" in stored ? stored.output_error : "").toMatch(/^[^]{8,300}$/)
      expect(JSON.stringify(stored)).not.toContain("secret")
    }
    expect(jsonOutput(() => 1)).toEqual({ output: null, output_error: "a function cannot be stored" })
    expect(jsonOutput("x".repeat(DEFAULTS.output_bytes_max - 2))).toHaveProperty(
      "output.length",
      DEFAULTS.output_bytes_max - 2,
    )
  })
})

test("the author's word that an answer proves nothing stands above its status [ST-3] [R2]", () => {
  const evidence = {
    thrown: { error: outcome.unknown({ code: "key_in_use", message: "the first is running" }) },
    timed_out: false,
  }
  expect(tool().interpret(evidence)).toEqual({
    says: "proves_nothing",
    code: "key_in_use",
    message: "the first is running",
  })
})
