// Hunts: a URL that was built from a model's parameters and leads into the machine or its network: by address, by name,
// by a name that changes its answer, by a redirect, by a connection that is already open.
import type { LookupFunction } from "node:net"

import { describe, expect, test } from "vitest"

import { isPrivateAddress, neverLeft, publicLookup } from "@invokejs/engine/internal"
import { bench, fixedLookup, POST, reply, startOutside } from "./transport-outside.ts"

function code(promise: Promise<Response>): Promise<unknown> {
  return promise.then(
    (response) => response.status,
    (error: unknown) => (error as { code?: string }).code,
  )
}

const UNTRUSTED = { ...POST, untrusted_url: true } as const

describe("a URL built from parameters", () => {
  test.each(["127.0.0.1", "127.1", "0x7f000001", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"])(
    "does not reach the machine as %s [RP-5]",
    async (host) => {
      const outside = await startOutside()
      const attempt = bench().attempt()
      expect(await code(attempt.fetch(`http://${host}:${outside.port}/`, UNTRUSTED))).toBe("private_address")
      expect(neverLeft(attempt.observe())).toBe(true)
      expect(outside.connections).toBe(0)
    },
  )

  test("does not reach it by name, and is proof by stage [RP-5]", async () => {
    const outside = await startOutside()
    const attempt = bench({ lookup: fixedLookup("127.0.0.1") }).attempt()
    expect(await code(attempt.fetch(`http://hook.example:${outside.port}/`, UNTRUSTED))).toBe("private_address")
    expect(attempt.observe()).toMatchObject({ stage: "connecting", ended: true })
    expect(neverLeft(attempt.observe())).toBe(true)
    expect(outside.connections).toBe(0)
  })

  test("does not reach it by a name with one public and one private address [RP-5]", async () => {
    const outside = await startOutside()
    const attempt = bench({ lookup: fixedLookup("8.8.8.8", "127.0.0.1") }).attempt()
    expect(await code(attempt.fetch(`http://hook.example:${outside.port}/`, UNTRUSTED))).toBe("private_address")
    expect(outside.connections).toBe(0)
  })

  test("does not reach it over a connection that a trusted URL has opened [RP-5]", async () => {
    const outside = await startOutside()
    const { attempt } = bench({ lookup: fixedLookup("127.0.0.1") })
    const url = `http://hook.example:${outside.port}/`
    expect(await code(attempt().fetch(url))).toBe(200)
    expect(await code(attempt().fetch(url, { untrusted_url: true }))).toBe("private_address")
    expect(outside.requests).toHaveLength(1)
  })

  test("does not reach it by a redirect to another origin, trusted at the start or not [RP-5]", async () => {
    const inside = await startOutside()
    const outside = await startOutside({ answer: ({ socket }) => reply(socket, 302, "", { location: inside.url }) })
    const attempt = bench().attempt()
    expect(await code(attempt.fetch(outside.url, { redirect: "follow" }))).toBe("private_address")
    expect(outside.requests).toHaveLength(1)
    expect(inside.connections).toBe(0)
  })

  test("reaches it where the tool's owner allowed that [RP-5]", async () => {
    const outside = await startOutside()
    expect(await code(bench().attempt({ allow_private: true }).fetch(outside.url, UNTRUSTED))).toBe(200)
  })
})

test("the answer that was checked is the one connected to: a name that changes gains nothing [RP-5]", async () => {
  const answers = ["93.184.216.34", "127.0.0.1"]
  const asked: string[] = []
  const rebinding: LookupFunction = (hostname, options, callback) => {
    const address = answers[Math.min(asked.length, answers.length - 1)] ?? ""
    asked.push(address)
    fixedLookup(address)(hostname, options, callback)
  }
  const ask = (all: boolean) =>
    new Promise((resolve) => {
      publicLookup(rebinding)("hook.example", { all }, (error, answer) => resolve(error ?? answer))
    })
  // One resolution each: what the check saw goes to the socket, and the second answer is checked again.
  expect(await ask(true)).toEqual([{ address: "93.184.216.34", family: 4 }])
  expect(asked).toEqual(["93.184.216.34"])
  expect(await ask(true)).toMatchObject({ code: "private_address" })
  expect(await ask(false)).toMatchObject({ code: "private_address" })
})

test.each([
  ["8.8.8.8", false],
  ["93.184.216.34", false],
  ["2606:4700::1111", false],
  ["2002:0808:0808::1", false],
  ["64:ff9b::8.8.8.8", false],
  ["::ffff:8.8.8.8", false],
  ["10.1.2.3", true],
  ["100.64.0.1", true],
  ["169.254.169.254", true],
  ["172.16.0.1", true],
  ["172.32.0.1", false],
  ["192.168.1.1", true],
  ["198.18.0.1", true],
  ["224.0.0.1", true],
  ["255.255.255.255", true],
  ["0.0.0.0", true],
  ["::", true],
  ["::1", true],
  ["::ffff:10.0.0.1", true],
  ["::ffff:a00:1", true],
  ["64:ff9b::169.254.169.254", true],
  ["64:ff9b:1::1", true],
  ["2002:7f00:1::", true],
  ["2001::1", true],
  ["2001:db8::1", true],
  ["fc00::1", true],
  ["fe80::1%eth0", true],
  ["ff02::1", true],
  ["not an address", true],
])("%s is private: %s [RP-5]", (address, expected) => {
  expect(isPrivateAddress(address)).toBe(expected)
})
