import { once } from "node:events"
import { createServer, type Server, type Socket } from "node:net"

import type { Clock } from "../../ports/clock.ts"
import { type AttemptObservation, neverLeft, type Stage } from "./attempt-observation.ts"
import type { AttemptTransport, AttemptTransportOptions } from "./attempt-transport.ts"

/**
 * Whether the HTTP client that is really loaded reports stages as `neverLeft` needs them.
 *
 * A client that says "not sent" about a request that was executed makes every retry a second effect, and versions
 * differ in exactly that. So it is not trusted by its version: a server here executes and then resets, and counts for
 * itself. HTTP/1.1 is the one protocol the transport speaks. TLS lies below it; only its failing handshake is tried
 * here, because a server that completes one needs a certificate.
 */
export type SelfTestResult = { readonly ok: true } | { readonly ok: false; readonly reason: string }

type NewAttempt = (clock: Clock, options: AttemptTransportOptions) => AttemptTransport

interface Case {
  readonly name: string
  readonly scheme: "http" | "https"
  /** Whether the window is still open when the head is due. */
  readonly open: boolean
  readonly listening: boolean
  readonly effects: number
  readonly never_left: boolean
  readonly stages: readonly Stage[]
}

const UNSENT: readonly Stage[] = ["requested", "connecting"]
const SENT: readonly Stage[] = ["head_written", "body_written"]
const CASES: readonly Case[] = [
  {
    name: "executed, then reset",
    scheme: "http",
    open: true,
    listening: true,
    effects: 1,
    never_left: false,
    stages: SENT,
  },
  { name: "window closed", scheme: "http", open: false, listening: true, effects: 0, never_left: true, stages: UNSENT },
  {
    name: "handshake reset",
    scheme: "https",
    open: true,
    listening: true,
    effects: 0,
    never_left: true,
    stages: UNSENT,
  },
  { name: "refused", scheme: "http", open: true, listening: false, effects: 0, never_left: true, stages: UNSENT },
]

/** Far above any honest run on loopback; it only turns a hang into a failed test. */
const ATTEMPT_TIMEOUT_MS = 5_000
const BODY = "self-test"
/** The server's connections have all ended. */
const QUIET = "quiet"

export async function runSelfTest(clock: Clock, attempt: NewAttempt): Promise<SelfTestResult> {
  try {
    for (const test of CASES) {
      const wrong = await runCase(clock, attempt, test)
      if (wrong !== null) return { ok: false, reason: `${test.name}: ${wrong}` }
    }
    return { ok: true }
  } catch (error) {
    return {
      ok: false,
      reason: `the self-test could not run: ${error instanceof Error ? error.message : "no error given"}`,
    }
  }
}

async function runCase(clock: Clock, attempt: NewAttempt, test: Case): Promise<string | null> {
  const target = await resettingServer()
  if (!test.listening) await target.close()
  let late_ms = 0
  const movable: Clock = {
    wall: () => clock.wall() + late_ms,
    monotonic: () => clock.monotonic() + late_ms,
    after: (ms, fn) => clock.after(ms, fn),
  }
  const tried = attempt(movable, {
    window: {
      anchor: { wall_ms: clock.wall(), monotonic_ms: clock.monotonic() },
      head_budget_ms: 2 * ATTEMPT_TIMEOUT_MS,
      body_budget_ms: 2 * ATTEMPT_TIMEOUT_MS,
    },
    response_bytes_max: 1024,
    attempt_timeout_ms: ATTEMPT_TIMEOUT_MS,
    on_effect_requested: () => {
      if (!test.open) late_ms = 3 * ATTEMPT_TIMEOUT_MS
    },
  })
  try {
    const url = `${test.scheme}://127.0.0.1:${target.port}/`
    const status = await tried.fetch(url, { method: "POST", body: BODY }).then(
      (response) => response.status,
      () => null,
    )
    if (status !== null) return `answered ${status}`
    // What a refused request may have said all the same is known when its connection has ended.
    if (test.listening && !(await target.ended(clock))) return "its connection stays open"
    return difference(test, tried.observe(), target.effects())
  } finally {
    tried.close("self-test")
    await target.close()
  }
}

function difference(test: Case, seen: AttemptObservation, effects: number): string | null {
  if (effects !== test.effects) return `the server executed ${effects} requests, not ${test.effects}`
  if (!test.stages.includes(seen.stage)) return `stage ${seen.stage}`
  if (seen.effect_wire_requests !== test.effects) return `${seen.effect_wire_requests} heads reported written`
  return neverLeft(seen) === test.never_left ? null : `never left: ${String(!test.never_left)}`
}

interface Target {
  readonly port: number
  effects(): number
  /** Waits until what connected has ended; false when that takes too long. */
  ended(clock: Clock): Promise<boolean>
  close(): Promise<void>
}

/** Executes each complete request, and resets every connection that has said anything. */
async function resettingServer(): Promise<Target> {
  let effects = 0
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    let received = ""
    sockets.add(socket)
    socket.on("error", () => socket.destroy())
    socket.on("close", () => {
      sockets.delete(socket)
      if (sockets.size === 0) server.emit(QUIET)
    })
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1")
      const executed = received.startsWith("POST ") && received.endsWith(BODY)
      if (executed) effects += 1
      if (executed || !received.startsWith("P")) socket.resetAndDestroy()
    })
  })
  const quiet = once(server, QUIET)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  const closed = once(server, "close")
  let closing = false
  return {
    port: address.port,
    effects: () => effects,
    ended(clock) {
      return new Promise((resolve) => {
        const stop = clock.after(ATTEMPT_TIMEOUT_MS, () => resolve(false))
        void quiet.then(() => {
          stop()
          resolve(true)
        })
      })
    },
    async close() {
      if (!closing) server.close()
      closing = true
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
