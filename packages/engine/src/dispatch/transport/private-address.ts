import { lookup as resolveName, type LookupAddress } from "node:dns"
import { BlockList, isIP, type LookupFunction } from "node:net"

import { TransportError } from "./transport-error.ts"

/**
 * Keeps URLs that a tool built from its parameters away from addresses that are not on the public internet.
 *
 * PA1. The answer that was checked is the answer that is connected to: the check sits inside the connection's own
 *      lookup, so a name that resolves differently the second time gains nothing.
 * PA2. One private address in an answer refuses the whole answer.
 * PA3. Addresses that carry an IPv4 address inside are judged by that too.
 */
const IPV4_BLOCKS = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]

/**
 * Everything outside global unicast (2000::/3), and inside it the special-purpose blocks. 64:ff9b::/96 is judged by
 * PA3.
 */
const IPV6_BLOCKS = ["2001::/23", "2001:db8::/32", "3fff::/20"]

const blocked4 = blockList(IPV4_BLOCKS, "ipv4")
const blocked6 = blockList(IPV6_BLOCKS, "ipv6")
const global6 = blockList(["2000::/3"], "ipv6")

function blockList(blocks: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList()
  for (const block of blocks) {
    const [network = "", prefix = ""] = block.split("/")
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}

export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, "")
  const version = isIP(bare)
  if (version === 4) return blocked4.check(bare, "ipv4")
  if (version !== 6) return true
  const words = ipv6Words(bare)
  const high = words.slice(0, 6).join(":")
  // ::ffff:a.b.c.d (mapped) and 64:ff9b::a.b.c.d (NAT64): the last 32 bits; 2002:aabb:ccdd:: (6to4): the bits after the
  // prefix.
  if (high === "0:0:0:0:0:65535" || high === "100:65435:0:0:0:0") {
    return blocked4.check(ipv4(words[6] ?? 0, words[7] ?? 0), "ipv4")
  }
  if (words[0] === 0x2002) return blocked4.check(ipv4(words[1] ?? 0, words[2] ?? 0), "ipv4")
  return !global6.check(bare, "ipv6") || blocked6.check(bare, "ipv6")
}

function ipv4(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".")
}

function ipv6Words(address: string): number[] {
  // The URL parser writes every IPv6 address in one canonical form, with a trailing dotted quad turned into words.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [head = "", tail] = canonical.split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const gap = Array.from({ length: 8 - left.length - right.length }, () => "0")
  return [...left, ...gap, ...right].map((word) => Number.parseInt(word, 16))
}

/**
 * The refusal for a URL whose host is itself a private address; null for names, which are judged when they are
 * resolved.
 */
export function refusedLiteral(url: URL): TransportError | null {
  const host = url.hostname.replace(/^\[|\]$/g, "")
  return isIP(host) !== 0 && isPrivateAddress(host) ? refusal(host) : null
}

/** A lookup for `net.connect` that hands on only answers without private addresses. */
export function publicLookup(lookup: LookupFunction = resolveName): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, answer: string | LookupAddress[], family) => {
      if (error) {
        callback(error, answer, family)
        return
      }
      const addresses = typeof answer === "string" ? [answer] : answer.map((entry) => entry.address)
      const refused =
        addresses.length === 0 ? "an empty answer" : addresses.find((address) => isPrivateAddress(address))
      if (refused === undefined) callback(null, answer, family)
      else callback(refusal(refused), "", 0)
    })
  }
}

function refusal(address: string): TransportError {
  return new TransportError("private_address", {
    stage: "requested",
    message: `a URL built from parameters leads to ${address}, which is not a public address`,
  })
}
