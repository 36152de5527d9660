// Hunts what the simulator found: schedules that broke a promise once, made small.
import { expect, test } from "vitest"
import { Stage } from "./staged-engines.ts"

const CALL = { tool: "charge", params: { invoice: "84721" }, wait: 0 } as const
const hangs = () => new Promise<never>(() => undefined)

test("a journal that goes back under running processes sends nothing again once it is lifted [R24] [item 18]", async () => {
  const stage = new Stage()
  const snapshot = stage.store.snapshot()
  const tool = stage.tool(async ({ operationId, attempt }) => ({ object: stage.make(operationId, attempt) }))
  const { invoke } = await stage.start(tool)
  void invoke.call({ ...CALL, params: { invoice: "1" } })
  await stage.pass(0.01)
  const [first] = stage.operations
  // The snapshot has the operation as it was before it was sent.
  const unsent = { ...snapshot, rows: { ...snapshot.rows, operations: new Map(snapshot.rows.operations) } }
  if (first) {
    const before = {
      ...first,
      state: "ready" as const,
      version: 1,
      attempts: [],
      settled_at: null,
      due_at: first.created_at,
    }
    unsent.rows.operations.set(first.operation_id, { ...before, evidence: [], object: null, generation_started_at: {} })
  }
  stage.store.restore(unsent, stage.scheduler.now)
  const lifted = invoke.operator({ name: "ann" }).liftQuarantine("the last minute is lost")
  await stage.pass(1)
  await lifted
  expect(stage.effects).toHaveLength(1)
  expect(stage.operations.map(({ state, cause }) => [state, cause])).toEqual([["succeeded", "operation"]])
})

test("attempts of a worker that is gone are ended although the journal was away when they were to be [CS-4] [item 10]", async () => {
  const stage = new Stage()
  const hanging = await stage.start(stage.tool(hangs))
  let aways = 0
  await stage.start(
    stage.tool(async ({ operationId, attempt }) => ({ object: stage.make(operationId, attempt) })),
    (plain) => ({
      ...plain,
      // Away for one read: the first one after the worker was marked.
      read: (run) => {
        const marked = [...stage.store.rows.workers.values()].some(({ gone }) => gone !== null)
        if (!marked || aways > 0) return plain.read(run)
        aways += 1
        return Promise.reject(new Error("away"))
      },
    }),
  )
  void hanging.invoke.call(CALL)
  await stage.pass(0.01)
  hanging.process.kill()
  await stage.pass(2)
  expect(aways).toBe(1)
  expect(stage.operations.map(({ state, attempts }) => [state, attempts.length])).toEqual([["succeeded", 2]])
  expect(stage.effects).toHaveLength(1)
})
