// Hunts a proxy that breaks something else than it says: a "lost answer" whose request never arrived, a "refusal" that
// was delivered, a cut that also loses what came before it. Every crash and network test rests on these differences.
// Proofs that rest on it: RP-5, ST-2. They are the engine's to prove, so no name here cites them.
import { FaultProxy, type Fault, type FaultRule } from "@invokejs/testkit"
import { expect, onTestFinished, test } from "vitest"
import { countingServer, type CountingServer } from "./counting-server.ts"
import { rawClient, rawPost } from "./raw-client.ts"

async function proxied(
  script: readonly FaultRule[],
  otherwise?: Fault,
): Promise<{ target: CountingServer; proxy: FaultProxy }> {
  const target = await countingServer()
  const proxy = await FaultProxy.start({
    target: target.url,
    script,
    ...(otherwise === undefined ? {} : { otherwise }),
  })
  onTestFinished(() => proxy.close())
  return { target, proxy }
}

function post(proxy: FaultProxy, path: string, body = "amount=2400"): Promise<Response> {
  return fetch(proxy.url + path, { method: "POST", body, redirect: "manual" })
}

/** The code a client is left with: of the error, or of its cause. */
async function codeOf(outcome: Promise<unknown>): Promise<string> {
  try {
    await outcome
    return "none"
  } catch (error) {
    const { cause, code } = error as { cause?: { code?: string }; code?: string }
    return cause?.code ?? code ?? String(error)
  }
}

const RESET = "ECONNRESET"
const CLOSED = "UND_ERR_SOCKET"
// A reset that comes with the last bytes reads as an orderly end in Node.
const RESET_OR_CLOSED = /ECONNRESET|UND_ERR_SOCKET/

test("without a rule every byte passes and is counted in both directions", async () => {
  const { target, proxy } = await proxied([])
  const answer = await post(proxy, "/charges")
  expect([answer.status, await answer.text(), answer.headers.get("x-number")]).toEqual([201, `{"done":true}`, "1"])
  expect(target.whole).toEqual([{ method: "POST", path: "/charges", body: "amount=2400" }])
  const counters = proxy.counters()
  expect(counters).toMatchObject({ connections: 1, requests: 1, deliveries: 1 })
  expect(counters.bytes_to_target).toBe(counters.bytes_from_client)
  expect(counters.bytes_to_client).toBe(counters.bytes_from_target)
  expect(counters.bytes_from_client).toBeGreaterThan("amount=2400".length)
})

test("many requests on one kept connection are told apart, chunked or with a length", async () => {
  const { target, proxy } = await proxied([])
  const client = await rawClient(proxy.port)
  const chunked =
    "POST /chunked HTTP/1.1\r\nhost: target\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n6\r\nd\r\n\r\ne\r\n0\r\n\r\n"
  client.send(
    rawPost("/sized", "one") + chunked + rawPost("/sized", "two") + "GET /last HTTP/1.1\r\nhost: target\r\n\r\n",
  )
  await client.until(({ received }) => received.split("HTTP/1.1 201").length === 5 && received.endsWith("0\r\n\r\n"))
  expect(target.whole.map(({ path, body }) => `${path} ${body}`)).toEqual([
    "/sized one",
    "/chunked abcd\r\n\r\ne",
    "/sized two",
    "/last ",
  ])
  expect(proxy.counters()).toMatchObject({ connections: 1, requests: 4, deliveries: 4 })
})

test.each([
  ["refused by FIN", { kind: "refuse", by: "fin" }, CLOSED],
  ["refused by RST", { kind: "refuse", by: "rst" }, RESET],
  [
    "cut by FIN inside the body",
    { kind: "cut", direction: "request", at: { before_marker: "2400" }, by: "fin" },
    CLOSED,
  ],
  ["cut by RST inside the head", { kind: "cut", direction: "request", at: { after_bytes: 20 }, by: "rst" }, RESET],
] satisfies [string, Fault, string][])("a request that is %s has no effect at the target", async (_, fault, code) => {
  const { target, proxy } = await proxied([{ fault }])
  expect(await codeOf(post(proxy, "/charges"))).toBe(code)
  const later = await post(proxy, "/charges")
  expect(later.status).toBe(201)
  expect(target.whole).toHaveLength(1)
})

test.each([
  ["FIN", { kind: "drop_answer", then: "fin" }, CLOSED],
  ["RST", { kind: "drop_answer", then: "rst" }, RESET],
  ["a RST inside the head", { kind: "cut", direction: "answer", at: { after_bytes: 10 }, by: "rst" }, RESET_OR_CLOSED],
  [
    "a FIN before the body's first word",
    { kind: "cut", direction: "answer", at: { before_marker: "x-number" }, by: "fin" },
    CLOSED,
  ],
  [
    "a RST right behind the whole request",
    { kind: "cut", direction: "request", at: { after_message: true }, by: "rst" },
    RESET,
  ],
] satisfies [string, Fault, string | RegExp][])(
  "an answer lost by %s leaves one effect behind the same error as a request that never arrived",
  async (_, fault, code) => {
    const { target, proxy } = await proxied([{ fault }])
    expect(await codeOf(post(proxy, "/charges"))).toMatch(code)
    await target.until(({ whole }) => whole.length === 1)
    expect(target.whole).toHaveLength(1)
  },
)

test.each(["keep_open", "half_open"] as const)(
  "a swallowed answer with the socket left %s is silence after one effect",
  async (then) => {
    const { target, proxy } = await proxied([{ fault: { kind: "drop_answer", then } }])
    const stop = new AbortController()
    const call = fetch(`${proxy.url}/charges`, { method: "POST", body: "a=1", signal: stop.signal })
    await proxy.until((seen) => seen.record()[0]?.finished === true)
    expect(target.whole).toHaveLength(1)
    stop.abort()
    await expect(call).rejects.toThrow("aborted")
  },
)

test("a half-open connection takes the request and delivers nothing, and the proxy's close ends it", async () => {
  const { target, proxy } = await proxied([{ fault: { kind: "half_open" } }])
  const client = await rawClient(proxy.port)
  client.send(rawPost("/charges", "a=1"))
  await proxy.until((seen) => seen.record().length === 1)
  expect((await post(proxy, "/other")).status).toBe(201)
  expect([client.received, client.ended]).toEqual(["", null])
  await proxy.close()
  await client.until(({ ended }) => ended !== null)
  expect(target.whole.map(({ path }) => path)).toEqual(["/other"])
})

test("a stopped proxy refuses at the kernel and listens again on the same port", async () => {
  const { target, proxy } = await proxied([])
  await proxy.stopListening()
  expect(await codeOf(post(proxy, "/charges"))).toBe("ECONNREFUSED")
  await proxy.listenAgain()
  expect((await post(proxy, "/charges")).status).toBe(201)
  expect(target.whole).toHaveLength(1)
})

test.each([
  ["first", false, "1"],
  ["last", false, "2"],
] as const)("a doubled request has two effects and answers with the %s", async (answer, overlap, number) => {
  const { target, proxy } = await proxied([{ fault: { kind: "duplicate_request", answer, overlap } }])
  const got = await post(proxy, "/charges")
  expect([got.status, got.headers.get("x-number"), await got.text()]).toEqual([201, number, `{"done":true}`])
  expect(target.whole.map(({ body }) => body)).toEqual(["amount=2400", "amount=2400"])
  expect(proxy.record()[0]).toMatchObject({ deliveries: 2, faults: ["duplicate_request"], answered: "whole" })
})

test.each(["first", "last"] as const)(
  "a doubled request is sent again only after the first was answered (%s)",
  async (answer) => {
    const { target, proxy } = await proxied([{ fault: { kind: "duplicate_request", answer } }])
    await (await post(proxy, "/slow")).text()
    expect(target.log).toEqual(["arrived /slow", "answered /slow", "arrived /slow", "answered /slow"])
  },
)

test("a lost answer is lost only once the target has written all of it", async () => {
  const { target, proxy } = await proxied([{ fault: { kind: "drop_answer", then: "rst" } }])
  expect(await codeOf(post(proxy, "/slow"))).toBe(RESET)
  expect(target.log).toEqual(["arrived /slow", "answered /slow"])
})

test("a doubled request can be in flight twice at once", async () => {
  const { target, proxy } = await proxied([{ fault: { kind: "duplicate_request", overlap: true, answer: "last" } }])
  expect((await post(proxy, "/charges")).status).toBe(201)
  await target.until(({ whole }) => whole.length === 2)
})

test("one rule may double the request and lose the answer", async () => {
  const { target, proxy } = await proxied([
    { fault: [{ kind: "duplicate_request" }, { kind: "drop_answer", then: "rst" }] },
  ])
  expect(await codeOf(post(proxy, "/charges"))).toBe(RESET)
  expect(target.whole).toHaveLength(2)
})

test("a truncated answer keeps its status and advertised length and has no readable body", async () => {
  const { target, proxy } = await proxied([
    { fault: { kind: "truncate_answer", keep_bytes: 4, then: "fin" }, times: 2 },
  ])
  const sized = await post(proxy, "/sized")
  expect([sized.status, sized.headers.get("content-length")]).toEqual([201, "13"])
  expect(await codeOf(sized.text())).toBe(CLOSED)
  const chunked = await post(proxy, "/charges")
  expect(chunked.status).toBe(201)
  await expect(chunked.text()).rejects.toThrow("terminated")
  expect(target.whole).toHaveLength(2)
})

test("a garbled status line is no answer at all, a garbled body is an answer of the same length that no parser reads", async () => {
  const { target, proxy } = await proxied([
    { fault: { kind: "garble_answer", part: "status_line" } },
    { fault: { kind: "garble_answer", part: "body" } },
  ])
  expect(await codeOf(post(proxy, "/charges"))).toMatch(/^HPE_/)
  const answer = await post(proxy, "/charges")
  expect([answer.status, await answer.text()]).toEqual([201, "#".repeat(13)])
  expect(target.whole).toHaveLength(2)
})

test("a 502 after delivery and a 502 without it look alike and differ by one effect", async () => {
  const gateway = { status: 502, headers: { "content-type": "text/html" }, body: "<h1>Bad Gateway</h1>" }
  const { target, proxy } = await proxied([
    { fault: { kind: "replace_answer", ...gateway } },
    { fault: { kind: "answer_instead", ...gateway } },
  ])
  for (const effects of [1, 1]) {
    const answer = await post(proxy, "/charges")
    expect([answer.status, await answer.text()]).toEqual([502, gateway.body])
    expect(target.whole).toHaveLength(effects)
  }
  expect(proxy.record().map(({ deliveries, target_status }) => [deliveries, target_status])).toEqual([
    [1, 201],
    [0, null],
  ])
})

test("a 307 after delivery makes a client that follows it send the body twice", async () => {
  const { target, proxy } = await proxied([
    { fault: { kind: "replace_answer", status: 307, headers: { location: "/charges" } }, times: 2 },
  ])
  expect((await post(proxy, "/charges")).status).toBe(307)
  const followed = await fetch(`${proxy.url}/charges`, { method: "POST", body: "a=1", redirect: "follow" })
  expect(followed.status).toBe(201)
  expect(target.whole).toHaveLength(3)
})

test("an answer written twice is read as the answer to the next request on that connection", async () => {
  const { target, proxy } = await proxied([{ fault: { kind: "answer_twice" } }])
  const client = await rawClient(proxy.port)
  client.send(rawPost("/sized", "one"))
  await client.until(({ received }) => received.split(`{"done":true}`).length === 3)
  expect(target.whole).toHaveLength(1)
  expect(client.received.match(/x-number: 1/g)).toHaveLength(2)
})

test("a delayed request is delivered after its client has gone", async () => {
  const { target, proxy } = await proxied([{ fault: { kind: "delay", direction: "request", ms: 50 } }])
  const client = await rawClient(proxy.port)
  client.send(rawPost("/charges", "a=1"))
  await proxy.until((seen) => seen.counters().requests === 1)
  client.leave()
  await target.until(({ whole }) => whole.length === 1)
  await proxy.until((seen) => seen.record()[0]?.finished === true)
  expect(proxy.record()[0]).toMatchObject({ client_gone: true, deliveries: 1, target_status: 201 })
})

test("a delayed answer comes whole, after its effect", async () => {
  const { target, proxy } = await proxied([{ fault: { kind: "delay", direction: "answer", ms: 50 } }])
  const call = post(proxy, "/charges")
  await target.until(({ whole }) => whole.length === 1)
  expect(await (await call).text()).toBe(`{"done":true}`)
})

test("a target that is not there ends the client's connection without an answer", async () => {
  const { target, proxy } = await proxied([])
  proxy.retarget("http://127.0.0.1:9")
  expect(await codeOf(post(proxy, "/charges"))).toBe(RESET)
  proxy.retarget(target.url)
  expect((await post(proxy, "/charges")).status).toBe(201)
})

test("a client that leaves inside its own request has no effect, and the target hears of the break", async () => {
  const { target, proxy } = await proxied([])
  const client = await rawClient(proxy.port)
  client.send("POST /charges HTTP/1.1\r\nhost: target\r\ncontent-length: 100\r\n\r\nonly a part")
  await proxy.until((seen) => seen.counters().requests === 1)
  client.leave()
  await target.until(({ broken }) => broken.length === 1)
  expect(target.whole).toEqual([])
})

test("a client that waits for 100 Continue before its body is answered", async () => {
  const { target, proxy } = await proxied([])
  const client = await rawClient(proxy.port)
  client.send("POST /sized HTTP/1.1\r\nhost: target\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n")
  await client.until(({ received }) => received.includes("100 Continue"))
  client.send("abc")
  await client.until(({ received }) => received.endsWith(`{"done":true}`))
  expect(client.received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 100", "HTTP/1.1 201"])
  expect(target.whole.map(({ body }) => body)).toEqual(["abc"])
})
