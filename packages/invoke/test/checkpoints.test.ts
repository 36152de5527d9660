// Hunts: a stale run that overwrites a newer one, a run that forgets where it was (CS-7).
import { describe, expect, test } from "vitest"
import { refusal, world } from "./world.ts"

describe("a checkpoint", () => {
  test("survives a restart [CS-7]", async () => {
    const { open } = world()
    const before = await open([])
    const first = before.checkpoint("run-1")
    expect(await first.read()).toBeNull()
    expect(await first.write({ step: 1, done: ["a"] }, { expectedVersion: 0 })).toMatchObject({ version: 1 })
    await before.close()
    const after = await open([])
    expect(await after.checkpoint("run-1").read()).toMatchObject({
      checkpoint_id: "run-1",
      version: 1,
      value: { step: 1, done: ["a"] },
    })
  })

  test("is fenced by its version: of two runs at the same step one writes, the other is told the newer version [CS-7] [C6]", async () => {
    const { open } = world()
    const one = (await open([])).checkpoint("run-1")
    const two = (await open([])).checkpoint("run-1")
    await one.write({ step: 1 }, { expectedVersion: 0 })
    const tries = await Promise.allSettled([
      one.write({ step: 2, by: "one" }, { expectedVersion: 1 }),
      two.write({ step: 2, by: "two" }, { expectedVersion: 1 }),
    ])
    expect(tries.filter((each) => each.status === "fulfilled")).toHaveLength(1)
    const error = await refusal(two.write({ step: 3 }, { expectedVersion: 1 }))
    expect(error).toMatchObject({ code: "version_conflict", detail: { version: 2 } })
    expect((await one.read())?.version).toBe(2)
  })

  test("of another tenant is another one [CS-7]", async () => {
    const { open } = world()
    const invoke = await open([])
    await invoke.checkpoint("run-1", { tenant: "a" }).write(1, { expectedVersion: 0 })
    expect(await invoke.checkpoint("run-1", { tenant: "b" }).read()).toBeNull()
    expect(await invoke.checkpoint("run-1").read()).toBeNull()
  })

  test("holds JSON of a bounded size, under an id, at a version that is one [CS-7]", async () => {
    const { open } = world()
    const invoke = await open([])
    const one = invoke.checkpoint("run-1")
    expect((await refusal(one.write({ at: 1n }, { expectedVersion: 0 }))).code).toBe("invalid_params")
    expect((await refusal(one.write("x".repeat(70_000), { expectedVersion: 0 }))).code).toBe("payload_too_large")
    for (const expectedVersion of [-1, 1.5, Number.NaN, "1" as never, undefined as never]) {
      expect((await refusal(one.write(1, { expectedVersion }))).code, String(expectedVersion)).toBe("invalid_request")
    }
    expect((await refusal(one.write(1, undefined as never))).code).toBe("invalid_request")
    for (const id of ["", "  ", 7 as never, "x".repeat(300)]) {
      expect(() => invoke.checkpoint(id), String(id)).toThrow(/checkpoint/)
    }
    expect(await one.read()).toBeNull()
  })
})
