// Hunts keys that drift (a repeat is not recognised), keys that meet (an honest call is refused, or another's result is told),
// and keys that a caller or a model can forge.

import {
  checkExplicitKey,
  checkProviderKeyForm,
  compensateKey,
  deriveKey,
  differingFields,
  fingerprint,
  id,
  intentDigest,
  InvokeError,
  minor,
  decimal,
  normaliseFields,
  providerKey,
  runKey,
  scopedKey,
  type Json,
  type Typed,
} from "@invokejs/protocol"
import fc from "fast-check"
import { expect, test } from "vitest"
import { sha256 } from "./sha256.ts"

const pay = { namespace: "pay_invoice", identity_version: "1", fields: { invoice: "84721" } }

// A changed preimage makes every stored key strange to the next release: the literals must not move.
test("keys and digests are what they were in the first release [ID-3] [R21] [item 9]", () => {
  const sent = { journal_name: "j", tenant: "default", chain: "k", revision: 1, generation: 0 }
  expect([
    deriveKey(pay, sha256),
    intentDigest(pay, sha256),
    runKey({ run_id: "run-1", tool: "pay_invoice", params: { invoice: 84721 } }, sha256),
    fingerprint({ b: 1, a: "é" }, sha256),
    providerKey(sent, sha256),
  ]).toEqual([
    "d:0aa1e5a263a520409a0a81dde325144cf084f1f72a8c95f8466f072f1d4d4972",
    "ad952069f81be17d24b2e814c306a952d7fe47bc810e5c46a1951f08429e08f1",
    "r:3ec0b0628be9a7952a863685d339bf446e0c8ff6305a21ccec50a78ca7c1e770",
    "aa58fba8483623bed37c1b02edfccbdd9a53123837c20bfa4cb4049993a2872e",
    "7233667afe46756df10ab6b8be0a9cf7a609817395fa215e411fe904a3f78235",
  ])
})

test("a derived key depends on the namespace, the version, each field and what it repeats, and on nothing else [ID-3] [R21]", () => {
  const others = [
    { ...pay, namespace: "email_invoice" },
    { ...pay, identity_version: "2" },
    { ...pay, fields: { invoice: "84722" } },
    { ...pay, fields: { bill: "84721" } },
    { ...pay, fields: { invoice: "84721", period: "2025-01" } },
    { ...pay, repeat_of: "op-1" },
    { ...pay, repeat_of: "op-2" },
  ]
  const keys = [pay, ...others].map((one) => deriveKey(one, sha256))
  expect(new Set(keys).size).toBe(keys.length)
  const turned = { fields: { b: "2", a: "1" }, identity_version: "1", namespace: "x" }
  expect(deriveKey(turned, sha256)).toBe(
    deriveKey({ namespace: "x", identity_version: "1", fields: { a: "1", b: "2" } }, sha256),
  )
})

test("moving a character between neighbouring parts changes the key [ID-3]", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string({ minLength: 1 }), (a, b, moved) => {
      const left = deriveKey({ namespace: a + moved, identity_version: b, fields: { f: "1" } }, sha256)
      const right = deriveKey({ namespace: a, identity_version: moved + b, fields: { f: "1" } }, sha256)
      fc.pre(a + moved !== a || moved + b !== b)
      expect(left).not.toBe(right)
    }),
  )
})

test("money given as cents or as a decimal is one identity [ID-3] [ID-11]", () => {
  const cents = normaliseFields({ amount: minor(2400, "usd"), customer: id("c") }, "identity")
  const dollars = normaliseFields({ customer: id(" c "), amount: decimal("24.0", "USD") }, "identity")
  expect(deriveKey({ ...pay, fields: cents }, sha256)).toBe(deriveKey({ ...pay, fields: dollars }, sha256))
  expect(cents).toEqual({ amount: "2400 usd", customer: "c" })
})

test("a missing or untyped identity field is an error that names it [ID-3]", () => {
  const make = (fields: { [name: string]: unknown }) => () =>
    normaliseFields(fields as { [name: string]: Typed }, "identity")
  for (const value of [null, undefined]) {
    expect(make({ invoice: id("1"), period: value })).toThrow('identity field "period" is missing')
  }
  expect(make({ invoice: "84721" })).toThrow('identity field "invoice" has no type')
  expect(make({})).toThrow("names no field")
})

test("a field called __proto__ is a field [ID-3]", () => {
  const fields = normaliseFields(
    JSON.parse('{"__proto__":{"type":"id","value":"1"}}') as { [name: string]: Typed },
    "identity",
  )
  expect(Object.keys(fields)).toEqual(["__proto__"])
  expect(deriveKey({ ...pay, fields }, sha256)).not.toBe(deriveKey({ ...pay, fields: {} }, sha256))
})

test.each([
  ["no text", 5],
  ["nothing", undefined],
  ["empty", ""],
  ["too long", "k".repeat(513)],
  ["derived", "d:abc"],
  ["a run's", "r:abc"],
  ["an agent's", "a:run:abc"],
  ["a compensation's", "compensate:op:ch_1"],
  ["derived in capitals", "D:abc"],
  ["blank at the end", "key "],
  ["broken by a line", "key\n1"],
  ["with a mark nobody sees", "key\u200b1"],
  ["half a character", "key\ud800"],
])("an explicit key that is %s is refused [ID-2] [R21]", (_what, key) => {
  let refused: unknown
  try {
    checkExplicitKey(key)
  } catch (error) {
    refused = error
  }
  expect(InvokeError.is(refused, "invalid_request")).toBe(true)
})

test("an honest explicit key passes unchanged [ID-2]", () => {
  for (const key of ["charge:cust_123:2400", "k".repeat(512), "Ünïcode ключ 鍵", "https://x.test/?a=b#c"]) {
    expect(checkExplicitKey(key)).toBe(key)
  }
})

test("an agent's key belongs to its run: no other run or key reads as the same [ID-2] [R21]", () => {
  const printable = fc
    .string({ unit: "grapheme-ascii", minLength: 1, maxLength: 8 })
    .filter((text) => text === text.trim())
  fc.assert(
    fc.property(printable, printable, printable, printable, (run, key, otherRun, otherKey) => {
      const same = run === otherRun && key === otherKey
      expect(scopedKey(run, key) === scopedKey(otherRun, otherKey)).toBe(same)
      expect(() => checkExplicitKey(scopedKey(run, key))).toThrow("only Invoke writes")
    }),
  )
  expect(scopedKey("a:b", "c")).not.toBe(scopedKey("a", "b:c"))
})

test("no two kinds of keys meet [ID-2] [R21]", () => {
  const made = [
    deriveKey(pay, sha256),
    runKey({ run_id: "x", tool: "y", params: null }, sha256),
    scopedKey("x", "y"),
    compensateKey("op", "ch_1"),
  ]
  for (const key of made) expect(() => checkExplicitKey(key)).toThrow("only Invoke writes")
  expect(new Set(made.map((key) => key.split(":")[0])).size).toBe(made.length)
})

test("a compensation is named after the operation and the object [R34]", () => {
  expect(compensateKey("op-1", "ch_1")).toBe("compensate:op-1:ch_1")
  expect(() => compensateKey("op-1", "")).toThrow("empty")
})

test("a forgotten admission presents the same provider key again, another action never [RP-2] [item 18]", () => {
  const base = { journal_name: "billing", tenant: "default", chain: "d:1", revision: 1, generation: 0 }
  const others = [
    { ...base, journal_name: "other" },
    { ...base, tenant: "t" },
    { ...base, chain: "d:2" },
    { ...base, revision: 2 },
    { ...base, generation: 1 },
    { ...base, step: "confirm" },
  ]
  const keys = [base, ...others].map((parts) => providerKey(parts, sha256))
  expect(providerKey({ ...base }, sha256)).toBe(keys[0])
  expect(new Set(keys).size).toBe(keys.length)
})

test.each([
  [{}, /^[0-9a-f]{64}$/],
  [{ max_length: 45 }, /^[0-9a-f]{45}$/],
  [{ max_length: 255, alphabet: "alphanumeric" }, /^[0-9A-Za-z]{43}$/],
  [{ max_length: 1024, alphabet: "base32hex" }, /^[0-9a-v]{52}$/],
  [{ alphabet: "uuid4" }, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
  [{ max_length: 40, alphabet: "0123456789" }, /^[0-9]{40}$/],
])("a provider key fits the contract %o [RP-2] [R19]", (form, shape) => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), (chain, generation) => {
      const key = providerKey({ journal_name: "j", tenant: "t", chain, revision: 1, generation }, sha256, form)
      expect(key).toMatch(shape)
    }),
    { numRuns: 50 },
  )
})

test("a contract without room for a provider key is refused, not served with a short one [RP-2]", () => {
  for (const form of [
    { max_length: 16 },
    { max_length: 20, alphabet: "0123456789" },
    { max_length: 35, alphabet: "uuid4" },
    { alphabet: "aa" },
    { alphabet: "a" },
    { max_length: 0 },
    { max_length: 30.5 },
  ]) {
    expect(() => checkProviderKeyForm(form)).toThrow("cannot carry a provider key")
  }
})

test("the differing fields are named by their paths, in order, and bounded [ID-4]", () => {
  const a = { amount: 2400, customer: { id: "c1", "odd key": 1 }, items: [{ sku: "x" }, 2], same: [1, { z: null }] }
  const b = {
    amount: 2500,
    customer: { id: "c2", "odd key": 2 },
    items: [{ sku: "y" }],
    same: [1, { z: null }],
    note: "n",
  }
  expect(differingFields(a, b)).toEqual([
    "amount",
    "customer.id",
    'customer["odd key"]',
    "items[0].sku",
    "items[1]",
    "note",
  ])
  expect(differingFields(1, "1")).toEqual(["$"])
  expect(differingFields(JSON.parse('{"__proto__":{}}') as Json, {})).toEqual(["__proto__"])
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, index]))
  expect(differingFields(many, {}, 3)).toEqual(["f0", "f1", "f10", "…"])
})

test("two parameter sets differ in no field exactly when their fingerprints are equal [ID-4] [ID-5]", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      for (const [left, right] of [
        [a, b],
        [a, structuredClone(a)],
      ] as [Json, Json][]) {
        expect(differingFields(left, right).length === 0).toBe(fingerprint(left, sha256) === fingerprint(right, sha256))
      }
    }),
    { numRuns: 300 },
  )
})
