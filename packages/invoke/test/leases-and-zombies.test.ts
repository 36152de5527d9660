// Hunts: a lapsed lease read as permission, a zombie that is not heard, a drain that lets go too early, a loop that spins.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Journal } from "@invokejs/engine"
import { describe, expect, test } from "vitest"
import { BILL, Outside, payTool } from "./outside.ts"
import { during, exchanged, MINUTE, reaches, refusal, row, SECOND, world } from "./world.ts"

const LONG = { timeout: "10m", deadline: "24h" }

function setting(wall?: number) {
  const made = world(wall)
  return { ...made, outside: new Outside(made.clock) }
}

/** A process that is stalled: it renews nothing, but still lives. */
const stalled = (journal: Journal) =>
  exchanged(journal, {
    workers: { ...journal.workers, renew: () => Promise.reject(new Error("stalled")) },
  })

describe("a lapsed lease", () => {
  test("means start probing, never may dispatch: the attempt is open, no negative counts [CS-3] [R32] [C8]", async () => {
    const { clock, open, outside } = setting()
    const zombie = await open([payTool(outside, LONG)], { wrap: stalled })
    const other = await open([payTool(outside, LONG)])
    outside.script = ["hang_first"]
    const { operation_id } = await zombie.call({ tool: "pay", params: BILL, wait: 0 })
    await reaches(clock, other, operation_id, "unknown")
    await clock.advance(5 * MINUTE)
    const probed = await row(other, operation_id)
    expect(probed).toMatchObject({ state: "unknown", verdict: "inconclusive", attempts: [{ attempt: 1 }] })
    expect(probed.probes.answered).toBeGreaterThan(2)
    expect(outside.requests).toHaveLength(1)
    // The zombie thaws: what it says is heard, and settles by version, lease or not.
    outside.release()
    await clock.idle()
    expect(await row(other, operation_id)).toMatchObject({ state: "succeeded", cause: "acknowledged" })
  })

  test("is told as unknown to whoever asks before anybody has probed [ST-2]", async () => {
    const { clock, open, outside } = setting()
    const zombie = await open([payTool(outside, LONG)], { wrap: stalled, reconcile: false })
    const other = await open([payTool(outside, LONG)], { reconcile: false })
    outside.script = ["hang"]
    await zombie.call({ tool: "pay", params: BILL, wait: 0 })
    expect(await other.call({ tool: "pay", params: BILL, wait: 0 })).toMatchObject({ status: "in_progress" })
    await clock.advance(MINUTE)
    expect(await other.call({ tool: "pay", params: BILL, wait: 0 })).toMatchObject({
      status: "unknown",
      reason: { code: "lease_lost" },
    })
    outside.release()
  })

  test("is never renewed: the worker takes another id for what it starts next [CS-3] [R32]", async () => {
    const { clock, open, outside, journal } = setting()
    const invoke = await open([payTool(outside, LONG)], { wrap: stalled })
    outside.script = ["hang"]
    await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(MINUTE)
    const next = await invoke.call({ tool: "pay", params: { ...BILL, invoice: "2" } })
    expect(next.status).toBe("succeeded")
    const reader = await journal()
    const workers = await reader.workers.list()
    await reader.close()
    expect(workers).toHaveLength(2)
    expect(workers.every((one) => one.gone === null)).toBe(true)
    outside.release()
  })

  test("of its own process starts no second attempt beside the live one [R32] [C2] [L5]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside, LONG)], { wrap: stalled })
    outside.script = ["hang_first"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(5 * MINUTE)
    expect(outside.requests).toHaveLength(1)
    // It lives, and its own process knows: nothing is unknown about it yet.
    expect(await row(invoke, operation_id)).toMatchObject({ state: "dispatched" })
    outside.release()
    await clock.idle()
    expect(await row(invoke, operation_id)).toMatchObject({ state: "succeeded" })
  })

  test("makes nobody spin: attempts that only time can end cost one look at a time, and stand in nobody's way", async () => {
    const { clock, open, outside } = setting()
    let looks = 0
    const invoke = await open([payTool(outside, LONG)], {
      wrap: (journal) =>
        exchanged(stalled(journal), {
          due: (query) => {
            looks += 1
            return journal.due(query)
          },
        }),
    })
    const many = 40
    outside.script = Array.from({ length: many }, () => "hang" as const)
    for (let n = 0; n < many; n += 1)
      await invoke.call({ tool: "pay", params: { invoice: `i${n}`, amount: 1 }, wait: 0 })
    await clock.advance(MINUTE)
    looks = 0
    await clock.advance(5 * SECOND)
    expect(looks).toBeLessThan(50)
    outside.script = ["lose_answer"]
    const other = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await reaches(clock, invoke, other.operation_id, "succeeded")
    outside.release()
  })
})

describe("proof that a process is gone", () => {
  test("by a person's word ends its attempts; the zombie's news is kept and contradicts nothing silently [CS-4] [item 10]", async () => {
    const { clock, open, outside, journal } = setting()
    const zombie = await open([payTool(outside, LONG)], { wrap: stalled })
    const other = await open([payTool(outside, LONG)])
    outside.script = ["hang_first"]
    const { operation_id } = await zombie.call({ tool: "pay", params: BILL, wait: 0 })
    await reaches(clock, other, operation_id, "unknown")
    const worker_id = (await row(other, operation_id)).attempts[0]?.worker_id ?? ""
    const operator = other.operator({ name: "ada" })
    expect((await refusal(operator.workersGone("nobody", { reason: "r" }))).code).toBe("invalid_request")
    await operator.workersGone(worker_id, { reason: "the pod is evicted" })
    await operator.workersGone(worker_id, { reason: "the pod is evicted" })
    const done = await reaches(clock, other, operation_id, "succeeded")
    expect(done.attempts).toMatchObject([{ status: "disproved" }, { status: "acknowledged" }])
    expect(outside.payments).toHaveLength(1)
    // The word was wrong: a second effect, and it is not hidden.
    outside.release()
    await clock.idle()
    expect(outside.payments).toHaveLength(2)
    const reader = await journal()
    expect((await reader.incidents({ operation_id })).map((one) => one.kind)).toContain("double_effect")
    await reader.close()
  })

  test("that was recorded before its attempts ended is taken up by the next process [item 10] [L1]", async () => {
    const { clock, open, outside, journal } = setting()
    const zombie = await open([payTool(outside, LONG)], { wrap: stalled, reconcile: false })
    outside.script = ["hang_first"]
    const { operation_id } = await zombie.call({ tool: "pay", params: BILL, wait: 0 })
    const worker_id = (await row(zombie, operation_id)).attempts[0]?.worker_id ?? ""
    const writer = await journal()
    // Whoever proved it died before it could end the attempts.
    await writer.workers.markGone(worker_id, "attested by nobody any more")
    await writer.close()
    const other = await open([payTool(outside, LONG)])
    const taken = await row(other, operation_id)
    expect(taken.attempts[0]?.gone_at).not.toBeNull()
    await reaches(clock, other, operation_id, "succeeded")
    expect(outside.payments).toHaveLength(1)
  })

  test("of a killed process is found by its lock; it is reconciled, not re-executed at once [CS-5] [M1] [A5]", async () => {
    const { clock, open, outside, path } = setting(Date.now())
    const child = spawn(process.execPath, [fileURLToPath(new URL("hanging-child.mjs", import.meta.url)), path], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    const [line] = (await once(child.stdout, "data")) as [Buffer]
    const operation_id = String(line).trim()
    const invoke = await open([payTool(outside)])
    await clock.advance(10 * SECOND)
    // It lives: nothing is proved, whatever the time says.
    expect((await row(invoke, operation_id)).attempts[0]?.gone_at).toBeNull()
    child.kill("SIGKILL")
    await once(child, "exit")
    await reaches(clock, invoke, operation_id, "unknown")
    expect(outside.requests).toHaveLength(0)
    await clock.advance(10 * SECOND)
    expect((await row(invoke, operation_id)).attempts[0]?.gone_at).not.toBeNull()
    const done = await reaches(clock, invoke, operation_id, "succeeded")
    expect(done.attempts).toMatchObject([{ status: "disproved" }, { status: "acknowledged" }])
    expect((await invoke.timeline(operation_id)).map((one) => one.type)).toContain("worker_gone")
    expect(outside.payments).toHaveLength(1)
  })
})

describe("closing", () => {
  test("waits for attempts, renewing their lease, and records how they ended [CS-6] [C11]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside, LONG)])
    const other = await open([payTool(outside, LONG)])
    outside.script = ["hang"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    const closed = invoke.close({ drain: "2m" })
    await clock.advance(MINUTE)
    expect(await row(other, operation_id)).toMatchObject({ state: "dispatched" })
    outside.release()
    await during(clock, closed)
    expect(await row(other, operation_id)).toMatchObject({ state: "succeeded", cause: "acknowledged" })
  })

  test("leaves what does not end in time dispatched; its lease lapses and others probe [CS-6]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside, LONG)])
    const other = await open([payTool(outside, LONG)])
    outside.script = ["hang"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await during(clock, invoke.close({ drain: "1s" }))
    expect(await row(other, operation_id)).toMatchObject({ state: "dispatched" })
    expect(await reaches(clock, other, operation_id, "succeeded")).toMatchObject({ cause: "operation" })
    expect(outside.requests).toHaveLength(1)
    outside.release()
  })

  test("starts nothing more: a call that was under way is dispatched and waited for, a later one is refused [CS-6]", async () => {
    const { clock, open, outside } = setting()
    let release: () => void = () => undefined
    const invoke = await open([payTool(outside)], {
      wrap: (journal) =>
        exchanged(journal, {
          async admit(write) {
            await new Promise<void>((resolve) => {
              release = resolve
            })
            return journal.admit(write)
          },
        }),
    })
    const other = await open([payTool(outside)])
    const call = invoke.call({ tool: "pay", params: BILL })
    await clock.idle()
    const closed = invoke.close({ drain: "10s" })
    expect((await refusal(invoke.call({ tool: "pay", params: BILL }))).code).toBe("draining")
    release()
    const result = await during(clock, call)
    await during(clock, closed)
    expect(result.status).toBe("succeeded")
    expect(await row(other, result.operation_id)).toMatchObject({ state: "succeeded" })
    expect(outside.payments).toHaveLength(1)
  })

  test("with work that is due dispatches none of it [CS-6]", async () => {
    const { clock, open, outside } = setting()
    const invoke = await open([payTool(outside)], { reconcile: false })
    outside.script = ["busy"]
    const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
    await clock.advance(10 * SECOND)
    expect(await row(invoke, operation_id)).toMatchObject({ state: "ready" })
    const settling = invoke.settle()
    const closed = invoke.close({ drain: "10s" })
    await during(clock, Promise.all([settling, closed]))
    expect(outside.requests).toHaveLength(1)
  })

  test("an idle engine closes its worker's row; two closings are one [CS-6]", async () => {
    const { open, outside, journal } = setting()
    const invoke = await open([payTool(outside)])
    await invoke.call({ tool: "pay", params: BILL })
    await Promise.all([invoke.close(), invoke.close()])
    const reader = await journal()
    expect((await reader.workers.list()).map((one) => one.closed_at !== null)).toEqual([true])
    await reader.close()
  })
})
