// Hunts: a model, a caller or a retry that makes or changes the id of a business action.
import { expect, test } from "vitest"
import { Outside, payTool } from "./outside.ts"
import { during, row, world } from "./world.ts"

const BILL = { invoice: "84721", amount: 50_000 }

test("the engine makes the operation id, and nothing that a model or caller sends changes it [ID-1]", async () => {
  const { clock, open } = world()
  const outside = new Outside(clock)
  const invoke = await open([payTool(outside)])
  const given = { ...BILL, operation_id: "mine", operationId: "mine", tool_call_id: "call_1" }
  const first = await during(clock, invoke.call({ tool: "pay", params: given }))
  expect(first.operation_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  for (const option of ["operationId", "operation_id", "attempt"]) {
    const call = { tool: "pay", params: BILL, [option]: "mine" } as unknown as Parameters<typeof invoke.call>[0]
    await expect(invoke.call(call)).rejects.toMatchObject({ code: "unsupported_option", nothingRan: true })
  }
  expect(outside.payments.map((one) => one.operation_id)).toEqual([first.operation_id])
})

test("attempts of one operation share its id and are numbered; the provider key is none of them [ID-1] [RP-2]", async () => {
  const { clock, open } = world()
  const outside = new Outside(clock)
  outside.script = ["busy", "lose_request"]
  const invoke = await open([payTool(outside)])
  const result = await during(clock, invoke.run("pay", BILL, { wait: "1h" }))
  const { attempts } = await row(invoke, result.operation_id)
  expect(attempts.map((one) => one.attempt)).toEqual([1, 2, 3])
  expect(outside.requests.map((one) => one.attempt)).toEqual([1, 2, 3])
  expect(new Set(outside.requests.map((one) => one.key)).size).toBe(1)
  expect(outside.requests[0]?.key).not.toContain(result.operation_id)
  expect(outside.payments).toHaveLength(1)
})
