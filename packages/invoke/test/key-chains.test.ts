// Hunts: one action under two names run twice, two actions under one name lost, a key that means something else after a deploy.
import { sha256 } from "@invokejs/engine"
import { checkCallOptions, compileTool, nameCall } from "@invokejs/engine/internal"
import { id } from "@invokejs/protocol"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { BILL, INVOICE, mailTool, Outside, payTool, type Bill } from "./outside.ts"
import { during, refusal, row, world } from "./world.ts"

const NAMELESS = { identity: undefined }

function setting() {
  const { clock, open } = world()
  return { clock, open, outside: new Outside(clock) }
}

describe("an explicit key", () => {
  test("names one action: the same call again is the same operation [ID-2] [ID-7]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside, NAMELESS)])
    const call = { tool: "pay", params: BILL, idempotencyKey: "bill:84721" }
    const first = await invoke.call(call)
    const again = await invoke.call(call)
    expect(first).toMatchObject({ status: "succeeded", idempotency_key: "bill:84721" })
    expect(again).toMatchObject({ status: "replayed", operation_id: first.operation_id })
    expect(outside.requests).toHaveLength(1)
  })

  test("with other parameters is refused, the fields named, and nothing runs [ID-4] [E1]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside, NAMELESS)])
    const first = await invoke.call({ tool: "pay", params: BILL, idempotencyKey: "k" })
    const error = await refusal(
      invoke.call({ tool: "pay", params: { ...BILL, amount: 1, note: "x" }, idempotencyKey: "k" }),
    )
    expect(error.code).toBe("idempotency_key_reused")
    expect(error.detail).toMatchObject({ operation_id: first.operation_id, differing_fields: ["amount", "note"] })
    expect(outside.requests).toHaveLength(1)
  })

  test("with another tool is refused, also where the parameters are equal [ID-4] [E1]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside, NAMELESS), mailTool(outside, NAMELESS)])
    await invoke.call({ tool: "pay", params: BILL, idempotencyKey: "k" })
    const error = await refusal(invoke.call({ tool: "mail", params: BILL, idempotencyKey: "k" }))
    expect(error.code).toBe("idempotency_key_reused")
    expect(error.detail).toMatchObject({ differing_fields: ["tool"] })
    expect(outside.requests).toHaveLength(1)
  })

  test("belongs to its tenant [ID-2] [E12]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside, NAMELESS)])
    const a = await invoke.call({ tool: "pay", params: BILL, idempotencyKey: "k", tenant: "a" })
    const b = await invoke.call({ tool: "pay", params: BILL, idempotencyKey: "k", tenant: "b" })
    expect(b.operation_id).not.toBe(a.operation_id)
    expect(outside.requests).toHaveLength(2)
    expect(new Set(outside.requests.map((one) => one.key)).size).toBe(2)
  })

  for (const key of ["d:x", "D:x", "r:x", "a:run:x", "compensate:1:2", "", " k", "k ", "a\nb", "x".repeat(513)]) {
    test(`is refused as ${JSON.stringify(key.slice(0, 12))}, before anything is reserved [E4] [R21]`, async () => {
      const { open, outside } = setting()
      const invoke = await open([payTool(outside, NAMELESS)])
      const error = await refusal(invoke.call({ tool: "pay", params: BILL, idempotencyKey: key }))
      expect(error.code).toBe("invalid_request")
      expect((await invoke.operations()).items).toEqual([])
    })
  }

  test("is not invented: a call without key, identity and run is refused [ID-2] [R21]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside, NAMELESS)])
    const error = await refusal(invoke.call({ tool: "pay", params: BILL }))
    expect(error.code).toBe("identity_required")
    expect(error.message).toContain("idempotencyKey:")
    expect(outside.requests).toHaveLength(0)
  })
})

describe("a derived key", () => {
  test("is the same whoever calls, in whatever run and turn [ID-3] [ID-11]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside)])
    const first = await invoke.call({ tool: "pay", params: BILL, agentId: "a", runId: "1", turnId: "1" })
    const again = await invoke.call({ tool: "pay", params: BILL, agentId: "b", runId: "2", turnId: "9" })
    expect(again.operation_id).toBe(first.operation_id)
    expect(first.idempotency_key).toMatch(/^d:[0-9a-f]{64}$/)
    expect(outside.requests).toHaveLength(1)
  })

  test("normalises what is written in two ways [ID-3]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside)])
    const first = await invoke.call({ tool: "pay", params: BILL })
    // The same action by identity; the parameters differ as given and when parsed.
    const error = await refusal(invoke.call({ tool: "pay", params: { ...BILL, amount: 2 } }))
    expect(error.detail).toMatchObject({ operation_id: first.operation_id, differing_fields: ["amount"] })
  })

  test("does not meet the key of another tool with equal fields [R21]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside), mailTool(outside)])
    await invoke.call({ tool: "pay", params: BILL })
    expect(await invoke.call({ tool: "mail", params: BILL })).toMatchObject({ status: "succeeded" })
    expect(outside.requests).toHaveLength(2)
  })

  test("a missing part is an error, and nothing runs [ID-3]", async () => {
    const { open, outside } = setting()
    const tool = payTool(outside, { identity: (p: Bill & { note?: string }) => ({ note: id(p.note as string) }) })
    const invoke = await open([tool])
    const error = await refusal(invoke.call({ tool: "pay", params: BILL }))
    expect(error.code).toBe("invalid_params")
    expect((await invoke.operations()).items).toEqual([])
  })
})

describe("an alias", () => {
  test("beside an identity names the same chain, and finds it alone [ID-2] [item 26]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside)])
    const first = await invoke.call({ tool: "pay", params: BILL, idempotencyKey: "call-7" })
    const again = await invoke.call({ tool: "pay", params: BILL, idempotencyKey: "call-8" })
    expect(first.idempotency_key).toMatch(/^d:/)
    expect(again.operation_id).toBe(first.operation_id)
    expect((await invoke.operations({ key: "call-7" })).items.map((one) => one.operation_id)).toEqual([
      first.operation_id,
    ])
    expect(outside.requests).toHaveLength(1)
  })

  test("of another chain is refused, the holder named [item 26] [ID-4]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside)])
    const first = await invoke.call({ tool: "pay", params: BILL, idempotencyKey: "call-7" })
    const error = await refusal(
      invoke.call({ tool: "pay", params: { ...BILL, invoice: "2" }, idempotencyKey: "call-7" }),
    )
    expect(error.code).toBe("idempotency_key_reused")
    expect(error.detail).toMatchObject({ operation_id: first.operation_id })
    expect(outside.requests).toHaveLength(1)
  })

  test("that links two chains which both exist is refused", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside)])
    await invoke.call({ tool: "pay", params: BILL, idempotencyKey: "one" })
    await invoke.call({ tool: "pay", params: { ...BILL, invoice: "2" }, idempotencyKey: "two" })
    const error = await refusal(invoke.call({ tool: "pay", params: BILL, idempotencyKey: "two" }))
    expect(error.code).toBe("idempotency_key_reused")
    expect(outside.requests).toHaveLength(2)
  })

  test("of the framework survives a supersede: it names the chain, not the revision [item 26]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["reject"]
    const first = await invoke.call({ tool: "pay", params: BILL, idempotencyKey: "call-7" })
    const { version } = await row(invoke, first.operation_id)
    const changed = { ...BILL, amount: 40_000 }
    const next = await invoke
      .operator({ name: "ada" })
      .supersede(first.operation_id, { params: changed, expectedVersion: version, wait: 1_000 })
    const again = await invoke.call({ tool: "pay", params: changed, idempotencyKey: "call-7" })
    expect(again).toMatchObject({ status: "replayed", operation_id: next.operation_id })
    expect(outside.payments).toHaveLength(1)
  })
})

describe("an older revision's parameters", () => {
  test("get that revision's fact and the newest id [R18]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside)])
    outside.script = ["reject"]
    const first = await invoke.call({ tool: "pay", params: BILL })
    const { version } = await row(invoke, first.operation_id)
    const params = { ...BILL, amount: 40_000 }
    const next = await invoke
      .operator({ name: "ada" })
      .supersede(first.operation_id, { params, expectedVersion: version })
    expect(await invoke.call({ tool: "pay", params: BILL })).toMatchObject({
      operation_id: first.operation_id,
      status: "failed",
      retry: "blocked",
      superseded_by: next.operation_id,
    })
    const stranger = await refusal(invoke.call({ tool: "pay", params: { ...BILL, amount: 3 } }))
    expect(stranger.detail).toMatchObject({ operation_id: next.operation_id })
  })
})

describe("after a deploy", () => {
  test("a new default in the schema is no other set of parameters [R21]", async () => {
    const { open, outside } = setting()
    const before = await open([payTool(outside)])
    const first = await before.call({ tool: "pay", params: BILL })
    await before.close({ drain: 0 })
    const input = INVOICE.extend({ currency: z.string().default("usd") })
    const after = await open([payTool(outside, { input })])
    expect(await after.call({ tool: "pay", params: { ...BILL, currency: "usd" } })).toMatchObject({
      operation_id: first.operation_id,
      status: "replayed",
    })
    const other = await refusal(after.call({ tool: "pay", params: { ...BILL, currency: "eur" } }))
    expect(other.code).toBe("idempotency_key_reused")
    expect(outside.requests).toHaveLength(1)
  })

  const V2 = {
    identityVersion: "2",
    identity: (p: Bill) => ({ invoice: id(p.invoice), amount: id(String(p.amount)) }),
    identityVersions: { "1": (p: Bill) => ({ invoice: id(p.invoice) }) },
  }

  test("an old worker and a new one in a rolling deploy meet in one row [R21] [item 9] [ID-12]", async () => {
    for (const order of ["old first", "new first"]) {
      const { open, outside } = setting()
      const old = await open([payTool(outside)])
      const fresh = await open([payTool(outside, V2)])
      const [one, two] = order === "old first" ? [old, fresh] : [fresh, old]
      const first = await one.call({ tool: "pay", params: BILL })
      const second = await two.call({ tool: "pay", params: BILL })
      expect(second.operation_id, order).toBe(first.operation_id)
      expect(outside.requests, order).toHaveLength(1)
    }
  })

  test("racing in the same moment they meet as well [item 9]", async () => {
    const { clock, open, outside } = setting()
    const old = await open([payTool(outside)])
    const fresh = await open([payTool(outside, V2)])
    const both = [fresh.call({ tool: "pay", params: BILL }), old.call({ tool: "pay", params: BILL })]
    const results = await during(clock, Promise.all(both))
    expect(new Set(results.map((one) => one.operation_id)).size).toBe(1)
    expect(outside.requests).toHaveLength(1)
  })

  test("an identity that derives other keys under its old version refuses the start [item 9] [R21]", async () => {
    const { open, outside } = setting()
    const before = await open([payTool(outside)])
    const first = await before.call({ tool: "pay", params: BILL })
    await before.close({ drain: 0 })
    const moved = payTool(outside, { identity: (p: Bill) => ({ invoice: id(p.invoice), of: id("x") }) })
    const error = await refusal(open([moved]))
    expect(error.code).toBe("identity_changed")
    expect(error.detail).toMatchObject({ tool: "pay", operation_id: first.operation_id, identity_version: "1" })
  })

  test("so does one whose old version is not registered any more, or that is gone [item 9]", async () => {
    const { open, outside } = setting()
    const before = await open([payTool(outside)])
    await before.call({ tool: "pay", params: BILL })
    await before.close({ drain: 0 })
    const unregistered = { ...V2, identityVersions: undefined }
    expect((await refusal(open([payTool(outside, unregistered)]))).code).toBe("identity_changed")
    expect((await refusal(open([payTool(outside, NAMELESS)]))).code).toBe("identity_changed")
    const throws = {
      identity: () => {
        throw new Error("gone")
      },
    }
    expect((await refusal(open([payTool(outside, throws)]))).code).toBe("identity_changed")
  })

  test("a renamed tool keeps its chain and is found by both names' operations [R21]", async () => {
    const { open, outside } = setting()
    const before = await open([payTool(outside)])
    const first = await before.call({ tool: "pay", params: BILL })
    await before.close({ drain: 0 })
    const after = await open([payTool(outside, { name: "settle", was: "pay" })])
    expect(await after.call({ tool: "settle", params: BILL })).toMatchObject({ operation_id: first.operation_id })
    expect(outside.requests).toHaveLength(1)
  })

  test("a guarded function whose identity changed is refused at its first call [item 9]", async () => {
    const { open, outside } = setting()
    const pay = (p: Bill) => outside.pay(p, { key: "", operation_id: "", attempt: 1 })
    const before = await open([])
    const options = { name: "pay", applied: "returned", identity: (p: Bill) => ({ invoice: id(p.invoice) }) } as const
    await before.guard(pay, options)(BILL)
    await before.close({ drain: 0 })
    const after = await open([])
    const moved = after.guard(pay, { ...options, identity: (p: Bill) => ({ bill: id(p.invoice) }) })
    const error = await refusal(moved(BILL))
    expect(error.code).toBe("identity_changed")
    expect(outside.requests).toHaveLength(1)
  })
})

describe("a run", () => {
  test("names the action of a tool without identity, in that run only [ID-11]", async () => {
    const { open, outside } = setting()
    const invoke = await open([payTool(outside, NAMELESS)])
    const first = await invoke.call({ tool: "pay", params: BILL, runId: "run-1" })
    const again = await invoke.call({ tool: "pay", params: BILL, runId: "run-1", turnId: "9" })
    const other = await invoke.call({ tool: "pay", params: BILL, runId: "run-2" })
    expect(again).toMatchObject({ status: "replayed", operation_id: first.operation_id })
    expect(other.operation_id).not.toBe(first.operation_id)
    expect(outside.requests).toHaveLength(2)
  })

  test("scopes a key that an agent chose, and such a key says nothing without one [R21]", async () => {
    const { outside } = setting()
    const tool = compileTool(payTool(outside, NAMELESS))
    // No adapter speaks for an agent yet, so that part of naming is asked directly.
    const keyOf = async (runId: string | null) => {
      const options = checkCallOptions({ tool: "pay", params: { ...BILL }, idempotencyKey: "charge" })
      const checked = { ...options, runId, agentScoped: true }
      return (await nameCall({ sha256 } as never, tool, { ...BILL }, BILL, checked)).keys
    }
    expect(await keyOf("run-1")).toEqual(["a:run-1:charge"])
    expect(await keyOf("run-2")).toEqual(["a:run-2:charge"])
    expect((await refusal(keyOf(null))).code).toBe("identity_required")
  })
})
