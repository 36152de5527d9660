// Hunts: a person's word that is taken twice, about a row that moved, or against a process that may still be sending.
import { id, VERBS, type Operation, type Verb } from "@invokejs/protocol"
import { describe, expect, test } from "vitest"
import { BILL, mailTool, Outside, payTool, type Bill } from "./outside.ts"
import { during, exchanged, reaches, refusal, row, turns, world } from "./world.ts"

const WORD = { reason: "looked", evidence: { ticket: "7" } }

async function setting(over: Parameters<typeof payTool>[1] = {}) {
  const made = world()
  const outside = new Outside(made.clock)
  const intent = (p: Bill) => ({ invoice: id(p.invoice) })
  const guarded = payTool(outside, { identity: undefined, name: "guarded", intent })
  const invoke = await made.open([payTool(outside, over), mailTool(outside), guarded])
  const operator = invoke.operator({ name: "ada" })
  const call = (params: Bill = BILL, tool = "pay") => invoke.call({ tool, params, wait: 0 })
  return { ...made, outside, invoke, operator, call }
}

type Setting = Awaited<ReturnType<typeof setting>>

/** An operation in each state that the engine can bring one into today. */
const INTO: { readonly [state: string]: (on: Setting) => Promise<string> } = {
  held: async ({ clock, outside, invoke }) => {
    outside.script = ["hang"]
    const guarded = { tool: "guarded", params: BILL, wait: 0 }
    await invoke.call({ ...guarded, idempotencyKey: "a" })
    const held = await invoke.call({ ...guarded, idempotencyKey: "b" })
    await clock.idle()
    return held.operation_id
  },
  ready: async ({ clock, outside, call }) => {
    outside.script = ["busy"]
    const { operation_id } = await call()
    await clock.idle()
    return operation_id
  },
  dispatched: async ({ clock, outside, call }) => {
    outside.script = ["hang"]
    const { operation_id } = await call()
    await clock.idle()
    return operation_id
  },
  accepted: async ({ clock, outside, call }) => {
    outside.script = ["accept"]
    const { operation_id } = await call()
    await clock.idle()
    return operation_id
  },
  unknown: async ({ clock, outside, call }) => {
    outside.script = ["lose_request"]
    outside.lookup = "fail"
    const { operation_id } = await call()
    await clock.idle()
    return operation_id
  },
  needs_review: async ({ clock, outside, call, invoke }) => {
    outside.script = ["lose_request"]
    const { operation_id } = await call(BILL, "mail")
    await reaches(clock, invoke, operation_id, "needs_review")
    return operation_id
  },
  succeeded: async ({ clock, call }) => {
    const { operation_id } = await call()
    await clock.idle()
    return operation_id
  },
  failed: async ({ clock, outside, call }) => {
    outside.script = ["reject"]
    const { operation_id } = await call()
    await clock.idle()
    return operation_id
  },
  not_applied: async (on) => {
    const operation_id = await INTO["unknown"]?.(on)
    await on.operator.resolve(operation_id ?? "", { ...WORD, to: "not_applied" })
    return operation_id ?? ""
  },
  undone: async (on) => {
    const operation_id = await INTO["accepted"]?.(on)
    await on.operator.resolve(operation_id ?? "", { ...WORD, to: "undone" })
    return operation_id ?? ""
  },
  closed_unknown: async (on) => {
    const operation_id = await INTO["needs_review"]?.(on)
    await on.operator.resolve(operation_id ?? "", {
      reason: "nobody will ever know",
      evidence: {},
      to: "closed_unknown",
    })
    return operation_id ?? ""
  },
  cancelled: async (on) => {
    const operation_id = (await INTO["held"]?.(on)) ?? ""
    await on.operator.cancel(operation_id)
    return operation_id
  },
}

type Act = (on: Setting, operation: Operation) => Promise<unknown>

const ACTS: { readonly [V in Verb]?: Act } = {
  allow: ({ operator }, { operation_id }) => operator.allow(operation_id, { reason: "agreed" }),
  cancel: ({ operator }, { operation_id }) => operator.cancel(operation_id),
  resolve: ({ operator }, { operation_id }) => operator.resolve(operation_id, { ...WORD, to: "succeeded" }),
  retry: ({ operator }, { operation_id, attempts }) =>
    operator.retry(operation_id, { afterAttempt: attempts.at(-1)?.attempt ?? 0 }),
  supersede: ({ operator }, { operation_id, version }) =>
    operator.supersede(operation_id, { params: { ...BILL, amount: 3 }, expectedVersion: version }),
  repeat: ({ operator }, { operation_id }) => operator.repeat(operation_id, { reason: "ordered twice" }),
  reconcile: ({ operator }, { operation_id }) => operator.reconcile(operation_id),
  amend: ({ operator }, { operation_id }) => operator.amend(operation_id, { to: "undone", reason: "refunded by hand" }),
}

/** Legal by the table, and yet refused where nothing contradicts them or nothing can be looked up. */
const BUT: readonly string[] = [
  "amend failed",
  "amend not_applied",
  "amend undone",
  "amend cancelled",
  "supersede succeeded",
  "reconcile needs_review",
]

describe("each verb", () => {
  for (const verb of Object.keys(ACTS) as (keyof typeof ACTS)[]) {
    for (const state of Object.keys(INTO)) {
      const from: readonly string[] | null = VERBS[verb].from
      const legal = from?.includes(state) === true && !BUT.includes(`${verb} ${state}`)
      test(`${verb} on ${state} is ${legal ? "done" : "refused, and nothing changes"} [HU-3] [ST-4]`, async () => {
        const on = await setting()
        const operation_id = (await INTO[state]?.(on)) ?? ""
        const before = await row(on.invoke, operation_id)
        expect(before.state).toBe(state)
        const act = ACTS[verb]
        const requests = on.outside.requests.length
        if (legal) {
          const answer = await act?.(on, before)
          if (verb === "repeat") return expect(answer).toMatchObject({ idempotency_key: expect.stringMatching(/^d:/) })
          const after = await row(on.invoke, operation_id)
          expect(after.version).toBeGreaterThan(before.version)
          const events = await on.invoke.timeline(operation_id)
          expect(events.some((one) => one.actor === "operator:ada" && one.seq > before.seq)).toBe(true)
        } else {
          const error = await refusal(act?.(on, before) ?? Promise.resolve())
          expect(["illegal_transition", "retry_refused", "supersedes_refused"]).toContain(error.code)
          expect(await row(on.invoke, operation_id)).toEqual(before)
          expect(on.outside.requests).toHaveLength(requests)
        }
        on.outside.release()
      })
    }
  }

  test("that names an operation which is not there is refused [HU-3]", async () => {
    const { operator } = await setting()
    expect((await refusal(operator.cancel("nobody"))).code).toBe("operation_not_found")
    expect((await refusal(operator.repeat("nobody", { reason: "r" }))).code).toBe("operation_not_found")
  })

  test("that saw an older version is refused, and nothing changes [HU-3] [OP2]", async () => {
    const on = await setting()
    const operation_id = (await INTO["unknown"]?.(on)) ?? ""
    const { version } = await row(on.invoke, operation_id)
    const stale = { expectedVersion: version - 1 }
    const { operator } = on
    for (const act of [
      () => operator.resolve(operation_id, { ...WORD, ...stale, to: "succeeded" }),
      () => operator.reconcile(operation_id, stale),
      () => operator.amend(operation_id, { ...stale, to: "undone", reason: "r" }),
      () => operator.cancel(operation_id, stale),
      () => operator.retry(operation_id, { ...stale, afterAttempt: 1 }),
    ]) {
      expect((await refusal(act())).code).toBe("version_conflict")
    }
    expect((await row(on.invoke, operation_id)).version).toBe(version)
  })

  test("with a name of its own is done once, and answered the same a second time [HU-3] [OP3]", async () => {
    const on = await setting()
    const operation_id = (await INTO["unknown"]?.(on)) ?? ""
    const act = () => on.operator.resolve(operation_id, { ...WORD, to: "succeeded", eventId: "click-1" })
    const results = await Promise.all([act(), act(), act()])
    expect(results.map((one) => one.status)).toEqual(["reconciled", "reconciled", "reconciled"])
    const again = await act()
    expect(again).toMatchObject({ ok: true, operation_id })
    const types = (await on.invoke.timeline(operation_id)).map((one) => one.type)
    expect(types.filter((one) => one === "resolved")).toHaveLength(1)
    // Also where the verb would be legal again.
    on.outside.script = ["lose_request"]
    const unknown = await on.call({ ...BILL, invoice: "4" })
    await on.clock.idle()
    await on.operator.reconcile(unknown.operation_id, { eventId: "click-2" })
    await on.clock.idle()
    await on.operator.reconcile(unknown.operation_id, { eventId: "click-2" })
    const told = (await on.invoke.timeline(unknown.operation_id)).filter((one) => one.data["finding"] === "asked")
    expect(told).toHaveLength(1)
    // The name belongs to that verb and that operation: elsewhere it means nothing.
    const other = await on.call({ ...BILL, invoice: "2" })
    expect((await refusal(on.operator.cancel(other.operation_id, { eventId: "click-1" }))).code).toBe(
      "illegal_transition",
    )
  })

  test("takes no caller's first telling: the call that was told unknown still hears reconciled [item 27]", async () => {
    const on = await setting()
    const operation_id = (await INTO["unknown"]?.(on)) ?? ""
    await on.operator.resolve(operation_id, { ...WORD, to: "succeeded" })
    expect(await on.invoke.call({ tool: "pay", params: BILL })).toMatchObject({
      status: "reconciled",
      cause: "attested",
    })
    expect(await on.invoke.call({ tool: "pay", params: BILL })).toMatchObject({ status: "replayed" })
  })
})

describe("resolve", () => {
  test("to ready or not_applied of an attempt that may be running demands the word that its process is gone [item 10]", async () => {
    const { clock, outside, invoke, operator, call } = await setting()
    outside.script = ["hang_first"]
    const { operation_id } = await call()
    await reaches(clock, invoke, operation_id, "unknown")
    for (const to of ["ready", "not_applied"] as const) {
      expect((await refusal(operator.resolve(operation_id, { ...WORD, to }))).message).toContain("process_gone")
    }
    await operator.resolve(operation_id, { ...WORD, to: "not_applied", process_gone: true })
    expect(await row(invoke, operation_id)).toMatchObject({ state: "not_applied" })
    expect(outside.requests).toHaveLength(1)
    outside.release()
  })

  test("to ready sends once more, and only once [R10] [R12]", async () => {
    const on = await setting()
    const operation_id = (await INTO["needs_review"]?.(on)) ?? ""
    await on.operator.resolve(operation_id, { ...WORD, to: "ready" })
    await reaches(on.clock, on.invoke, operation_id, "succeeded")
    expect(on.outside.requests).toHaveLength(2)
    expect(on.outside.payments).toHaveLength(1)
  })

  test("without a reason or evidence is refused [HU-3]", async () => {
    const on = await setting()
    const operation_id = (await INTO["needs_review"]?.(on)) ?? ""
    const empty = on.operator.resolve(operation_id, { to: "succeeded", reason: " ", evidence: { x: 1 } })
    expect((await refusal(empty)).message).toContain("reason")
    const bare = on.operator.resolve(operation_id, { to: "succeeded", reason: "r", evidence: {} })
    expect((await refusal(bare)).message).toContain("evidence")
  })

  test("to closed_unknown settles the queue, never a retry, and keeps the slot of its identity [R10] [item 13]", async () => {
    const on = await setting()
    const operation_id = (await INTO["closed_unknown"]?.(on)) ?? ""
    expect(await on.invoke.call({ tool: "mail", params: BILL })).toMatchObject({
      operation_id,
      status: "closed_unknown",
      decision: "escalate",
      retry: "blocked",
      exit: 3,
    })
    expect((await refusal(on.operator.retry(operation_id, { afterAttempt: 1 }))).code).toBe("retry_refused")
    expect(on.outside.requests).toHaveLength(1)
  })

  test("that names an object which confirms another operation settles, and says that it is shared [item 3] [RC-12]", async () => {
    const on = await setting()
    const first = (await INTO["unknown"]?.(on)) ?? ""
    const object = { object_id: "pay_9", state: {} }
    await on.operator.resolve(first, { ...WORD, to: "succeeded", object })
    on.outside.script = ["lose_request"]
    const second = await on.call({ ...BILL, invoice: "2" })
    await on.clock.idle()
    const heard: string[] = []
    on.invoke.on("attention", (one) => heard.push(one.state))
    expect(await on.operator.resolve(second.operation_id, { ...WORD, to: "succeeded", object })).toMatchObject({
      ok: true,
    })
    expect(await row(on.invoke, second.operation_id)).toMatchObject({ state: "succeeded", object: null })
    const reader = await on.journal()
    expect(await reader.incidents({ operation_id: second.operation_id })).toMatchObject([
      { kind: "object_shared", detail: { object_id: "pay_9", confirms: first } },
    ])
    await reader.close()
    expect(heard).toEqual(["object_shared"])
  })

  test("makes what it settled free for those that were held by it [item 8]", async () => {
    const made = world()
    const outside = new Outside(made.clock)
    const tool = payTool(outside, { identity: undefined, intent: (p: Bill) => ({ i: id(p.invoice) }) })
    const invoke = await made.open([tool])
    outside.script = ["lose_request"]
    outside.lookup = "fail"
    const first = await invoke.call({ tool: "pay", params: BILL, idempotencyKey: "a", wait: 0 })
    const held = invoke.call({ tool: "pay", params: BILL, idempotencyKey: "b", wait: "10m" })
    await made.clock.idle()
    await invoke.operator({ name: "ada" }).resolve(first.operation_id, { ...WORD, to: "not_applied" })
    expect(await during(made.clock, held)).toMatchObject({ status: "succeeded" })
    expect(outside.payments).toHaveLength(1)
  })
})

describe("retry", () => {
  test("has one winner among those that saw the same last attempt [ID-12] [R18]", async () => {
    const on = await setting()
    const operation_id = (await INTO["not_applied"]?.(on)) ?? ""
    on.outside.lookup = "answer"
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, () => on.operator.retry(operation_id, { afterAttempt: 1 })),
    )
    expect(tries.filter((one) => one.status === "fulfilled")).toHaveLength(1)
    await reaches(on.clock, on.invoke, operation_id, "succeeded")
    const late = await refusal(on.operator.retry(operation_id, { afterAttempt: 1 }))
    expect(late.code).toBe("retry_refused")
    expect(on.outside.requests).toHaveLength(2)
  })

  test("of another attempt than the last is refused [R18]", async () => {
    const on = await setting()
    const operation_id = (await INTO["not_applied"]?.(on)) ?? ""
    expect((await refusal(on.operator.retry(operation_id, { afterAttempt: 0 }))).code).toBe("retry_refused")
    expect((await refusal(on.operator.retry(operation_id, { afterAttempt: 2 }))).code).toBe("retry_refused")
  })

  test("by the same call made again has one winner too, and the others join [item 15] [ID-12]", async () => {
    const on = await setting()
    const operation_id = (await INTO["not_applied"]?.(on)) ?? ""
    on.outside.lookup = "answer"
    const calls = Array.from({ length: 8 }, () => on.invoke.call({ tool: "pay", params: BILL }))
    const results = await during(on.clock, Promise.all(calls))
    expect(new Set(results.map((one) => one.operation_id))).toEqual(new Set([operation_id]))
    expect(results.every((one) => one.ok)).toBe(true)
    expect(on.outside.requests).toHaveLength(2)
    expect((await row(on.invoke, operation_id)).retries).toBe(1)
  })

  test("by the same call is left to those who said that it is none [item 15]", async () => {
    const on = await setting()
    const operation_id = (await INTO["not_applied"]?.(on)) ?? ""
    expect(await on.invoke.call({ tool: "pay", params: BILL, retryOnRepeat: false })).toMatchObject({
      operation_id,
      status: "not_applied",
      retry: "allowed",
    })
    expect(on.outside.requests).toHaveLength(1)
  })

  test("is bounded over the operation's life [RP-1] [R18]", async () => {
    const on = await setting({ attempts: 1 })
    on.outside.script = Array.from({ length: 30 }, () => "busy" as const)
    const { operation_id } = await on.invoke.call({ tool: "pay", params: BILL })
    for (let n = 1; n <= 10; n += 1) {
      await on.operator.retry(operation_id, { afterAttempt: n })
      await on.clock.until(() => on.outside.requests.length === n + 1)
      await reaches(on.clock, on.invoke, operation_id, "not_applied")
    }
    const over = await refusal(on.operator.retry(operation_id, { afterAttempt: 11 }))
    expect(over).toMatchObject({ code: "retry_refused" })
    // Calling again undoes no spent budget.
    expect(await on.invoke.call({ tool: "pay", params: BILL })).toMatchObject({
      status: "not_applied",
      retry: "after_replan",
    })
    expect(on.outside.requests).toHaveLength(11)
  })
})

describe("supersede", () => {
  test("admits the next revision with changed parameters, under the same key [ID-12] [R18]", async () => {
    const on = await setting()
    const operation_id = (await INTO["failed"]?.(on)) ?? ""
    const { version, key } = await row(on.invoke, operation_id)
    const params = { ...BILL, amount: 3 }
    const next = await on.operator.supersede(operation_id, { params, expectedVersion: version, wait: 1_000 })
    expect(await row(on.invoke, next.operation_id)).toMatchObject({
      key,
      revision: 2,
      supersedes: operation_id,
      params,
    })
    expect(await row(on.invoke, operation_id)).toMatchObject({ superseded_by: next.operation_id, state: "failed" })
    expect(on.outside.payments).toMatchObject([{ amount: 3 }])
  })

  test("has a single winner; the others are told that it is superseded [ID-12] [R18]", async () => {
    const on = await setting()
    const operation_id = (await INTO["failed"]?.(on)) ?? ""
    const { version } = await row(on.invoke, operation_id)
    const tries = await Promise.allSettled(
      [3, 4, 5, 6].map((amount) =>
        on.operator.supersede(operation_id, { params: { ...BILL, amount }, expectedVersion: version, wait: 1_000 }),
      ),
    )
    expect(tries.filter((one) => one.status === "fulfilled")).toHaveLength(1)
    for (const one of tries) {
      if (one.status === "rejected") expect(["supersedes_refused", "version_conflict"]).toContain(one.reason.code)
    }
    expect(on.outside.payments).toHaveLength(1)
  })

  test("of an operation that another one superseded between its read and its write is refused [HU-3] [ID-12]", async () => {
    let move: (() => Promise<unknown>) | null = null
    const made = world()
    const outside = new Outside(made.clock)
    const invoke = await made.open([payTool(outside)], {
      wrap: (journal) =>
        exchanged(journal, {
          async view(query) {
            const moving = move
            move = null
            await moving?.()
            return journal.view(query)
          },
        }),
    })
    const operator = invoke.operator({ name: "ada" })
    outside.script = ["accept"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await made.clock.idle()
    await operator.resolve(operation_id, { ...WORD, to: "undone" })
    const { version } = await row(invoke, operation_id)
    // Somebody else supersedes it in between, and the newest revision is another one by then.
    const other = (await made.open([payTool(outside)])).operator({ name: "bob" })
    move = () => other.supersede(operation_id, { params: BILL, expectedVersion: version })
    const error = await refusal(operator.supersede(operation_id, { params: BILL, expectedVersion: version }))
    expect(error.code).toBe("supersedes_refused")
    await turns()
    expect(outside.payments).toHaveLength(1)
  })

  test("with other identity fields is refused: that is another action [item 9]", async () => {
    const on = await setting()
    const operation_id = (await INTO["failed"]?.(on)) ?? ""
    const { version } = await row(on.invoke, operation_id)
    const other = on.operator.supersede(operation_id, {
      params: { ...BILL, invoice: "84722" },
      expectedVersion: version,
    })
    expect((await refusal(other)).code).toBe("supersedes_refused")
    expect(on.outside.requests).toHaveLength(1)
  })

  test("compares identity fields, not the order they were written in [item 9]", async () => {
    const on = await setting({
      identity: (p: Bill) => ({ zebra: id(p.invoice), amount: id("x"), middle: id(p.invoice) }),
    })
    const operation_id = (await INTO["failed"]?.(on)) ?? ""
    const { version } = await row(on.invoke, operation_id)
    const params = { ...BILL, amount: 3 }
    expect(await on.operator.supersede(operation_id, { params, expectedVersion: version, wait: 1_000 })).toMatchObject({
      ok: true,
    })
  })

  test("of an operation that a key or a run names keeps that name and its run [R18]", async () => {
    for (const naming of [{ idempotencyKey: "k" }, { runId: "run-1" }]) {
      const on = await setting({ identity: undefined })
      on.outside.script = ["reject"]
      const first = await on.invoke.call({ tool: "pay", params: BILL, ...naming })
      const old = await row(on.invoke, first.operation_id)
      const params = { ...BILL, amount: 3 }
      const next = await on.operator.supersede(first.operation_id, {
        params,
        expectedVersion: old.version,
        wait: 1_000,
      })
      const { key, key_kind, run_id } = old
      expect(await row(on.invoke, next.operation_id)).toMatchObject({ key, key_kind, run_id, revision: 2 })
    }
  })
})

describe("an application's narrower rights", () => {
  test("have the named verbs and no other [HU-4]", async () => {
    const { invoke } = await setting()
    const rights = invoke.rights(["retry", "repeat"])
    expect(Object.keys(rights).toSorted()).toEqual(["repeat", "retry"])
    expect(() => invoke.rights(["nonsense" as "retry"])).toThrow(/no verb/)
    expect("resolve" in invoke || "approve" in invoke || "allow" in invoke).toBe(false)
  })
})
