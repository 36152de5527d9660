// Hunts the request that is sent again under a key which Stripe has forgotten: a new charge that calls itself a retry.
import { join } from "node:path"
import { STAND_IN_PROOF } from "@invokejs/connectors/stripe"
import { Invoke, systemClock, systemIds, systemRandom, thisMachine } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { expect, onTestFinished, test } from "vitest"
import {
  charge,
  keysPosted,
  outside,
  scratchDirectory,
  toolsOn,
  type Outside,
  type StripeInvoke,
} from "./stripe-bench.ts"

const DAY_AND_MORE_MS = 25 * 60 * 60 * 1_000

/** The engine as it would be that much later: its own clock and the provider's both moved on. */
async function openLater(world: Outside, path: string, later_ms: number): Promise<StripeInvoke> {
  await world.provider.control({ clock_offset_ms: later_ms })
  const clock = { ...systemClock, wall: () => systemClock.wall() + later_ms }
  const journal = await openSqliteJournal({ path, mode: "inline", clock, ids: systemIds })
  const tools = toolsOn(world, { proved: STAND_IN_PROOF, deadline: "7d" })
  const telemetry = { log: () => undefined, count: () => undefined }
  const invoke = await Invoke.on({
    journal,
    tools,
    clock,
    random: systemRandom,
    ids: systemIds,
    telemetry,
    machine: thisMachine(),
  })
  onTestFinished(() => invoke.close())
  return invoke
}

async function lostAttempt(world: Outside, path: string): Promise<void> {
  const before = await openLater(world, path, 0)
  const result = await before.call({
    tool: "stripe.charge_customer",
    params: { customer_id: "cust_123", amount: 2400 },
    idempotencyKey: "charge:cust_123:2400",
    wait: "500ms",
  })
  // How far the attempt came in that half second is the machine's; that it ends as unknown is not.
  await expect
    .poll(async () => (await before.operation(result.operation_id))?.state, { timeout: 30_000, interval: 50 })
    .toBe("unknown")
  await before.close()
}

test("a day later a charge that was made is found, and nothing is sent under the old key [RP-4]", async () => {
  const world = await outside({ list_lag_ms: 60_000, events_lag_ms: 60_000 })
  const path = join(scratchDirectory(), "invoke.db")
  world.proxy.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } }])
  await lostAttempt(world, path)
  const after = await openLater(world, path, DAY_AND_MORE_MS)
  const result = await charge(after)
  expect(result).toMatchObject({ final_outcome: "already_succeeded", retry: "blocked" })
  expect(await world.provider.effects()).toHaveLength(1)
  expect(await keysPosted(world)).toHaveLength(1)
})

test("a day later a charge that was never made is made under a new key, after the lists were silent [RP-4] [RC-5]", async () => {
  const world = await outside()
  const path = join(scratchDirectory(), "invoke.db")
  world.proxy.script([{ match: { method: "POST" }, fault: { kind: "hold", client: "rst" } }])
  await lostAttempt(world, path)
  const after = await openLater(world, path, DAY_AND_MORE_MS)
  const result = await charge(after)
  expect(result.ok).toBe(true)
  expect(await world.provider.effects()).toHaveLength(1)
  const [first, second] = (await after.operation(result.operation_id))?.attempts ?? []
  expect(second?.generation).toBe((first?.generation ?? 0) + 1)
  expect(second?.provider_key).not.toBe(first?.provider_key)
})
