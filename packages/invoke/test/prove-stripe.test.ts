// Hunts: a fault under which the Stripe connector's charge takes effect twice, is lost, or waits for a person without need.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stripeTools } from "@invokejs/connectors/stripe"
import { proveTools, startProvider, type FakeAtUrl, type ProveEntry } from "@invokejs/testkit"
import { afterAll, expect, test } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "invoke-prove-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function standIn(): Promise<FakeAtUrl> {
  const stripe = await startProvider("stripe", { directory: mkdtempSync(join(folder, "stripe-")), seed: "prove" })
  return {
    url: stripe.url,
    page: 100,
    effects: async () => (await stripe.effects("charge.created")).length,
    clock: (offset_ms) => stripe.control({ clock_offset_ms: offset_ms }),
    stop: () => stripe.kill(),
  }
}

const CHARGE: ProveEntry = {
  params: { customer_id: "cus_84721", amount: 2400 },
  other: (n) => ({ customer_id: "cus_84721", amount: 100 + n }),
  provider: standIn,
}

test.each([
  ["without a proof of its key", {}],
  ["with one", { proved: { date: "2026-01-01", against: "the stand-in" } }],
])("the Stripe charge, %s: every case takes place, and nothing is found [AU-9]", async (_what, options) => {
  const tools = ({ url }: { readonly url: string }) =>
    stripeTools({ apiKey: "sk_test_invoke", baseUrl: url, ...options })
  const [report] = await proveTools({ tools, prove: { "stripe.charge_customer": CHARGE } })
  const cases = report?.cases ?? []
  expect(cases.length).toBe(50)
  expect(cases.filter(({ verdict }) => verdict !== "ok").map((one) => [one.case, one.verdict, one.code])).toEqual([
    ["status.429_after", "limit", "believes_status"],
    ["status.401_after", "limit", "believes_status"],
  ])
})
