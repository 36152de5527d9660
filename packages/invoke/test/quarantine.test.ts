// Hunts: a copied or restored journal that dispatches, forgets what it could have sent, or never comes back to work.
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { absent, found } from "@invokejs/engine"
import { describe, expect, test } from "vitest"
import { BILL, mailTool, Outside, payTool, type Over } from "./outside.ts"
import { exchanged, MINUTE, reaches, refusal, row, SECOND, world } from "./world.ts"

function setting() {
  const made = world()
  return { ...made, outside: new Outside(made.clock) }
}

/** A journal as another life of itself: its file alone, in another place. */
async function copied(made: ReturnType<typeof setting>, before: (invoke: Opened) => Promise<void>, over: Over = {}) {
  const { clock, open, folder, path, outside } = made
  const tools = [payTool(outside, over), mailTool(outside)]
  const first = await open(tools, { reconcile: false })
  await before(first)
  await first.close({ drain: 0 })
  const copy = join(folder, "copy.db")
  copyFileSync(path, copy)
  await clock.advance(SECOND)
  return { tools, copy }
}

type Opened = Awaited<ReturnType<ReturnType<typeof setting>["open"]>>

const RESOLVE = { reason: "looked", evidence: { ticket: "7" } }

describe("a copied journal", () => {
  test("dispatches nothing; calls are admitted and told so, replays and joins are answered [CS-9] [R24] [item 18]", async () => {
    const made = setting()
    const { clock, open, outside } = made
    let done = ""
    const { tools, copy } = await copied(made, async (invoke) => {
      done = (await invoke.call({ tool: "pay", params: BILL })).operation_id
    })
    const invoke = await open(tools, { path: copy })
    expect(await invoke.call({ tool: "pay", params: BILL })).toMatchObject({ status: "replayed", operation_id: done })
    const fresh = await invoke.call({ tool: "pay", params: { ...BILL, invoice: "2" }, wait: 0 })
    expect(fresh).toMatchObject({
      status: "unknown",
      retry: "blocked",
      final_outcome: "unknown",
      reason: { code: "quarantined" },
    })
    const joined = await invoke.call({ tool: "pay", params: { ...BILL, invoice: "2" }, wait: 0 })
    expect(joined.operation_id).toBe(fresh.operation_id)
    await clock.advance(10 * MINUTE)
    expect(outside.requests).toHaveLength(1)
  })

  test("lifted by a person's statement dispatches what was admitted in it [CS-9]", async () => {
    const made = setting()
    const { clock, open, outside } = made
    const { tools, copy } = await copied(made, async () => undefined)
    const invoke = await open(tools, { path: copy })
    const fresh = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    const operator = invoke.operator({ name: "ada" })
    expect((await refusal(operator.liftQuarantine(" "))).code).toBe("invalid_request")
    await operator.liftQuarantine("nothing was lost")
    await reaches(clock, invoke, fresh.operation_id, "succeeded")
    expect(outside.payments).toHaveLength(1)
  })

  test("opened again before the lift treats what was admitted in it as its own [item 18]", async () => {
    const made = setting()
    const { clock, open, outside } = made
    const { tools, copy } = await copied(made, async () => undefined)
    const invoke = await open(tools, { path: copy })
    await clock.advance(SECOND)
    const mail = await invoke.call({ tool: "mail", params: BILL, wait: 0 })
    await invoke.close({ drain: 0 })
    await clock.advance(SECOND)
    const again = await open(tools, { path: copy })
    expect(await row(again, mail.operation_id)).toMatchObject({ state: "ready", restored: null })
    await again.operator({ name: "ada" }).liftQuarantine("nothing was lost")
    await reaches(clock, again, mail.operation_id, "succeeded")
    expect(outside.requests).toHaveLength(1)
  })
})

describe("an operation of a restored journal", () => {
  test("that was ready is unknown first, probed, and returns to ready only by looks after the window [R24] [item 18]", async () => {
    const made = setting()
    const { clock, open, outside } = made
    let operation_id = ""
    const { tools, copy } = await copied(made, async (invoke) => {
      outside.script = ["busy"]
      operation_id = (await invoke.call({ tool: "pay", params: BILL, wait: 0 })).operation_id
      await made.clock.idle()
    })
    const invoke = await open(tools, { path: copy })
    expect(await row(invoke, operation_id)).toMatchObject({ state: "unknown", restored: { returns_to: "ready" } })
    const ready = await reaches(clock, invoke, operation_id, "ready")
    // Q + V and the time an attempt could still have sent, after the moment of the change.
    expect(ready.updated_at - (ready.restored?.until ?? ready.created_at)).toBeGreaterThan(70 * SECOND)
    expect(outside.requests).toHaveLength(1)
    await invoke.operator({ name: "ada" }).liftQuarantine("an hour may be lost")
    await reaches(clock, invoke, operation_id, "succeeded")
    // Looked for once, it is not taken back to unknown, neither by the next step nor by the lift.
    const types = (await invoke.timeline(operation_id)).map((one) => one.type)
    expect(types.filter((one) => one === "restored")).toHaveLength(1)
    expect(outside.payments).toHaveLength(1)
  })

  test("whose effect took place after the copy was made is found, under the key it would have had [R24] [item 18]", async () => {
    const made = setting()
    const { clock, open, outside } = made
    const byKey: Over = {
      probe: ({ providerKeys }: { providerKeys: readonly string[] }) => {
        const payment = outside.list().find((one) => providerKeys.includes(one.key))
        if (!payment) return absent({ complete: true })
        return found({ id: payment.id, providerKey: payment.key, state: { ...payment, created: null, paid: true } })
      },
    }
    let operation_id = ""
    const { tools, copy } = await copied(
      made,
      async (invoke) => {
        outside.script = [() => Promise.reject(new Error("ECONNRESET"))]
        operation_id = (await invoke.call({ tool: "pay", params: BILL, wait: 0 })).operation_id
        await made.clock.idle()
      },
      byKey,
    )
    // The life that went on: a further attempt under the same generation's key, which the copy knows nothing of.
    const [request] = outside.requests
    outside.apply(BILL, { key: request?.key ?? "", operation_id: null })
    const invoke = await open(tools, { path: copy })
    const done = await reaches(clock, invoke, operation_id, "succeeded")
    expect(done).toMatchObject({ cause: "operation" })
    expect(outside.requests).toHaveLength(1)
  })

  test("never dispatched before is searched by the keys that a forgotten attempt would have had [R24] [item 18]", async () => {
    const made = setting()
    const { clock, open, outside } = made
    const keys: (readonly string[])[] = []
    const byKey: Over = {
      contract: {
        lookup: { correlates: "operation", maxExecution: "60s", visibility: "10s", spacing: "10s" },
        key: { sentAs: "body:id" },
      },
      probe: ({ providerKeys }: { providerKeys: readonly string[] }) => {
        keys.push(providerKeys)
        const payment = outside.list().find((one) => providerKeys.includes(one.key))
        if (!payment) return absent({ complete: true })
        return found({ id: payment.id, providerKey: payment.key, state: { ...payment, created: null, paid: true } })
      },
    }
    const { folder, path } = made
    const tools = [payTool(outside, byKey)]
    // Admitted, and copied before its first dispatch.
    const first = await open(tools, {
      reconcile: false,
      wrap: (journal) =>
        exchanged(journal, {
          admit: (write) =>
            write.lease ? Promise.resolve({ ok: false, conflict: { on: "quarantine" }, now: 0 }) : journal.admit(write),
        }),
    })
    const { operation_id } = await first.call({ tool: "pay", params: BILL, wait: 0 })
    expect(await row(first, operation_id)).toMatchObject({ state: "ready", attempts: [] })
    const copy = join(folder, "copy.db")
    await first.close({ drain: 0 })
    copyFileSync(path, copy)
    const live = await open(tools)
    await reaches(clock, live, operation_id, "succeeded")
    await live.close()
    const invoke = await open(tools, { path: copy })
    const done = await reaches(clock, invoke, operation_id, "succeeded")
    expect(done).toMatchObject({ cause: "operation", attempts: [] })
    expect(keys.at(-1)?.length).toBeGreaterThan(0)
    expect(outside.payments).toHaveLength(1)
  })

  test("that nobody can look up goes to a person, and comes back to ready by a word only [R24] [HU-3]", async () => {
    const made = setting()
    const { clock, open, outside } = made
    let operation_id = ""
    const { tools, copy } = await copied(made, async (invoke) => {
      outside.script = ["hang"]
      operation_id = (await invoke.call({ tool: "mail", params: BILL, wait: 0 })).operation_id
    })
    const invoke = await open(tools, { path: copy })
    await reaches(clock, invoke, operation_id, "needs_review")
    const operator = invoke.operator({ name: "ada" })
    const refused = await refusal(operator.resolve(operation_id, { ...RESOLVE, to: "ready" }))
    expect(refused.message).toContain("process_gone")
    await operator.resolve(operation_id, { ...RESOLVE, to: "succeeded" })
    expect(await invoke.call({ tool: "mail", params: BILL })).toMatchObject({ ok: true })
    expect(outside.requests).toHaveLength(1)
    outside.release()
  })

  test("has lapsed keys for good: no same-key attempt leans on them after the lift [item 18] [RP-4]", async () => {
    const made = setting()
    const { clock, open, outside } = made
    const over: Over = {
      safety: "idempotent",
      probe: undefined,
      expect: undefined,
      contract: {
        key: {
          sentAs: "body:id",
          retention: "24h",
          replay: "stored",
          inFlight: "refuses",
          onMismatch: "refuses",
          proved: { date: "2026-01-01", against: "a stand-in" },
        },
      },
    }
    let operation_id = ""
    const { tools, copy } = await copied(
      made,
      async (invoke) => {
        outside.script = ["lose_answer"]
        operation_id = (await invoke.call({ tool: "pay", params: BILL, wait: 0 })).operation_id
        await made.clock.idle()
      },
      over,
    )
    const invoke = await open(tools, { path: copy })
    await invoke.operator({ name: "ada" }).liftQuarantine("an hour may be lost")
    await clock.advance(5 * MINUTE)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "needs_review" })
    expect(outside.requests).toHaveLength(1)
  })

  test("is marked once, however often the journal is opened [R24]", async () => {
    const made = setting()
    const { clock, open, outside } = made
    let operation_id = ""
    const { tools, copy } = await copied(made, async (invoke) => {
      outside.script = ["lose_answer"]
      operation_id = (await invoke.call({ tool: "pay", params: BILL, wait: 0 })).operation_id
      await made.clock.idle()
    })
    outside.lookup = "fail"
    for (let n = 0; n < 3; n += 1) {
      const invoke = await open(tools, { path: copy })
      await clock.advance(SECOND)
      if (n < 2) await invoke.close()
      else expect((await invoke.timeline(operation_id)).filter((one) => one.type === "restored")).toHaveLength(1)
    }
    expect(outside.payments).toHaveLength(1)
  })
})

describe("the original", () => {
  test("goes on while a copy of it is quarantined [R24]", async () => {
    const made = setting()
    const { open, outside, path } = made
    const { tools, copy } = await copied(made, async () => undefined)
    const quarantined = await open(tools, { path: copy })
    const original = await open(tools, { path })
    expect(await original.call({ tool: "pay", params: BILL })).toMatchObject({ status: "succeeded" })
    expect(await quarantined.call({ tool: "pay", params: BILL, wait: 0 })).toMatchObject({ retry: "blocked" })
    expect(outside.payments).toHaveLength(1)
  })
})
