// Hunts requests that only our own stand-in understands: another program's idea of Stripe reads the same bytes.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { expect, onTestFinished, test } from "vitest"
import { execute, look, objectsOf, toolOf } from "./stripe-outside.ts"

const SECRET = "sk_test_second_opinion"

async function mock(): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "stripe-mock-child.mjs")], {
    // It logs every refusal it was asked for.
    stdio: ["pipe", "pipe", "ignore"],
  })
  onTestFinished(async () => {
    child.kill("SIGKILL")
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  })
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string]
  return `http://127.0.0.1:${port}`
}

async function customer(url: string): Promise<string> {
  const headers = { authorization: `Bearer ${SECRET}`, "content-type": "application/x-www-form-urlencoded" }
  const response = await fetch(`${url}/v1/customers`, { method: "POST", headers, body: "source=tok_visa" })
  return ((await response.json()) as { id: string }).id
}

async function counted(url: string, path: string): Promise<number> {
  const response = await fetch(`${url}${path}?limit=100`, { headers: { authorization: `Bearer ${SECRET}` } })
  return ((await response.json()) as { data: unknown[] }).data.length
}

// It writes no customer on a charge, so its list by customer is always empty: its opinion on that look is not asked.
test("it charges the customer once for two requests under one key, and keeps our metadata [RP-3]", async () => {
  const url = await mock()
  const tool = toolOf({ apiKey: SECRET, baseUrl: url }, "stripe.charge_customer")
  const params = { customer_id: await customer(url), amount: 2400, description: "order 17" }
  const first = await execute(tool, params)
  expect(first).toMatchObject({ kind: "applied", value: { charged: true, amount: { amount: 2400, currency: "usd" } } })
  expect(await execute(tool, params)).toEqual(first)
  expect(first).toMatchObject({ object: { operationId: "op_1", providerKey: "key_1" } })
  expect(await counted(url, "/v1/charges")).toBe(1)
})

test("it refuses the key with another body, declines a card, and says so in the words we read [ST-3]", async () => {
  const url = await mock()
  const tool = toolOf({ apiKey: SECRET, baseUrl: url }, "stripe.charge_customer")
  const params = { customer_id: await customer(url), amount: 2400 }
  await execute(tool, params)
  expect(await execute(tool, { ...params, amount: 2500 })).toMatchObject({ kind: "accepted" })
  expect(await execute(tool, { ...params, amount: 1 }, { providerKey: "key_2" })).toMatchObject({
    kind: "rejected",
    code: "amount_too_small",
  })
  expect(await execute(tool, { ...params, customer_id: "cus_none" }, { providerKey: "key_3" })).toMatchObject({
    kind: "rejected",
  })
  expect(await counted(url, "/v1/charges")).toBe(1)
  const foreign = toolOf({ apiKey: "sk_live_1", baseUrl: url }, "stripe.charge_customer")
  expect(await execute(foreign, params)).toMatchObject({ kind: "not_applied", code: "unauthenticated" })
})

test("it refunds a part once, and caps the rest [RP-3]", async () => {
  const url = await mock()
  const charged = await execute(toolOf({ apiKey: SECRET, baseUrl: url }, "stripe.charge_customer"), {
    customer_id: await customer(url),
    amount: 2400,
  })
  const tool = toolOf({ apiKey: SECRET, baseUrl: url }, "stripe.refund_payment")
  const { id: charge_id } = charged["value"] as { id: string }
  const part = { charge_id, amount: 400, reason: "requested_by_customer" as const }
  const ours = { operationId: "op_2", providerKey: "key_2" }
  expect(await execute(tool, part, ours)).toMatchObject({
    kind: "applied",
    value: { refunded: true, minor_units: 400 },
  })
  expect(await execute(tool, part, ours)).toMatchObject({ kind: "applied" })
  expect(await counted(url, "/v1/refunds")).toBe(1)
  expect(objectsOf(await look(tool, part, { operationId: "op_2", providerKeys: ["key_2"] }))).toHaveLength(1)
  const over = await execute(tool, { charge_id, amount: 2001 }, { operationId: "op_3", providerKey: "key_3" })
  expect(over).toMatchObject({ kind: "rejected" })
})
