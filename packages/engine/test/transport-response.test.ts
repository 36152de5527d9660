// Hunts: an answer or a request that the tool meant otherwise than the transport sent or told it, and a response that
// fills the memory.
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { createSecureServer } from "node:http2"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"

import { describe, expect, onTestFinished, test } from "vitest"

import { CHUNK_BYTES, gatedBody } from "@invokejs/engine/internal"
import { CERTIFICATE, PRIVATE_KEY } from "./transport-certificate.ts"
import { bench, executed, POST, reply, startOutside, until } from "./transport-outside.ts"

function code(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "done",
    (error: unknown) => (error as { code?: string }).code,
  )
}

describe("the response", () => {
  test("that is larger than allowed ends the request; the status stands [RP-5] [ST-3]", async () => {
    const outside = await startOutside({
      answer: executed(({ socket }) => reply(socket, 201, "x".repeat(5_000), { "request-id": "r" })),
    })
    const attempt = bench().attempt({ response_bytes_max: 4_999 })
    const response = await attempt.fetch(outside.url, POST)
    expect(await code(response.text())).toBe("response_too_large")
    expect(attempt.observe()).toMatchObject({
      stage: "head_received",
      status: 201,
      ended: true,
      provider_request_id: "r",
      error: { code: "response_too_large" },
    })
    await until(() => outside.sockets.size === 0)
  })

  test("of exactly the allowed size is read [RP-5]", async () => {
    const outside = await startOutside({ answer: ({ socket }) => reply(socket, 200, "x".repeat(5_000)) })
    const response = await bench().attempt({ response_bytes_max: 5_000 }).fetch(outside.url, POST)
    expect(await response.text()).toHaveLength(5_000)
  })

  const compressed = async (encoding: string, body: Buffer, response_bytes_max: number) => {
    const outside = await startOutside({
      answer: ({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.byteLength}\r\n\r\n`)
        socket.write(body)
      },
    })
    const attempt = bench().attempt({ response_bytes_max })
    return { attempt, response: await attempt.fetch(outside.url, POST) }
  }

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("in %s is decoded, and bounded by what it decodes to [RP-5]", async (encoding, compress) => {
    const body = compress("y".repeat(100_000))
    expect(body.byteLength).toBeLessThan(1_000)
    expect(await (await compressed(encoding, body, 100_000)).response.text()).toHaveLength(100_000)
    const { attempt, response } = await compressed(encoding, body, 99_999)
    expect(await code(response.text())).toBe("response_too_large")
    expect(attempt.observe()).toMatchObject({ stage: "body_received", status: 200 })
  })

  test("that cannot be decoded has a status all the same [ST-3]", async () => {
    const { attempt, response } = await compressed("gzip", Buffer.from("plain"), 1_000)
    expect(await code(response.text())).toBe("response_unreadable")
    expect(attempt.observe()).toMatchObject({ status: 200, ended: true, error: null })
  })

  test("with a status no Response can carry is recorded [ST-3]", async () => {
    const outside = await startOutside({ answer: executed(({ socket }) => reply(socket, 999)) })
    const attempt = bench().attempt()
    expect(await code(attempt.fetch(outside.url, POST))).toBe("response_unreadable")
    expect(attempt.observe()).toMatchObject({ status: 999, stage: "head_received" })
  })

  test("informational answers are passed over [ST-3]", async () => {
    const outside = await startOutside({
      answer: ({ socket }) => {
        socket.write("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n")
        reply(socket, 201, "made")
      },
    })
    const attempt = bench().attempt()
    expect(await (await attempt.fetch(outside.url, POST)).text()).toBe("made")
    expect(attempt.observe().status).toBe(201)
  })

  test.each([204, 205, 304])("%i has no body and is complete [ST-3]", async (status) => {
    const outside = await startOutside({
      answer: ({ socket }) => socket.write(`HTTP/1.1 ${status} Said\r\ncontent-length: 0\r\n\r\n`),
    })
    const attempt = bench().attempt()
    const response = await attempt.fetch(outside.url, { method: "DELETE" })
    expect(response).toMatchObject({ status, body: null })
    await until(() => attempt.observe().ended)
    expect(attempt.observe()).toMatchObject({ stage: "body_received", status })
  })

  test("has its headers, its URL, and its cookies for the tool; the observation keeps no cookies [RP-5]", async () => {
    const head =
      "HTTP/1.1 200 Fine\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nX-Two: 1\r\nx-two: 2\r\ncontent-length: 0\r\n\r\n"
    const outside = await startOutside({ answer: ({ socket }) => socket.write(head) })
    const attempt = bench().attempt()
    const response = await attempt.fetch(`${outside.url}/a?b=c#d`, POST)
    expect(response).toMatchObject({ ok: true, statusText: "Fine", url: `${outside.url}/a?b=c` })
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"])
    expect(attempt.observe().headers).toEqual({ "x-two": "1, 2", "content-length": "0" })
  })
})

describe("the request", () => {
  test.each<[string, NonNullable<RequestInit["body"]> | null, string, string | undefined]>([
    ["text", "a=ü", "a=ü", "text/plain;charset=UTF-8"],
    ["bytes", Buffer.from([1, 2]), "\u0001\u0002", undefined],
    ["a form", new URLSearchParams({ a: "1 2" }), "a=1+2", "application/x-www-form-urlencoded;charset=UTF-8"],
    ["a blob", new Blob(["{}"], { type: "application/json" }), "{}", "application/json"],
    [
      "a stream",
      Readable.toWeb(Readable.from(["ab", "c"].map((text) => Buffer.from(text)))) as ReadableStream,
      "abc",
      undefined,
    ],
    ["nothing", null, "", undefined],
  ])("carries %s with its length and type [RP-5]", async (_name, body, expected, type) => {
    const outside = await startOutside()
    await bench()
      .attempt()
      .fetch(`${outside.url}/x?y=%20z`, { method: "patch", body, headers: { "X-A": "1" } })
    const [request] = outside.requests
    expect(request).toMatchObject({ method: "PATCH", path: "/x?y=%20z" })
    expect(request?.body.toString()).toBe(expected)
    expect(request?.headers).toMatchObject({
      "content-length": String(Buffer.byteLength(expected)),
      "x-a": "1",
      accept: "*/*",
    })
    expect(request?.headers["content-type"]).toBe(type)
  })

  test("may be a Request object [RP-5]", async () => {
    const outside = await startOutside()
    const attempt = bench().attempt()
    // The type is the point: an SDK that takes a fetch takes this one.
    const standard: typeof fetch = attempt.fetch
    expect((await standard(new Request(outside.url, POST))).status).toBe(200)
    expect(outside.requests[0]?.body.toString()).toBe("charge")
    expect(attempt.observe().effect_requested).toBe(true)
  })

  test("whose body is larger than allowed, has no end, or breaks, never leaves [RP-5] [ST-3]", async () => {
    const outside = await startOutside()
    const { attempt } = bench()
    const large = attempt({ request_bytes_max: 5 })
    expect(await code(large.fetch(outside.url, POST))).toBe("request_too_large")
    const endless = attempt({ request_bytes_max: 5_000 })
    const source = new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(1_000)) })
    expect(await code(endless.fetch(outside.url, { method: "POST", body: source }))).toBe("request_too_large")
    const broken = attempt()
    const body = new ReadableStream({ start: (controller) => controller.error(new Error("disk")) })
    expect(await code(broken.fetch(outside.url, { method: "POST", body }))).toBe("invalid_request")
    for (const tried of [large, endless, broken])
      expect(tried.observe()).toMatchObject({ stage: "requested", ended: true })
    expect(outside.connections).toBe(0)
  })

  test("a body of several chunks arrives whole, in order, at every size around a chunk [RP-5]", async () => {
    const outside = await startOutside()
    const { attempt } = bench()
    for (const size of [CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES]) {
      const body = Buffer.from(Array.from({ length: size }, (_, index) => index % 251))
      await (await attempt().fetch(outside.url, { method: "POST", body })).text()
      expect(outside.requests.at(-1)?.body.equals(body)).toBe(true)
    }
  })

  test("every chunk but the first fills the write buffer: the end is told when the kernel has all [R6]", async () => {
    const asked: string[] = []
    const sizes: number[] = []
    const gate = {
      chunk: (first: boolean) => void asked.push(first ? "head" : "chunk"),
      end: () => void asked.push("end"),
    }
    for await (const chunk of gatedBody(Buffer.alloc(2 * CHUNK_BYTES + 7), gate)) sizes.push(chunk.byteLength)
    expect(sizes).toEqual([7, CHUNK_BYTES, CHUNK_BYTES])
    expect(asked).toEqual(["head", "chunk", "chunk", "end"])
  })
})

describe("the protocol on the wire", () => {
  test("is HTTP/1.1 although the server offers HTTP/2 [R26]", async () => {
    const server = createSecureServer(
      { cert: CERTIFICATE, key: PRIVATE_KEY, allowHTTP1: true },
      (request, response) => {
        response.end(request.httpVersion)
      },
    )
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    onTestFinished(() => void server.close())
    const attempt = bench().attempt()
    const response = await attempt.fetch(`https://localhost:${(server.address() as AddressInfo).port}/`, POST)
    expect(await response.text()).toBe("1.1")
  })

  test("does not use, replace or see the process's global dispatcher [R26]", async () => {
    const symbol = Symbol.for("undici.globalDispatcher.1")
    const hostile = { dispatch: () => expect.unreachable("the global dispatcher was used") }
    const before: unknown = Reflect.get(globalThis, symbol)
    Reflect.set(globalThis, symbol, hostile)
    onTestFinished(() => void Reflect.set(globalThis, symbol, before))
    const outside = await startOutside()
    await (await bench().attempt().fetch(outside.url, POST)).text()
    expect(outside.effects).toBe(1)
    expect(Reflect.get(globalThis, symbol)).toBe(hostile)
  })

  test("loading the transport leaves the application's own fetch alone [R26]", () => {
    const module = new URL("../dist/dispatch/transport/transport.js", import.meta.url).href
    const script = `
      await import(${JSON.stringify(module)})
      console.log(typeof globalThis[Symbol.for("undici.globalDispatcher.1")])`
    const child = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" })
    expect(child.stdout.trim()).toBe("undefined")
  })
})
