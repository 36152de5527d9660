// Hunts a proof that proves nothing: one that also passes where keys are forgotten, compared with nothing, or not replayed.
import { expect, test } from "vitest"
import { proveStripeKey, STAND_IN_PROOF, stripeTools } from "@invokejs/connectors/stripe"
import { API_KEY, stripeOutside } from "./stripe-outside.ts"

test("the stand-in keeps what Stripe documents of keys, and the record says that it is a stand-in [RP-3]", async () => {
  const { provider, url } = await stripeOutside()
  const proof = await proveStripeKey({ apiKey: API_KEY, baseUrl: url, fetch, against: STAND_IN_PROOF.against })
  expect(proof).toEqual({ date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string, against: STAND_IN_PROOF.against })
  // Two charges and that of the confirm, two refunds, two intents, one capture, one cancellation; the decline made nothing.
  const kinds = (await provider.effects()).map((effect) => effect.kind).sort()
  expect(kinds).toEqual([
    "charge.created",
    "charge.created",
    "charge.created",
    "payment_intent.canceled",
    "payment_intent.captured",
    "payment_intent.created",
    "payment_intent.created",
    "refund.created",
    "refund.created",
  ])
})

test("without a name the record names the address, and that it is not Stripe [RP-3]", async () => {
  const { url } = await stripeOutside()
  const { against } = await proveStripeKey({ apiKey: API_KEY, baseUrl: url, fetch })
  expect(against).toBe(`a stand-in at ${new URL(url).host}, not Stripe`)
})

test("overlapping requests are tried for real: one of them is refused while the other runs [RP-9]", async () => {
  const { provider, url } = await stripeOutside({ latency_before_ms: 50 })
  await proveStripeKey({ apiKey: API_KEY, baseUrl: url, fetch })
  const answered = (await provider.ledger()).filter((line) => line.type === "answered" && line.status === 409)
  expect(answered.length).toBeGreaterThan(0)
})

test("a provider that forgets keys is not proved [RP-4]", async () => {
  const { url } = await stripeOutside({ key_retention_ms: 0 })
  await expect(proveStripeKey({ apiKey: API_KEY, baseUrl: url, fetch })).rejects.toThrow(
    /not proved \(charge\): .*another object/,
  )
})

test("a path that loses the key is not proved [RP-3]", async () => {
  const { url } = await stripeOutside()
  const keyless: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.delete("idempotency-key")
    return fetch(input, { ...init, headers })
  }
  await expect(proveStripeKey({ apiKey: API_KEY, baseUrl: url, fetch: keyless })).rejects.toThrow(/not proved/)
})

test("a replay that does not say that it is one is not proved [RP-3]", async () => {
  const { url } = await stripeOutside()
  const silent: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const headers = new Headers(response.headers)
    headers.delete("idempotent-replayed")
    return new Response(await response.text(), { status: response.status, headers })
  }
  await expect(proveStripeKey({ apiKey: API_KEY, baseUrl: url, fetch: silent })).rejects.toThrow(
    /not proved \(charge\): .*not say/,
  )
})

test("a mismatch that is answered as a success is not proved [RP-3]", async () => {
  const { provider, proxy, url } = await stripeOutside()
  const body = '{"id":"ch_1","object":"charge"}'
  proxy.script([{ match: { marker: "amount=101" }, fault: { kind: "answer_instead", status: 200, body } }])
  await expect(proveStripeKey({ apiKey: API_KEY, baseUrl: url, fetch })).rejects.toThrow(
    /with another body was answered 200/,
  )
  expect(await provider.effects()).toHaveLength(1)
})

test("a live key is refused before anything is sent [RP-3]", async () => {
  const { provider, url } = await stripeOutside()
  const proving = proveStripeKey({ apiKey: "sk_live_1", baseUrl: url, fetch })
  await expect(proving).rejects.toMatchObject({ code: "invalid_request" })
  expect((await provider.ledger()).filter((line) => line.type === "request")).toEqual([])
})

test("tools believe a key only with a proof, and the proof stands in their contract [RP-9]", () => {
  const contracts = (proved: boolean) =>
    stripeTools({ apiKey: API_KEY, ...(proved ? { proved: STAND_IN_PROOF } : {}) }).map(
      (tool) => (tool["~definition"] as { contract: { key: object } }).contract.key,
    )
  for (const key of contracts(false)) expect(key).not.toHaveProperty("proved")
  for (const key of contracts(true)) expect(key).toMatchObject({ proved: STAND_IN_PROOF })
})
