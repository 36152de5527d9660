// Hunts: a read that changes the world, waits for the journal, or is remembered as if it had an outcome.
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { defineTool, Invoke, outcome, systemClock, systemIds, systemRandom, thisMachine } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { describe, expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { during, exchanged, refusal, row, SECOND, world } from "./world.ts"

const INPUT = z.object({ city: z.string() })

function reading(
  execute: (about: { params: { city: string }; fetch: typeof fetch; signal: AbortSignal }) => unknown,
  over: object = {},
) {
  return defineTool({ name: "weather", safety: "read-only", input: INPUT, execute, ...over } as never)
}

const ASK = { tool: "weather", params: { city: "Oslo" } }

describe("a read-only call", () => {
  test("answers, is not journaled, and may be made again and again [RP-7]", async () => {
    const { open } = world()
    let reads = 0
    const invoke = await open([reading(() => ({ n: (reads += 1) }))])
    expect(await invoke.call(ASK)).toMatchObject({ status: "succeeded", output: { n: 1 }, ok: true })
    expect(await invoke.call(ASK)).toMatchObject({ status: "succeeded", output: { n: 2 }, replayed_from: null })
    expect((await invoke.operations()).items).toEqual([])
  })

  test("goes on while the journal cannot be written, and in quarantine [protocol 5.10]", async () => {
    const { open } = world()
    const invoke = await open([reading(() => ({ ok: true }))], {
      wrap: (journal) => exchanged(journal, { admit: () => Promise.reject(new Error("never")) }),
    })
    expect(await invoke.call(ASK)).toMatchObject({ ok: true })
  })

  test("that fails says so as not_executed: it may be made again, whatever was thrown [result table]", async () => {
    const { open } = world()
    let say: () => unknown = () => {
      throw new Error("no network")
    }
    const invoke = await open([reading(() => say())])
    expect(await invoke.call(ASK)).toMatchObject({
      status: "not_applied",
      final_outcome: "not_executed",
      retry: "allowed",
      decision: "retry_allowed",
      error: { code: "read_failed" },
    })
    say = () => {
      throw outcome.rejected({ code: "no_such_city" })
    }
    expect(await invoke.call(ASK)).toMatchObject({ status: "not_applied", error: { code: "no_such_city" } })
  })

  test("ends at its time limit, and by its signal [ST-7]", async () => {
    const { clock, open } = world()
    const invoke = await open([reading(() => new Promise(() => undefined), { timeout: "5s" })])
    expect(await during(clock, invoke.call(ASK))).toMatchObject({ status: "not_applied" })
    const seen: boolean[] = []
    const listening = await open([
      reading(
        ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(seen.push(true)))),
      ),
    ])
    const controller = new AbortController()
    const call = listening.call({ ...ASK, signal: controller.signal })
    await clock.advance(SECOND)
    controller.abort()
    await during(clock, call)
    expect(seen).toEqual([true])
  })

  test("of a tool that wants its reads journaled is a row, replayed like any other [protocol 3]", async () => {
    const { open } = world()
    let reads = 0
    const invoke = await open([reading(() => ({ n: (reads += 1) }), { journaled: true })])
    const first = await invoke.call({ ...ASK, idempotencyKey: "k" })
    expect(await row(invoke, first.operation_id)).toMatchObject({ state: "succeeded", output: { n: 1 } })
    expect(await invoke.call({ ...ASK, idempotencyKey: "k" })).toMatchObject({ status: "replayed", output: { n: 1 } })
    expect(reads).toBe(1)
  })

  test("with bad parameters is refused before it reads", async () => {
    const { open } = world()
    let reads = 0
    const invoke = await open([reading(() => (reads += 1))])
    expect((await refusal(invoke.call({ ...ASK, params: { city: 1 } }))).code).toBe("invalid_params")
    expect(reads).toBe(0)
  })

  test("cannot change the world: its effect request is refused before a byte leaves [RO1] [RP-7]", async () => {
    let requests = 0
    const server = createServer((request, response) => {
      requests += 1
      response.end(request.method)
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { path } = world()
    const journal = await openSqliteJournal({
      path,
      mode: "inline",
      clock: systemClock,
      ids: systemIds,
      allowEphemeral: true,
    })
    let method = "POST"
    const invoke = await Invoke.on({
      journal,
      tools: [reading(async ({ fetch: send }) => (await send(url, { method })).status, { transport: "invoke" })],
      clock: systemClock,
      ids: systemIds,
      random: systemRandom,
      telemetry: { log: () => undefined, count: () => undefined },
      machine: thisMachine(),
    })
    onTestFinished(async () => {
      await invoke.close()
      server.close()
    })
    for (method of ["POST", "PUT", "DELETE", "PATCH"]) {
      expect(await invoke.call(ASK), method).toMatchObject({ status: "not_applied" })
    }
    expect(requests).toBe(0)
    method = "GET"
    expect(await invoke.call(ASK)).toMatchObject({ status: "succeeded", output: 200 })
    expect(requests).toBe(1)
  })
})
