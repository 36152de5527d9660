// Hunts what the simulator found: schedules that broke a promise once, made small.
import { JournalError } from "@invokejs/engine"
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

test("a state is not set again over a later write whose attempt a restored journal forgot [R15] [R24] [item 3]", async () => {
  const stage = new Stage()
  let tier = "bronze"
  const sent: string[] = []
  const tool = stage.setter(
    async (value, attempt) => {
      tier = value
      sent.push(`${value} ${attempt}`)
      if (value === "gold") throw new Error("the answer is lost")
      return value
    },
    () => tier,
  )
  const { invoke } = await stage.start(tool)
  void invoke.call({ tool: "set_tier", params: { invoice: "gold" }, wait: 0 })
  await stage.scheduler.run(stage.scheduler.now + 1_000)
  void invoke.call({ tool: "set_tier", params: { invoice: "silver" }, wait: 0 })
  // Its admission is a commit of its own: the look before the first attempt comes between.
  await stage.scheduler.run(stage.scheduler.now)
  while (stage.operations.length < 2) await stage.scheduler.run(stage.scheduler.now + 1)
  const snapshot = stage.store.snapshot()
  await stage.scheduler.run(stage.scheduler.now + 1_000)
  expect(sent).toEqual(["gold 1", "silver 1"])
  stage.store.restore(snapshot, stage.scheduler.now)
  await stage.pass(2)
  const lifted = invoke.operator({ name: "ann" }).liftQuarantine("the last second is lost")
  await stage.pass(2)
  await lifted
  expect(sent).toEqual(["gold 1", "silver 1"])
  expect(stage.operations.map(({ state }) => state)).toEqual(["not_applied", "succeeded"])
})

test("an attempt whose record's commit was in doubt begins no later than the record says [R23] [item 6]", async () => {
  const stage = new Stage()
  const started: number[] = []
  const tool = stage.tool(async ({ attempt }) => void started.push(attempt))
  let doubts = 0
  const { invoke } = await stage.start(tool, (plain) => ({
    ...plain,
    // This process is behind the database's clock by less than the journal refuses.
    clock: () => plain.clock() - 1_500,
    write: async (run, operation_id) => {
      const written = await plain.write(run, operation_id)
      if (operation_id === null || doubts > 0) return written
      doubts += 1
      throw new JournalError("commit_in_doubt", "the answer is lost")
    },
    settle: async (operation_id, run) => {
      await stage.scheduler.sleep(24_500)
      return plain.settle(operation_id, run)
    },
  }))
  void invoke.call(CALL)
  await stage.pass(0.01)
  const [first] = stage.operations
  expect(doubts).toBe(1)
  expect(started).toEqual([2])
  expect(first?.attempts[0]?.reason?.code).toBe("never_started")
})

test("a process that learns late that its commit was made does not send the attempt that another made meanwhile [R23] [R6]", async () => {
  const stage = new Stage()
  let doubts = 0
  const late = await stage.start(stage.sender(), (plain) => ({
    ...plain,
    write: async (run, operation_id) => {
      const written = await plain.write(run, operation_id)
      if (operation_id === null || doubts > 0) return written
      doubts += 1
      throw new JournalError("commit_in_doubt", "the answer is lost")
    },
    // Until the other one's attempt has left, and could still leave once more.
    settle: async (operation_id, run) => {
      while (stage.effects.length === 0) await stage.scheduler.sleep(100)
      return plain.settle(operation_id, run)
    },
  }))
  await stage.start(stage.sender())
  void late.invoke.call(CALL)
  await stage.pass(1)
  expect(doubts).toBe(1)
  expect(stage.effects.map(({ attempt }) => attempt)).toEqual([2])
  expect(stage.operations.map(({ state }) => state)).toEqual(["succeeded"])
})

test("a look before the first attempt that fails again and again is made less and less often [item 16] [RC-8]", async () => {
  const stage = new Stage()
  let looks = 0
  const tool = stage.setter(
    async (value) => value,
    () => {
      looks += 1
      throw new Error("the provider is away")
    },
  )
  const { invoke } = await stage.start(tool)
  void invoke.call({ tool: "set_tier", params: { invoice: "gold" }, wait: 0 })
  await stage.pass(10)
  expect(stage.operations.map(({ state }) => state)).toEqual(["ready"])
  expect(looks).toBeGreaterThan(10)
  expect(looks).toBeLessThan(400)
})
