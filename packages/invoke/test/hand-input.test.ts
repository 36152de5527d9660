// Hunts: a misspelt filter that matches everything, a slip of a person's hand that settles an operation.
import { expect, test } from "vitest"
import { mailTool, Outside } from "./outside.ts"
import { during, row, world } from "./world.ts"

const BILL = { invoice: "84721", amount: 50_000 }

async function inReview() {
  const { clock, open } = world()
  const outside = new Outside(clock)
  outside.script = ["lose_answer"]
  const invoke = await open([mailTool(outside)])
  const { operation_id } = await during(clock, invoke.run("mail", BILL))
  return { invoke, operation_id, operator: invoke.operator({ name: "ops" }) }
}

test.each([
  ["nothing", undefined],
  ["no end", { reason: "r", evidence: { a: 1 } }],
  ["an end there is not", { to: "done", reason: "r", evidence: { a: 1 } }],
  ["no reason", { to: "succeeded", evidence: { a: 1 } }],
  ["evidence that is a bare value", { to: "succeeded", reason: "r", evidence: "SUP-1" }],
  ["evidence that is a list", { to: "succeeded", reason: "r", evidence: ["SUP-1"] }],
])("resolve with %s settles nothing and says what it takes [HU-3]", async (_name, given) => {
  const { invoke, operation_id, operator } = await inReview()
  await expect(operator.resolve(operation_id, given as never)).rejects.toMatchObject({ code: "invalid_request" })
  expect((await row(invoke, operation_id)).state).toBe("needs_review")
})

test.each([
  ["another name", { state: "unknown" }],
  ["a state there is not", { states: ["unknwn"] }],
  ["one state without its list", { states: "unknown" }],
])("a filter with %s is refused, never ignored [HU-3]", async (_name, filter) => {
  const { invoke } = await inReview()
  await expect(invoke.operations(filter as never)).rejects.toMatchObject({ code: "invalid_request" })
})
