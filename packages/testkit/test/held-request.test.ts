// Hunts the late landing that does not land, or lands by itself: the fault behind every trusted negative that was wrong.
// Proofs that rest on it: RC-5, ST-2. They are the engine's to prove, so no name here cites them.
import { FaultProxy } from "@invokejs/testkit"
import { expect, onTestFinished, test } from "vitest"
import { countingServer, type CountingServer } from "./counting-server.ts"
import { rawClient, rawPost } from "./raw-client.ts"

async function holding(times: number): Promise<{ target: CountingServer; proxy: FaultProxy }> {
  const target = await countingServer()
  const proxy = await FaultProxy.start({ target: target.url, script: [{ fault: { kind: "hold" }, times }] })
  onTestFinished(() => proxy.close())
  return { target, proxy }
}

test("a held request lands after its client has gone, when it is released", async () => {
  const { target, proxy } = await holding(1)
  const client = await rawClient(proxy.port)
  client.send(rawPost("/charges", "a=1"))
  await proxy.until((seen) => seen.held().length === 1)
  client.leave()
  expect((await fetch(`${proxy.url}/look`)).status).toBe(201)
  expect(target.whole.map(({ path }) => path)).toEqual(["/look"])
  expect(await proxy.release()).toEqual({ id: "held_1", method: "POST", path: "/charges", target_status: 201 })
  expect(target.whole.map(({ path, body }) => `${path} ${body}`)).toEqual(["/look ", "/charges a=1"])
  expect(proxy.record()[0]).toMatchObject({ faults: ["hold"], client_gone: true, deliveries: 1 })
})

test("a client that waited gets the answer of its released request", async () => {
  const { proxy } = await holding(1)
  const call = fetch(`${proxy.url}/charges`, { method: "POST", body: "a=1" })
  await proxy.until((seen) => seen.held().length === 1)
  await proxy.release()
  expect((await call).status).toBe(201)
})

test("held requests are released by name, in any order", async () => {
  const { target, proxy } = await holding(2)
  const calls: Promise<Response>[] = []
  for (const path of ["/first", "/second"]) {
    calls.push(fetch(proxy.url + path, { method: "POST", body: path }))
    await proxy.until((seen) => seen.held().length === calls.length)
  }
  expect(proxy.held().map(({ id, path }) => [id, path])).toEqual([
    ["held_1", "/first"],
    ["held_2", "/second"],
  ])
  await proxy.release("held_2")
  await proxy.release("held_1")
  await Promise.all(calls)
  expect(target.whole.map(({ path }) => path)).toEqual(["/second", "/first"])
  await expect(proxy.release()).rejects.toThrow("no request is held")
})

test("the client of a held request can be cut off at once", async () => {
  const target = await countingServer()
  const proxy = await FaultProxy.start({ target: target.url, script: [{ fault: { kind: "hold", client: "rst" } }] })
  onTestFinished(() => proxy.close())
  await expect(fetch(`${proxy.url}/charges`, { method: "POST", body: "a=1" })).rejects.toThrow("fetch failed")
  expect(target.whole).toEqual([])
  await proxy.release()
  expect(target.whole).toHaveLength(1)
})

test("a closed proxy delivers nothing that it held", async () => {
  const { target, proxy } = await holding(1)
  const call = fetch(`${proxy.url}/charges`, { method: "POST", body: "a=1" })
  await proxy.until((seen) => seen.held().length === 1)
  await proxy.close()
  await expect(call).rejects.toThrow("fetch failed")
  await fetch(`${target.url}/later`)
  expect(target.whole.map(({ path }) => path)).toEqual(["/later"])
})
