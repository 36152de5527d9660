// Hunts: a request that leaves after its moment. Leases, keys and approvals end; a queue, a pause, a suspended machine
// or a clock that was set must not carry a request past them, and a body must not go on leaving for ever.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { Worker } from "node:worker_threads"

import { describe, expect, onTestFinished, test } from "vitest"

import { neverLeft, SendWindow } from "@invokejs/engine/internal"
import { bench, MovableClock, POST, reply, startOutside, until } from "./transport-outside.ts"

const LARGE = 36 * 1024 * 1024

function code(promise: Promise<Response>): Promise<unknown> {
  return promise.then(
    (response) => response.status,
    (error: unknown) => (error as { code?: string }).code,
  )
}

/** One connection, held by a first attempt; `release` lets the next request have it. */
async function busyPool() {
  const held: (() => void)[] = []
  const outside = await startOutside({
    answer: ({ socket, execute }) => {
      execute()
      if (outside.requests.length === 1) held.push(() => reply(socket))
      else reply(socket)
    },
  })
  const made = bench({ connections_max: 1 })
  const first = code(made.attempt().fetch(outside.url, POST))
  await until(() => held.length === 1)
  const release = async () => {
    held[0]?.()
    expect(await first).toBe(200)
  }
  return { ...made, outside, release }
}

describe("the head", () => {
  test("a request that waited in the pool beyond its moment does not leave [R6] [ST-8]", async () => {
    const { attempt, clock, outside, release } = await busyPool()
    const waiting = attempt({ head_ms: 5_000 })
    const sent = code(waiting.fetch(outside.url, POST))
    await until(() => waiting.observe().stage === "connecting")
    const bytes = outside.bytes
    clock.pass(5_001)
    await release()
    expect(await sent).toBe("send_window_closed")
    expect(waiting.observe()).toMatchObject({ stage: "connecting", ended: true, effect_wire_requests: 0 })
    expect(neverLeft(waiting.observe())).toBe(true)
    expect(outside).toMatchObject({ effects: 1, bytes })
  })

  test("a request that waited inside its moment leaves [R6]", async () => {
    const { attempt, clock, outside, release } = await busyPool()
    const sent = code(attempt({ head_ms: 5_000 }).fetch(outside.url, POST))
    clock.pass(3_000)
    await release()
    expect(await sent).toBe(200)
    expect(outside.effects).toBe(2)
  })

  test.each([
    ["a suspended machine: the wall clock went on, the monotonic one stood still", 600_000, 0],
    ["a wall clock that is slow: only the monotonic one went on", 0, 600_000],
    ["a wall clock that was set back", -3_600_000, 0],
    ["a monotonic clock that went back", 0, -3_600_000],
  ])("%s: the gate is closed [R6] [ST-8]", async (_name, wall_ms, monotonic_ms) => {
    const { attempt, clock, outside, release } = await busyPool()
    const waiting = attempt()
    const sent = code(waiting.fetch(outside.url, POST))
    await until(() => waiting.observe().stage === "connecting")
    clock.wall_offset_ms += wall_ms
    clock.monotonic_offset_ms += monotonic_ms
    await release()
    expect(await sent).toBe("send_window_closed")
    expect(neverLeft(waiting.observe())).toBe(true)
    expect(outside.effects).toBe(1)
  })

  test("a clock set back by less than it had advanced is noticed [R6]", async () => {
    const { attempt, clock, outside, release } = await busyPool()
    const waiting = attempt({ head_ms: 60_000 })
    clock.wall_offset_ms += 30_000
    const sent = code(waiting.fetch(outside.url, POST))
    await until(() => waiting.observe().stage === "connecting")
    clock.wall_offset_ms -= 20_000
    await release()
    expect(await sent).toBe("send_window_closed")
    expect(outside.effects).toBe(1)
  })

  test("what is late when it is asked for gets no connection [R6]", async () => {
    const outside = await startOutside()
    const { attempt, clock } = bench()
    const late = attempt({ head_ms: 1_000 })
    clock.pass(1_001)
    expect(await code(late.fetch(outside.url, POST))).toBe("send_window_closed")
    expect(neverLeft(late.observe())).toBe(true)
    expect(outside.connections).toBe(0)
  })

  test("the head of a large body is gated where it is written: with the first chunk [R6]", async () => {
    // The window is read when the request is asked for, when it starts, and when its first chunk is written.
    const outside = await startOutside()
    const clock = new (class extends MovableClock {
      reads = 0
      override monotonic(): number {
        this.reads += 1
        return super.monotonic() + (this.reads > this.jump_after ? 600_000 : 0)
      }
      jump_after = Number.POSITIVE_INFINITY
    })()
    const { attempt } = bench({ clock })
    const anchor = { wall_ms: clock.wall(), monotonic_ms: clock.monotonic() }
    const tried = attempt({ window: { anchor, head_budget_ms: 60_000, body_budget_ms: 90_000 } })
    clock.jump_after = clock.reads + 2
    expect(await code(tried.fetch(outside.url, { method: "POST", body: Buffer.alloc(LARGE) }))).toBe(
      "send_window_closed",
    )
    expect(tried.observe()).toMatchObject({ stage: "connecting", effect_wire_requests: 0 })
    expect(neverLeft(tried.observe())).toBe(true)
    expect(outside.bytes).toBe(0)
  })

  test("reads are not bound by the window [R6]", async () => {
    const outside = await startOutside()
    const { attempt, clock } = bench()
    const late = attempt({ head_ms: 1_000 })
    clock.pass(1_001)
    expect(await code(late.fetch(outside.url))).toBe(200)
  })

  test("a request aborted while it waits never leaves, also when a connection becomes free [R6]", async () => {
    const { attempt, outside, release } = await busyPool()
    const waiting = attempt()
    const controller = new AbortController()
    const sent = code(waiting.fetch(outside.url, { ...POST, signal: controller.signal }))
    await until(() => waiting.observe().stage === "connecting")
    controller.abort()
    expect(await sent).toBe("aborted")
    expect(neverLeft(waiting.observe())).toBe(true)
    await release()
    expect(await code(attempt().fetch(outside.url, POST))).toBe(200)
    expect(outside.effects).toBe(2)
  })

  test("a request whose attempt was closed or timed out while it waited never leaves [R6]", async () => {
    const { attempt, clock, outside, release } = await busyPool()
    const closed = attempt()
    const timed = attempt({ attempt_timeout_ms: 10_000 })
    const sent = [code(closed.fetch(outside.url, POST)), code(timed.fetch(outside.url, POST))]
    closed.close("lease lost")
    clock.pass(10_000)
    // At once, not when the timeout's last look at the sockets is over.
    expect([closed, timed].map((tried) => neverLeft(tried.observe()))).toEqual([true, true])
    expect(await Promise.all(sent)).toEqual(["attempt_closed", "attempt_timeout"])
    await release()
    expect(await code(attempt().fetch(outside.url, POST))).toBe(200)
    expect(outside.effects).toBe(2)
  })
})

describe("what holds a request before it is sent", () => {
  test("a body whose source stalls and an owner that is silent hold no abort and no timeout [R6]", async () => {
    const outside = await startOutside()
    const { attempt, clock } = bench()
    const stalled = attempt()
    const controller = new AbortController()
    const init = { method: "POST", body: new ReadableStream(), signal: controller.signal }
    const aborted = code(stalled.fetch(outside.url, init))
    const silent = attempt({ on_effect_requested: () => new Promise<never>(() => {}) })
    const timed = code(silent.fetch(outside.url, POST))
    controller.abort()
    clock.pass(30_000)
    expect([await aborted, await timed]).toEqual(["aborted", "attempt_timeout"])
    expect([stalled, silent].map((tried) => neverLeft(tried.observe()))).toEqual([true, true])
    expect(outside.connections).toBe(0)
  })

  test("an owner that answers too late finds the gate closed [R6]", async () => {
    const outside = await startOutside()
    const { attempt, clock } = bench()
    const tried = attempt({
      head_ms: 1_000,
      on_effect_requested: () => Promise.resolve().then(() => clock.pass(1_001)),
    })
    expect(await code(tried.fetch(outside.url, POST))).toBe("send_window_closed")
    expect(outside.bytes).toBe(0)
  })
})

describe("the window", () => {
  const made = (head_budget_ms: number, body_budget_ms = head_budget_ms) => {
    const now = { wall_ms: 1_000, monotonic_ms: 50 }
    const clock = { wall: () => now.wall_ms, monotonic: () => now.monotonic_ms }
    return { now, window: new SendWindow(clock, { anchor: { ...now }, head_budget_ms, body_budget_ms }) }
  }

  test("is open up to its budget and not one millisecond longer [R6]", () => {
    const { now, window } = made(100, 300)
    now.wall_ms += 100
    now.monotonic_ms += 100
    expect([window.headOpen(), window.bodyOpen(), window.bodyLeft()]).toEqual([true, true, 200])
    now.monotonic_ms += 1
    expect([window.headOpen(), window.bodyOpen()]).toEqual([false, true])
    now.wall_ms += 201
    expect([window.bodyOpen(), window.bodyLeft()]).toEqual([false, 0])
  })

  test("stays closed after a clock went back, wherever it goes then [R6]", () => {
    const { now, window } = made(100)
    now.wall_ms -= 1
    expect(window.headOpen()).toBe(false)
    now.wall_ms += 10
    expect(window.headOpen()).toBe(false)
  })

  test.each([Number.NaN, -1])("a budget of %s is closed [R6]", (budget) => {
    expect(made(budget).window.headOpen()).toBe(false)
  })

  test("a reading that is no number closes it [R6]", () => {
    const { now, window } = made(100)
    now.wall_ms = Number.NaN
    expect(window.headOpen()).toBe(false)
  })
})

describe("the body", () => {
  test("36 MB are cut off at the last possible send, between two chunks [R6] [ST-8]", async () => {
    const { attempt, clock } = bench()
    const outside = await startOutside({
      data: () => {
        // The wall clock alone: no timer learns of it, the next chunk's gate must.
        if (outside.bytes > 1024 * 1024) clock.wall_offset_ms = 90_001
      },
    })
    const tried = attempt()
    const sent = code(tried.fetch(outside.url, { method: "POST", body: Buffer.alloc(LARGE) }))
    expect(await sent).toBe("send_window_closed")
    await until(() => outside.sockets.size === 0)
    expect(outside.bytes).toBeLessThan(LARGE)
    expect(outside.requests).toHaveLength(0)
    expect(tried.observe()).toMatchObject({ stage: "head_written", ended: true })
    expect(neverLeft(tried.observe())).toBe(false)
  })

  test("a body that the provider does not take is cut off although no chunk is due [R6] [ST-8]", async () => {
    const outside = await startOutside({ connection: (socket) => socket.pause() })
    const { attempt, clock } = bench()
    const tried = attempt({ attempt_timeout_ms: 600_000 })
    const sent = code(tried.fetch(outside.url, { method: "POST", body: Buffer.alloc(LARGE) }))
    await until(() => tried.observe().stage === "head_written")
    clock.pass(90_001)
    expect(await sent).toBe("send_window_closed")
    for (const socket of outside.sockets) socket.resume()
    await until(() => outside.sockets.size === 0)
    expect(outside.bytes).toBeLessThan(LARGE)
    expect(neverLeft(tried.observe())).toBe(false)
  })

  test("a stream is gated like any other body, and leaves with its length [R6]", async () => {
    const outside = await startOutside()
    const stream = new Blob([Buffer.alloc(LARGE)]).stream()
    const tried = bench().attempt()
    expect(await code(tried.fetch(outside.url, { method: "POST", body: stream }))).toBe(200)
    expect(outside.requests[0]?.headers["content-length"]).toBe(String(LARGE))
    expect(outside.requests[0]?.body.byteLength).toBe(LARGE)
    expect(tried.observe().stage).toBe("body_received")
  })
})

describe("a frozen process", () => {
  const child = (mode: string, port: number, window_ms: number): ChildProcess => {
    const forked = fork(new URL("transport-frozen-child.mjs", import.meta.url), [mode, String(port), String(window_ms)])
    onTestFinished(() => void forked.kill("SIGKILL"))
    return forked
  }
  const freezeBeyond = async (frozen: ChildProcess, ms: number) => {
    frozen.kill("SIGSTOP")
    const from = performance.now()
    await until(() => performance.now() > from + ms)
  }

  test("thawed after its moment it does not write the head [R6] [ST-8]", async () => {
    const outside = await startOutside()
    const worker = child("head", outside.port, 3_000)
    await once(worker, "message")
    await freezeBeyond(worker, 3_200)
    worker.send({ answer: true })
    worker.kill("SIGCONT")
    const [told] = (await once(worker, "message")) as [{ outcome: string; never_left: boolean }]
    expect(told).toMatchObject({ outcome: "send_window_closed", never_left: true })
    expect(outside).toMatchObject({ bytes: 0, effects: 0 })
  })

  test("thawed in the middle of its body it does not finish it [R6] [ST-8]", async () => {
    const outside = await startOutside({ data: (_chunk, socket) => socket.pause() })
    const worker = child("body", outside.port, 4_000)
    await once(worker, "message")
    worker.send({ answer: true })
    await until(() => outside.bytes > 0)
    await freezeBeyond(worker, 4_200)
    for (const socket of outside.sockets)
      socket
        .removeAllListeners("data")
        .on("data", (chunk) => (outside.bytes += chunk.length))
        .resume()
    worker.kill("SIGCONT")
    const [told] = (await once(worker, "message")) as [{ outcome: string; never_left: boolean }]
    expect(told).toMatchObject({ outcome: "send_window_closed", never_left: false })
    await until(() => outside.sockets.size === 0)
    expect(outside.bytes).toBeLessThan(LARGE)
  })

  test("an answer that lies in the socket after a stall is heard before the timeout cuts it off [R32]", async () => {
    const server = new Worker(
      `const { createServer } = require("node:http")
       const { parentPort } = require("node:worker_threads")
       const server = createServer((request, response) => {
         request.resume()
         request.on("end", () => {
           parentPort.postMessage("executed")
           setTimeout(() => response.end("charged"), 50)
         })
       })
       server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port))`,
      { eval: true },
    )
    onTestFinished(() => void server.terminate())
    const [port] = (await once(server, "message")) as [number]
    const tried = bench().attempt({ attempt_timeout_ms: 2_000 })
    const sent = code(tried.fetch(`http://127.0.0.1:${port}/`, POST))
    await once(server, "message")
    await new Promise((resolve) => setImmediate(resolve))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_200)
    expect(await sent).toBe(200)
    expect(tried.observe().status).toBe(200)
  })
})
