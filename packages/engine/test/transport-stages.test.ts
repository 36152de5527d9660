// Hunts: a failure that is taken for proof of non-application although the request was executed, and the reverse: one
// that left nothing and is not recognised. The provider counts effects itself; an error code alone decides nothing.
import type { Dispatcher } from "undici"
import { describe, expect, test } from "vitest"

import { type AttemptObservation, TransportError } from "@invokejs/engine"
import { neverLeft } from "@invokejs/engine/internal"
import { type Answering, bench, closedPort, executed, POST, reply, startOutside, until } from "./transport-outside.ts"

async function failure(promise: Promise<unknown>): Promise<TransportError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(TransportError)
  return error as TransportError
}

function summary(seen: AttemptObservation): Record<string, unknown> {
  const { stage, ended, status, effect_wire_requests, error } = seen
  return { stage, ended, status, effect_wire_requests, cause_code: error?.cause_code ?? null }
}

describe("what never left", () => {
  test("a refused connection is proof by stage [ST-3] [RP-5]", async () => {
    const attempt = bench().attempt()
    const error = await failure(attempt.fetch(`http://127.0.0.1:${await closedPort()}/`, POST))
    expect(error.code).toBe("not_connected")
    expect(error.stage).toBe("connecting")
    expect(summary(attempt.observe())).toEqual({
      stage: "connecting",
      ended: true,
      status: null,
      effect_wire_requests: 0,
      cause_code: "ECONNREFUSED",
    })
    expect(neverLeft(attempt.observe())).toBe(true)
  })

  test("a name that does not resolve is proof by stage [ST-3]", async () => {
    const { attempt } = bench({
      lookup: (hostname, _options, callback) => {
        const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: "ENOTFOUND" })
        callback(error, "", 0)
      },
    })
    const tried = attempt()
    await failure(tried.fetch("http://provider.example/charges", POST))
    expect(summary(tried.observe())).toMatchObject({ stage: "connecting", cause_code: "ENOTFOUND" })
    expect(neverLeft(tried.observe())).toBe(true)
  })

  test("a TLS handshake that is reset is proof although its code is ECONNRESET [ST-3] [R26]", async () => {
    const outside = await startOutside({ data: (_chunk, socket) => socket.resetAndDestroy() })
    const attempt = bench().attempt()
    await failure(attempt.fetch(`https://127.0.0.1:${outside.port}/`, POST))
    expect(summary(attempt.observe())).toMatchObject({ stage: "connecting", cause_code: "ECONNRESET" })
    expect(outside.bytes).toBeGreaterThan(0)
    expect(neverLeft(attempt.observe())).toBe(true)
  })

  test("a certificate that is not trusted is proof [ST-3]", async () => {
    const outside = await startOutside({ tls: true })
    const attempt = bench({ tls: {} }).attempt()
    const error = await failure(attempt.fetch(outside.url, POST))
    expect(error.code).toBe("not_connected")
    expect(neverLeft(attempt.observe())).toBe(true)
    expect(outside.requests).toHaveLength(0)
  })

  test("a handshake that takes too long is proof by stage [ST-3]", async () => {
    const outside = await startOutside({ connection: (socket) => socket.pause() })
    const attempt = bench({ connect_timeout_ms: 100 }).attempt()
    await failure(attempt.fetch(`https://127.0.0.1:${outside.port}/`, POST))
    expect(summary(attempt.observe())).toMatchObject({ stage: "connecting", cause_code: "UND_ERR_CONNECT_TIMEOUT" })
    expect(neverLeft(attempt.observe())).toBe(true)
  })

  test.each([
    ["no URL", "charges", {}, "invalid_request"],
    ["another scheme", "ftp://127.0.0.1/", {}, "unsupported_url"],
    [
      "a header that frames the request",
      "http://127.0.0.1:1/",
      { headers: { "transfer-encoding": "chunked" } },
      "invalid_request",
    ],
    ["another host by header", "http://127.0.0.1:1/", { headers: { host: "elsewhere" } }, "invalid_request"],
    [
      "a length that is not the body's",
      "http://127.0.0.1:1/",
      { headers: { "content-length": "3" } },
      "invalid_request",
    ],
  ])("%s is refused before anything leaves [RP-5]", async (_name, url, init, code) => {
    const attempt = bench().attempt()
    const error = await failure(attempt.fetch(url, { ...POST, ...init }))
    expect(error.code).toBe(code)
    expect(attempt.observe()).toMatchObject({ effect_requested: true, stage: "requested", wire_requests: 0 })
    expect(neverLeft(attempt.observe())).toBe(true)
  })

  test("an attempt in which no effect request was asked for proves nothing [R1] [ST-3]", async () => {
    const outside = await startOutside()
    const attempt = bench().attempt()
    await failure(attempt.fetch(`http://127.0.0.1:${await closedPort()}/`))
    await (await attempt.fetch(outside.url)).text()
    attempt.close("the tool threw")
    expect(attempt.observe()).toMatchObject({ effect_requested: false, stage: "none", wire_requests: 1 })
    expect(neverLeft(attempt.observe())).toBe(false)
  })

  test("a request that still waits for its connection proves nothing until it has ended [ST-3]", async () => {
    const outside = await startOutside({ tls: false, connection: (socket) => socket.pause() })
    const attempt = bench().attempt()
    const sent = failure(attempt.fetch(`https://127.0.0.1:${outside.port}/`, POST))
    await until(() => outside.connections === 1)
    expect(attempt.observe()).toMatchObject({ stage: "connecting", ended: false })
    expect(neverLeft(attempt.observe())).toBe(false)
    attempt.close("given up")
    expect(neverLeft(attempt.observe())).toBe(true)
    expect((await sent).code).toBe("attempt_closed")
  })
})

test("head_written is said before the head is handed to the socket, never after [ST-3] [R26]", async () => {
  const outside = await startOutside()
  const said: unknown[] = []
  const { attempt } = bench({
    wrapDispatcher: (dispatcher) => ({
      dispatch: (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) =>
        dispatcher.dispatch(options, {
          onRequestStart: (controller, context) => {
            handler.onRequestStart?.(controller, context)
            // The client writes when this returns.
            said.push(tried.observe().stage, neverLeft(tried.observe()), outside.bytes)
          },
          onResponseStart: (...told) => handler.onResponseStart?.(...told),
          onResponseData: (...told) => handler.onResponseData?.(...told),
          onResponseEnd: (...told) => handler.onResponseEnd?.(...told),
          onResponseError: (...told) => handler.onResponseError?.(...told),
        }),
    }),
  })
  const tried = attempt()
  await tried.fetch(outside.url, POST)
  expect(said).toEqual(["head_written", false, 0])
})

/** Rows of a real client's behaviour against a provider that does this with a complete request. */
const AMBIGUOUS: readonly (readonly [string, 0 | 1, (answering: Answering) => void])[] = [
  ["read, not executed, then reset", 0, ({ reset }) => reset()],
  ["executed, then closed", 1, executed(({ socket }) => socket.end())],
  ["executed, then reset", 1, executed(({ reset }) => reset())],
  ["executed, then garbage", 1, executed(({ socket }) => socket.end("SSH-2.0-OpenSSH_9\r\n\r\n"))],
]

describe("what is ambiguous", () => {
  test.each(AMBIGUOUS)("%s is ambiguous, whatever the code [ST-3] [R26]", async (_name, effects, answer) => {
    const outside = await startOutside({ answer })
    const attempt = bench().attempt()
    const error = await failure(attempt.fetch(outside.url, POST))
    expect(error.code).toBe("connection_lost")
    expect(outside.effects).toBe(effects)
    expect(attempt.observe()).toMatchObject({ ended: true, status: null, effect_wire_requests: 1 })
    expect(attempt.observe().stage).toBe("body_written")
    expect(neverLeft(attempt.observe())).toBe(false)
  })

  test.each(AMBIGUOUS)("over TLS too: %s [ST-3]", async (_name, effects, answer) => {
    const outside = await startOutside({ answer, tls: true })
    const attempt = bench().attempt()
    await failure(attempt.fetch(outside.url, POST))
    expect(outside.effects).toBe(effects)
    expect(neverLeft(attempt.observe())).toBe(false)
  })

  test("accepted and closed unread is ambiguous although nothing was executed [ST-3]", async () => {
    const outside = await startOutside({ connection: (socket) => socket.pause().end() })
    const attempt = bench().attempt()
    await failure(attempt.fetch(outside.url, POST))
    expect(outside.effects).toBe(0)
    expect(attempt.observe().effect_wire_requests).toBe(1)
    expect(neverLeft(attempt.observe())).toBe(false)
  })

  test("a large body cut off after its first bytes is ambiguous [ST-3]", async () => {
    const outside = await startOutside({ data: (_chunk, socket) => socket.resetAndDestroy() })
    const attempt = bench().attempt()
    await failure(attempt.fetch(outside.url, { method: "POST", body: Buffer.alloc(8 * 1024 * 1024) }))
    expect(outside.effects).toBe(0)
    expect(attempt.observe()).toMatchObject({ stage: "head_written", effect_wire_requests: 1 })
    expect(neverLeft(attempt.observe())).toBe(false)
  })

  test("a reset on a connection that was used before is ambiguous [R26]", async () => {
    const { attempt } = bench({ connections_max: 1 })
    const outside = await startOutside({
      answer: (answering) => {
        const { socket } = answering
        if (outside.requests.length > 1) socket.resetAndDestroy()
        else executed(() => reply(socket))(answering)
      },
    })
    await (await attempt().fetch(outside.url, POST)).text()
    const second = attempt()
    await failure(second.fetch(outside.url, POST))
    expect(outside).toMatchObject({ effects: 1, connections: 1 })
    expect(neverLeft(second.observe())).toBe(false)
  })

  test("executed and silent: the attempt's timeout is ambiguous [ST-3]", async () => {
    const { attempt, clock } = bench()
    const outside = await startOutside({ answer: executed() })
    const timed = attempt({ attempt_timeout_ms: 30_000 })
    const sent = failure(timed.fetch(outside.url, POST))
    await until(() => outside.effects === 1)
    clock.pass(30_000)
    expect((await sent).code).toBe("attempt_timeout")
    expect(neverLeft(timed.observe())).toBe(false)
    expect((await failure(timed.fetch(outside.url))).code).toBe("attempt_timeout")
    expect(outside.requests).toHaveLength(1)
  })

  test("executed and silent: the tool's abort is ambiguous, and carries its reason [ST-3]", async () => {
    const outside = await startOutside({ answer: executed() })
    const aborted = bench().attempt()
    const controller = new AbortController()
    const sent = failure(aborted.fetch(outside.url, { ...POST, signal: controller.signal }))
    await until(() => outside.effects === 1)
    controller.abort(new Error("enough"))
    expect(await sent).toMatchObject({ code: "aborted", stage: "body_written", cause: new Error("enough") })
    expect(neverLeft(aborted.observe())).toBe(false)
  })

  test("closing the attempt cuts off what is under way, and the provider sees it [RP-5]", async () => {
    const outside = await startOutside({ answer: executed() })
    const attempt = bench().attempt()
    const sent = failure(attempt.fetch(outside.url, POST))
    await until(() => outside.effects === 1)
    attempt.close("drain")
    expect((await sent).code).toBe("attempt_closed")
    await until(() => outside.sockets.size === 0)
    expect(neverLeft(attempt.observe())).toBe(false)
    expect((await failure(attempt.fetch(outside.url))).code).toBe("attempt_closed")
    expect(outside.requests).toHaveLength(1)
  })
})

describe("an answer whose body is broken", () => {
  const HALF = 'HTTP/1.1 201 Created\r\nrequest-id: req_7\r\ncontent-length: 100\r\n\r\n{"id":'

  test.each([
    ["then reset", (socket: Answering["socket"]) => socket.resetAndDestroy()],
    ["then closed short", (socket: Answering["socket"]) => socket.end()],
  ])("201 and half a body, %s: the status stands [ST-3]", async (_name, cut) => {
    const outside = await startOutside({ answer: executed(({ socket }) => socket.write(HALF)) })
    const attempt = bench().attempt()
    const response = await attempt.fetch(outside.url, POST)
    expect(response.status).toBe(201)
    for (const socket of outside.sockets) cut(socket)
    expect((await failure(response.text())).code).toBe("connection_lost")
    expect(attempt.observe()).toMatchObject({ stage: "head_received", status: 201, provider_request_id: "req_7" })
    expect(neverLeft(attempt.observe())).toBe(false)
    expect(outside.effects).toBe(1)
  })

  test("201 and half a body, then silence: the status stands at the timeout [ST-3]", async () => {
    const outside = await startOutside({ answer: executed(({ socket }) => socket.write(HALF)) })
    const { attempt: start, clock } = bench()
    const attempt = start()
    const response = await attempt.fetch(outside.url, POST)
    clock.pass(30_000)
    expect((await failure(response.text())).code).toBe("attempt_timeout")
    expect(attempt.observe()).toMatchObject({ stage: "head_received", status: 201, provider_request_id: "req_7" })
  })

  test.each([
    ["truncated", '{"id": "ch_'],
    ["empty", ""],
    ["HTML", "<html>welcome</html>"],
  ])("200 with a body that is %s: the answer is complete, only the tool cannot read it [ST-3]", async (_name, body) => {
    const outside = await startOutside({ answer: executed(({ socket }) => reply(socket, 200, body)) })
    const attempt = bench().attempt()
    const response = await attempt.fetch(outside.url, POST)
    await expect(response.json()).rejects.toBeInstanceOf(SyntaxError)
    expect(attempt.observe()).toMatchObject({ stage: "body_received", status: 200, ended: true, error: null })
  })

  test("the status is known before the tool has touched the body [ST-3]", async () => {
    const outside = await startOutside({ answer: executed(({ socket }) => socket.write(HALF)) })
    const attempt = bench().attempt()
    await attempt.fetch(outside.url, POST)
    expect(attempt.observe()).toMatchObject({ status: 201, headers: { "request-id": "req_7" }, ended: false })
  })

  test("an answer nobody reads completes by itself [ST-3]", async () => {
    const outside = await startOutside({ answer: ({ socket }) => reply(socket, 200, "x".repeat(500_000)) })
    const attempt = bench().attempt()
    await attempt.fetch(outside.url, POST)
    await until(() => attempt.observe().stage === "body_received")
    expect(attempt.observe().ended).toBe(true)
  })

  test("an answer given before the body has left ends the request with its status [ST-3]", async () => {
    const outside = await startOutside({
      data: (_chunk, socket) => {
        reply(socket, 413, "too large", { connection: "close" })
        socket.pause()
      },
    })
    const attempt = bench().attempt()
    const response = await attempt.fetch(outside.url, { method: "POST", body: Buffer.alloc(36 * 1024 * 1024) })
    expect(await response.text()).toBe("too large")
    expect(attempt.observe()).toMatchObject({ status: 413, stage: "body_received", ended: true })
    expect(outside.requests).toHaveLength(0)
  })
})
