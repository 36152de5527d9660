// Hunts: a deliberate repeat of an action that may still take place by itself, and so would take place twice.
import { expect, test } from "vitest"
import { Outside, payTool } from "./outside.ts"
import { during, world } from "./world.ts"

const BILL = { invoice: "84721", amount: 50_000 }

test("only an action that may be in place is repeated; one that waits to be sent is not [HU-3] [ID-8]", async () => {
  const { clock, open } = world()
  const outside = new Outside(clock)
  const invoke = await open([payTool(outside)])
  const operator = invoke.operator({ name: "ops" })
  outside.script = ["busy", "busy", "busy"]
  const waiting = await invoke.run("pay", BILL, { wait: 0 })
  await clock.idle()
  await expect(operator.repeat(waiting.operation_id, { reason: "again" })).rejects.toMatchObject({
    code: "illegal_transition",
  })
  outside.script = []
  const paid = await during(clock, invoke.wait(waiting.operation_id, { wait: "1h" }))
  expect(paid.ok).toBe(true)
  const again = await during(
    clock,
    operator.repeat(paid.operation_id, { reason: "the customer ordered twice", wait: 60_000 }),
  )
  expect(again).toMatchObject({ status: "succeeded", ok: true })
  expect(outside.payments).toHaveLength(2)
})
