// Hunts: a second effect inside one attempt, whoever sends it: the tool, a redirect, a 421, the HTTP client itself; and
// a provider key that is put over another body, account or region than the one it was first sent with.
import type { Dispatcher } from "undici"
import { describe, expect, test } from "vitest"

import { digestDifference, effectDigest, type EffectRule, isEffect, neverLeft } from "@invokejs/engine/internal"
import { bench, closedPort, executed, POST, reply, startOutside, until } from "./transport-outside.ts"

function code(promise: Promise<Response>): Promise<unknown> {
  return promise.then(
    (response) => response.status,
    (error: unknown) => (error as { code?: string }).code,
  )
}

describe("one effect request", () => {
  test("a second effect is refused before a byte leaves; the attempt proves nothing any more [R8] [RP-5]", async () => {
    const outside = await startOutside()
    const attempt = bench().attempt()
    expect(await code(attempt.fetch(`${outside.url}/customers`, POST))).toBe(200)
    const bytes = outside.bytes
    expect(await code(attempt.fetch(`${outside.url}/charges`, POST))).toBe("second_effect")
    expect(outside).toMatchObject({ effects: 1, bytes })
    expect(attempt.observe()).toMatchObject({ second_effect: true, status: 200, wire_requests: 1 })
    expect(neverLeft(attempt.observe())).toBe(false)
  })

  test("two effects in one tick: the first is sent, the second is refused [R8]", async () => {
    const outside = await startOutside()
    const attempt = bench().attempt()
    const sent = [code(attempt.fetch(`${outside.url}/1`, POST)), code(attempt.fetch(`${outside.url}/2`, POST))]
    expect(await Promise.all(sent)).toEqual([200, "second_effect"])
    expect(outside.requests.map((request) => request.path)).toEqual(["/1"])
  })

  test("a try again after a refused connection is a second effect: nothing is proved [R8]", async () => {
    const outside = await startOutside()
    const attempt = bench().attempt()
    expect(await code(attempt.fetch(`http://127.0.0.1:${await closedPort()}/`, POST))).toBe("not_connected")
    expect(neverLeft(attempt.observe())).toBe(true)
    expect(await code(attempt.fetch(outside.url, POST))).toBe("second_effect")
    expect(neverLeft(attempt.observe())).toBe(false)
    expect(outside.connections).toBe(0)
  })

  test("a token POST marked {effect: false} and reads are not the effect [R8]", async () => {
    const outside = await startOutside()
    const attempt = bench().attempt()
    await attempt.fetch(`${outside.url}/token`, { ...POST, effect: false })
    await attempt.fetch(`${outside.url}/customers/1`)
    await attempt.fetch(`${outside.url}/customers/1`, { method: "HEAD" })
    expect(attempt.observe()).toMatchObject({ effect_requested: false, stage: "none", wire_requests: 3, digest: null })
    expect(await code(attempt.fetch(`${outside.url}/charges`, POST))).toBe(200)
    expect(attempt.observe()).toMatchObject({ effect_requested: true, second_effect: false, wire_requests: 4 })
  })

  test("an unmarked token POST is the effect, and the charge after it is refused, not acknowledged [R8]", async () => {
    const outside = await startOutside()
    const attempt = bench().attempt()
    await attempt.fetch(`${outside.url}/token`, POST)
    expect(await code(attempt.fetch(`${outside.url}/charges`, POST))).toBe("second_effect")
    expect(attempt.observe().second_effect).toBe(true)
    expect(outside.requests.map((request) => request.path)).toEqual(["/token"])
  })

  test("with a declared effect other requests need no mark [R8]", async () => {
    const outside = await startOutside()
    const attempt = bench().attempt({ effect: { method: "POST", path: "/v1/charges" } })
    await attempt.fetch(`${outside.url}/oauth/token`, POST)
    expect(attempt.observe().effect_requested).toBe(false)
    await attempt.fetch(`${outside.url}/v1/charges?expand=1`, POST)
    expect(attempt.observe()).toMatchObject({ effect_requested: true, stage: "body_received", wire_requests: 2 })
    expect(await code(attempt.fetch(`${outside.url}/v1/charges`, POST))).toBe("second_effect")
  })

  const CHARGES: EffectRule = { method: "post", path: "/v1/customers/:id/charges" }
  test.each<[string, string, string, EffectRule | undefined, boolean | undefined, boolean]>([
    ["GET is a read", "GET", "/x", undefined, undefined, false],
    ["HEAD is a read", "HEAD", "/x", undefined, undefined, false],
    ["DELETE is the effect", "DELETE", "/x", undefined, undefined, true],
    ["a mark makes a GET the effect", "GET", "/x", undefined, true, true],
    ["a mark makes a POST a read", "POST", "/x", undefined, false, false],
    ["a rule's parameter is one segment", "POST", "/v1/customers/1/charges", CHARGES, undefined, true],
    ["and not two", "POST", "/v1/customers/1/2/charges", CHARGES, undefined, false],
    ["a rule's method counts", "PUT", "/v1/customers/1/charges", CHARGES, undefined, false],
    ["a mark does not lift a rule", "POST", "/v1/customers/1/charges", CHARGES, false, true],
    ["a trailing slash does not hide it", "POST", "/v1/customers/1/charges/", CHARGES, undefined, true],
    ["nor does a doubled one", "POST", "/v1//customers/1/charges", CHARGES, undefined, true],
    ["nor percent-encoding", "POST", "/v1/customers/1/%63harges", CHARGES, undefined, true],
    ["a star is any rest", "POST", "/a/b/c", { method: "POST", path: "/a/*" }, undefined, true],
    ["a dot is a dot", "POST", "/v1xjson", { method: "POST", path: "/v1.json" }, undefined, false],
    ["a pattern with a memory has none", "POST", "/a", { method: "POST", path: /^\/a$/g }, undefined, true],
  ])("%s [R8]", (_name, method, pathname, rule, mark, expected) => {
    expect(isEffect({ method, pathname, rule, mark })).toBe(expected)
    expect(isEffect({ method, pathname, rule, mark })).toBe(expected)
  })
})

describe("one request on the wire", () => {
  test("a 421 is answered once and not repeated [R26] [RP-5]", async () => {
    const outside = await startOutside({ answer: executed(({ socket }) => reply(socket, 421)) })
    const attempt = bench().attempt()
    expect(await code(attempt.fetch(outside.url, POST))).toBe(421)
    await (await attempt.fetch(outside.url)).text()
    expect(outside.requests.map((request) => request.method)).toEqual(["POST", "GET"])
    expect(attempt.observe()).toMatchObject({ effect_wire_requests: 1, status: 421 })
  })

  test.each([301, 302, 303, 307, 308])("a %i to a write is returned, not followed [R26] [RP-5]", async (status) => {
    const outside = await startOutside({
      answer: executed(({ socket }) => reply(socket, status, "", { location: "/" })),
    })
    const attempt = bench().attempt()
    expect(await code(attempt.fetch(outside.url, { ...POST, redirect: "follow" }))).toBe(status)
    expect(await code(attempt.fetch(outside.url, { ...POST, effect: false, redirect: "follow" }))).toBe(status)
    expect(outside.effects).toBe(2)
  })

  test("a read follows a redirect only when asked to, and loses its credentials at another origin [RP-5]", async () => {
    const other = await startOutside()
    const outside = await startOutside({
      answer: ({ socket, seen }) => {
        if (seen.path === "/a") reply(socket, 302, "", { location: "/b" })
        else reply(socket, 307, "", { location: `${other.url}/c` })
      },
    })
    const attempt = bench().attempt({ allow_private: true })
    expect(await code(attempt.fetch(`${outside.url}/a`))).toBe(302)
    const headers = { authorization: "Bearer secret", "x-mine": "1" }
    const response = await attempt.fetch(`${outside.url}/a`, { headers, redirect: "follow" })
    expect(response).toMatchObject({ status: 200, url: `${other.url}/c` })
    expect(outside.requests.map((request) => request.headers["authorization"])).toEqual([
      undefined,
      "Bearer secret",
      "Bearer secret",
    ])
    expect(other.requests[0]?.headers).toMatchObject({ "x-mine": "1" })
    expect(other.requests[0]?.headers).not.toHaveProperty("authorization")
  })

  test("redirects end: after five, and at once where the caller calls them an error [RP-5]", async () => {
    const outside = await startOutside({ answer: ({ socket }) => reply(socket, 302, "", { location: "/" }) })
    const attempt = bench().attempt()
    expect(await code(attempt.fetch(outside.url, { redirect: "follow" }))).toBe("redirect_refused")
    expect(outside.requests).toHaveLength(6)
    expect(await code(attempt.fetch(outside.url, { ...POST, redirect: "error" }))).toBe("redirect_refused")
    expect(attempt.observe()).toMatchObject({ status: 302, effect_wire_requests: 1 })
  })

  test("a second start of one request by the HTTP client is refused [R26]", async () => {
    const starts: (() => void)[] = []
    const outside = await startOutside({ answer: executed() })
    const { attempt } = bench({
      wrapDispatcher: (dispatcher) => ({
        dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
          starts.push(() => dispatcher.dispatch(options, handler))
          return dispatcher.dispatch(options, handler)
        },
      }),
    })
    const tried = attempt()
    const sent = code(tried.fetch(outside.url, POST))
    await until(() => outside.effects === 1)
    starts[0]?.()
    expect(await sent).toBe("wire_repeated")
    expect(tried.observe()).toMatchObject({ effect_wire_requests: 1, stage: "body_written" })
    expect(neverLeft(tried.observe())).toBe(false)
    expect(await code(bench().attempt().fetch(`${outside.url}/after`, { signal: AbortSignal.abort() }))).toBe("aborted")
    expect(outside.effects).toBe(1)
  })

  test("stages on a shared connection belong to their own attempt [R26]", async () => {
    const held: (() => void)[] = []
    const outside = await startOutside({
      answer: executed(({ socket, seen }) => held.push(() => reply(socket, 200, seen.path))),
    })
    const { attempt } = bench({ connections_max: 1 })
    const attempts = [attempt(), attempt(), attempt()]
    const sent = attempts.map((tried, index) =>
      tried.fetch(`${outside.url}/${index}`, POST).then((response) => response.text()),
    )
    const stages = () => attempts.map((tried) => tried.observe().stage)
    await until(() => held.length === 1)
    expect(stages()).toEqual(["body_written", "connecting", "connecting"])
    held[0]?.()
    await until(() => held.length === 2)
    expect(stages()).toEqual(["body_received", "body_written", "connecting"])
    held[1]?.()
    await until(() => held.length === 3)
    held[2]?.()
    expect(await Promise.all(sent)).toEqual(["/0", "/1", "/2"])
    expect(outside).toMatchObject({ connections: 1, effects: 3 })
  })
})

describe("the provider key", () => {
  const provider_key = { header: "Idempotency-Key", value: "k-1" }

  test("is on the effect request, over what the tool's SDK put there, and on nothing else [RP-9] [R8]", async () => {
    const outside = await startOutside()
    const attempt = bench().attempt({ provider_key })
    await attempt.fetch(outside.url, { ...POST, effect: false, headers: { "idempotency-key": "of-the-sdk" } })
    await attempt.fetch(outside.url)
    await attempt.fetch(outside.url, { ...POST, headers: { "idempotency-key": "drawn" } })
    expect(outside.requests.map((request) => request.headers["idempotency-key"])).toEqual([
      "of-the-sdk",
      undefined,
      "k-1",
    ])
  })

  const first = async (options: Parameters<ReturnType<typeof bench>["attempt"]>[0], path = "/charges") => {
    const outside = await startOutside()
    const { attempt } = bench()
    const tried = attempt({ provider_key, ...options })
    await tried.fetch(outside.url + path, POST)
    const earlier_digest = tried.observe().digest ?? ""
    return { outside, again: (more: typeof options) => attempt({ provider_key, ...options, earlier_digest, ...more }) }
  }

  test("protects the same bytes at the same place: the same request is sent again [RP-9] [R19]", async () => {
    const { outside, again } = await first({
      covered_headers: ["stripe-version"],
      scope: { account: "acct_1", region: "eu" },
    })
    expect(await code(again({}).fetch(`${outside.url}/charges`, POST))).toBe(200)
    expect(outside.effects).toBe(2)
  })

  test.each<[string, RequestInit, string]>([
    ["another body", { ...POST, body: "charge more" }, "/charges"],
    ["another path", POST, "/refunds"],
    ["another query", POST, "/charges?capture=false"],
    ["another method", { method: "PUT", body: "charge" }, "/charges"],
    ["another covered header", { ...POST, headers: { "Stripe-Version": "2026" } }, "/charges"],
  ])("%s under the key is refused before a byte leaves: key_body_changed [RP-9] [R19]", async (_name, init, path) => {
    const { outside, again } = await first({ covered_headers: ["Stripe-Version"] })
    const bytes = outside.bytes
    const attempt = again({})
    expect(await code(attempt.fetch(outside.url + path, init))).toBe("key_body_changed")
    expect(neverLeft(attempt.observe())).toBe(true)
    expect(outside).toMatchObject({ effects: 1, bytes })
  })

  test.each([
    ["another account", { scope: { account: "acct_2", region: "eu" } }],
    ["another region", { scope: { account: "acct_1", region: "us" } }],
    ["no account", { scope: {} }],
  ])("%s under the key is refused: key_scope_changed [RP-9] [R19]", async (_name, more) => {
    const { outside, again } = await first({ scope: { account: "acct_1", region: "eu" } })
    const attempt = again(more)
    expect(await code(attempt.fetch(`${outside.url}/charges`, POST))).toBe("key_scope_changed")
    expect(neverLeft(attempt.observe())).toBe(true)
    expect(outside.effects).toBe(1)
  })

  test("another origin under the key is refused, and an earlier digest that cannot be read [RP-9] [R19]", async () => {
    const { again } = await first({})
    const elsewhere = await startOutside()
    expect(await code(again({}).fetch(`${elsewhere.url}/charges`, POST))).toBe("key_scope_changed")
    expect(await code(again({ earlier_digest: "v0.x.y" }).fetch(`${elsewhere.url}/charges`, POST))).toBe(
      "key_body_changed",
    )
    expect(elsewhere.connections).toBe(0)
  })

  test("the digest is told before anything leaves; an owner that cannot take it stops that [RP-9] [ST-1]", async () => {
    const outside = await startOutside()
    const told: unknown[] = []
    const { attempt } = bench()
    const telling = attempt({ on_effect_requested: (digest) => void told.push(digest, outside.connections) })
    await telling.fetch(outside.url, POST)
    expect(told).toEqual([telling.observe().digest, 0])

    const failing = attempt({ on_effect_requested: () => Promise.reject(new Error("journal away")) })
    expect(await code(failing.fetch(outside.url, POST))).toBe("digest_not_recorded")
    expect(neverLeft(failing.observe())).toBe(true)
    expect(outside.effects).toBe(1)
  })

  test("the same form data makes the same bytes on every attempt [RP-9] [R19]", async () => {
    const form = () => {
      const data = new FormData()
      data.set("amount", "2400")
      data.set("file", new Blob(["a receipt"]), "receipt.txt")
      return data
    }
    const outside = await startOutside()
    const { attempt } = bench()
    const digests = [
      attempt({ covered_headers: ["content-type"] }),
      attempt({ covered_headers: ["content-type"] }),
    ].map(async (tried) => (await tried.fetch(outside.url, { method: "POST", body: form() }), tried.observe().digest))
    const [one, other] = await Promise.all(digests)
    expect(one).toBe(other)
    const sent = outside.requests[0]
    const parsed = await new Response(sent?.body, {
      headers: { "content-type": sent?.headers["content-type"] ?? "" },
    }).formData()
    expect(parsed.get("amount")).toBe("2400")
    expect(await (parsed.get("file") as File).text()).toBe("a receipt")
  })

  test("digests tell lists of parts apart, not their concatenation [RP-9]", () => {
    const made = (path: string, covered: Record<string, string>, body: string) =>
      effectDigest({
        method: "POST",
        url: new URL(path, "https://provider.example"),
        headers: new Headers(covered),
        covered_headers: ["a", "b"],
        body: Buffer.from(body),
        account: undefined,
        region: undefined,
      })
    const all = [
      made("/x", {}, ""),
      made("/x", { a: "" }, ""),
      made("/x", { a: "b" }, ""),
      made("/x", { b: "b" }, ""),
      made("/xb", {}, ""),
    ]
    expect(new Set(all).size).toBe(all.length)
    expect(digestDifference(all[0] ?? "", all[0] ?? "")).toBeNull()
  })
})
