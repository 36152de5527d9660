// Hunts a script that applies its faults to the wrong request: then a test proves something about a fault that hit
// nobody, and stays green.
import { FaultProxy, type FaultRule } from "@invokejs/testkit"
import { expect, onTestFinished, test } from "vitest"
import { countingServer, type CountingServer } from "./counting-server.ts"
import { rawClient, rawPost } from "./raw-client.ts"

async function proxied(script: readonly FaultRule[]): Promise<{ target: CountingServer; proxy: FaultProxy }> {
  const target = await countingServer()
  const proxy = await FaultProxy.start({ target: target.url, script })
  onTestFinished(() => proxy.close())
  return { target, proxy }
}

function answerWith(status: number): { readonly kind: "answer_instead"; readonly status: number } {
  return { kind: "answer_instead", status }
}

async function statuses(proxy: FaultProxy, calls: readonly (readonly [method: string, path: string, body?: string])[]) {
  const seen: number[] = []
  for (const [method, path, body] of calls) {
    const answer = await fetch(proxy.url + path, { method, ...(body === undefined ? {} : { body }) })
    await answer.text()
    seen.push(answer.status)
  }
  return seen
}

test("rules are spent in order, each as often as it says, then the default holds", async () => {
  const { proxy } = await proxied([{ fault: answerWith(500) }, { fault: answerWith(502), times: 2 }])
  const call = ["POST", "/charges", "x"] as const
  expect(await statuses(proxy, [call, call, call, call])).toEqual([500, 502, 502, 201])
  proxy.script([{ fault: answerWith(503) }], answerWith(504))
  expect(await statuses(proxy, [call, call, call])).toEqual([503, 504, 504])
})

test("a rule waits for the request it names and lets the others pass", async () => {
  const { proxy } = await proxied([
    { match: { method: "POST", path: "/v1/refunds" }, fault: answerWith(500) },
    { match: { path: "/v1/charges/*" }, fault: answerWith(502), times: "always" },
  ])
  expect(
    await statuses(proxy, [
      ["POST", "/v1/charges", "x"],
      ["GET", "/v1/refunds"],
      ["GET", "/v1/charges/ch_1?expand[]=customer"],
      ["POST", "/v1/refunds?x=1", "x"],
      ["POST", "/v1/refunds", "x"],
      ["GET", "/v1/charges/ch_2"],
    ]),
  ).toEqual([201, 201, 502, 500, 201, 502])
})

test("a refusal that names a path lets the connection open and waits for that path", async () => {
  const { target, proxy } = await proxied([{ match: { path: "/refused" }, fault: { kind: "refuse", by: "rst" } }])
  expect(
    await statuses(proxy, [
      ["GET", "/a"],
      ["GET", "/b"],
    ]),
  ).toEqual([201, 201])
  await expect(statuses(proxy, [["GET", "/refused"]])).rejects.toThrow("fetch failed")
  expect(await statuses(proxy, [["GET", "/refused"]])).toEqual([201])
  expect(target.whole.map(({ path }) => path)).toEqual(["/a", "/b", "/refused"])
})

test("a marker is found in the body, also when it is split between packets", async () => {
  const { target, proxy } = await proxied([{ match: { marker: "op_7" }, fault: answerWith(500) }])
  expect(await statuses(proxy, [["POST", "/charges", "metadata=op_6"]])).toEqual([201])
  const client = await rawClient(proxy.port)
  const request = rawPost("/charges", "metadata=op_7")
  client.send(request.slice(0, -2))
  await proxy.until((seen) => seen.counters().requests === 2)
  client.send(request.slice(-2))
  await client.until(({ received }) => received.startsWith("HTTP/1.1 500"))
  expect(target.whole.map(({ body }) => body)).toEqual(["metadata=op_6"])
})

test("a marker in the answer is found after the effect", async () => {
  const { target, proxy } = await proxied([
    { match: { direction: "answer", marker: "x-number: 2" }, fault: { kind: "replace_answer", status: 504 } },
  ])
  const call = ["POST", "/charges", "x"] as const
  expect(await statuses(proxy, [call, call, call])).toEqual([201, 504, 201])
  expect(target.whole).toHaveLength(3)
  expect(proxy.record().map(({ faults }) => faults)).toEqual([[], ["replace_answer"], []])
})

test("a rule can name the connection, and a refusal in the middle of a script waits for its turn", async () => {
  const { target, proxy } = await proxied([
    { match: { connection: 2 }, fault: { kind: "refuse", by: "rst" } },
    { match: { connection: 3 }, fault: answerWith(500) },
    { match: { connection: 4 }, fault: answerWith(502) },
    { match: { connection: 4 }, fault: { kind: "refuse", by: "fin" } },
  ])
  const ends: string[] = []
  for (let n = 1; n <= 4; n += 1) {
    const client = await rawClient(proxy.port)
    client.send(rawPost("/sized", "x"))
    await client.until(
      ({ received, ended }) => received.endsWith("}") || received.includes("length: 0") || ended !== null,
    )
    if (n === 4) {
      client.send(rawPost("/sized", "y"))
      await client.until(({ ended }) => ended !== null)
    }
    ends.push(`${client.received.slice(9, 12)} ${client.ended}`)
  }
  expect(ends).toEqual(["201 null", " rst", "500 null", "502 fin"])
  expect(target.whole).toHaveLength(1)
})

test("the record names each request, what was done to it and how it went", async () => {
  const { proxy } = await proxied([{ match: { path: "/b" }, fault: { kind: "drop_answer", then: "rst" } }])
  const client = await rawClient(proxy.port)
  client.send(rawPost("/sized", "x"))
  client.send(rawPost("/b", "x"))
  await client.until(({ ended }) => ended !== null)
  const fixed = { client_gone: false, finished: true, trouble: null, target_status: 201, deliveries: 1 }
  expect(proxy.record()).toEqual([
    { connection: 1, request: 1, method: "POST", path: "/sized", faults: [], answered: "whole", ...fixed },
    { connection: 1, request: 2, method: "POST", path: "/b", faults: ["drop_answer"], answered: "nothing", ...fixed },
  ])
})

test("a rule with two faults of one side, or with a request fault on an answer, is refused at once", async () => {
  const { proxy } = await proxied([])
  const refuse = { kind: "refuse", by: "fin" } as const
  expect(() => proxy.script([{ fault: [refuse, { kind: "half_open" }] }])).toThrow("one fault of each side")
  expect(() => proxy.script([{ match: { direction: "answer", marker: "x" }, fault: refuse }])).toThrow("comes too late")
})

test("a request too large to be kept whole is reported, not half delivered", async () => {
  const { target, proxy } = await proxied([{ fault: { kind: "hold" } }])
  await expect(fetch(`${proxy.url}/big`, { method: "POST", body: "x".repeat(17 * 1024 * 1024) })).rejects.toThrow(
    "fetch failed",
  )
  await proxy.until((seen) => seen.record()[0]?.finished === true)
  expect(proxy.record()[0]?.trouble).toContain("limited to")
  expect(target.whole).toEqual([])
})
