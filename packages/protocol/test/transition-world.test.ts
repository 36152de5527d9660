// Hunts the second effect, the lost effect and the wrong answer in a world that is truthful and late: effects are counted at the
// provider. A double effect here is a hole in the protocol or in the code, whatever every single step looked like.

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isTerminal } from "@invokejs/protocol"
import type { Contract } from "@invokejs/protocol"
import { blind, contract, HOUR, keyContract, lookupContract, MINUTE, SECOND } from "./builders.ts"
import { Chance, World, type WorldOptions } from "./world.ts"

const strong = lookupContract({
  consistency: "strong",
  max_execution_ms: 5 * SECOND,
  visibility_ms: 0,
  spacing_ms: 10 * SECOND,
})

const WORLDS: { readonly [name: string]: Contract } = {
  checkable: contract(),
  "strong and quick": contract({ lookup: strong }),
  created: contract({ lookup: lookupContract({ correlates: "created" }) }),
  "keyed, refuses": contract({ key: keyContract() }),
  "keyed, races": contract({ key: keyContract({ in_flight: "races", retention_ms: 2 * HOUR }) }),
  "keyed, replays errors": contract({ key: keyContract({ replays_errors: true, in_flight: "waits" }) }),
  "keyed, forgets soon": contract({ key: keyContract({ retention_ms: 30 * MINUTE }), lookup: strong }),
  "keyed, unproved": contract({ key: { ...keyContract(), proved: undefined } as never }),
  idempotent: blind({ key: keyContract({ retention_ms: 3 * HOUR }) }),
  irreversible: blind({ attempts: 1 }),
}

const seeds = fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 60 })

function live(options: WorldOptions, seed: readonly number[]): World {
  const world = new World(options, new Chance(seed))
  world.run()
  return world
}

function judge(world: World): void {
  const { operation } = world.story
  expect(world.applied, `${operation.state} after ${world.story.path.join(" ")}`).toBeLessThanOrEqual(1)
  if (operation.state === "succeeded") expect(world.applied, "a success that nothing stands behind").toBe(1)
  if (operation.state === "not_applied" || operation.state === "failed")
    expect(world.applied, "a denial of an effect").toBe(0)
  expect(operation.contradicted).toBe(false)
  expect(world.incidents.filter((kind) => kind !== "attempt_open_too_long" && kind !== "late_positive")).toEqual([])
}

describe("in a truthful world", () => {
  const cases = Object.entries(WORLDS).flatMap(([name, terms]) =>
    (["invoke", "opaque"] as const).map((transport) => ({ name, transport, terms })),
  )

  test.each(cases)(
    "$name, $transport: one effect at most, and no invented outcome [R2] [R6] [R19] [R20] [R28] [R32]",
    ({ terms, transport }) => {
      let applied = 0
      fc.assert(
        fc.property(seeds, (seed) => {
          const world = live({ contract: terms, transport, restores: false }, seed)
          applied += world.applied
          judge(world)
        }),
        { numRuns: 100 },
      )
      expect(applied, "the world is not idle").toBeGreaterThan(20)
    },
  )

  test("every checkable operation on our transport settles, with no caller and no person [R29]", () => {
    const terms = fc.constantFrom(contract(), contract({ lookup: strong }), contract({ key: keyContract() }))
    fc.assert(
      fc.property(terms, seeds, (terms, seed) => {
        const { story } = live({ contract: terms, transport: "invoke", restores: false }, seed)
        expect(isTerminal(story.state), story.path.join(" ")).toBe(true)
      }),
      { numRuns: 150 },
    )
  })

  test("a journal that goes back in time forgets attempts, and still one effect is made at most [R24] [item 18]", () => {
    const terms = fc.constantFrom(
      ...[
        "checkable",
        "strong and quick",
        "created",
        "keyed, refuses",
        "keyed, races",
        "keyed, replays errors",
        "idempotent",
      ].map((name) => WORLDS[name] ?? contract()),
    )
    fc.assert(
      fc.property(terms, seeds, (terms, seed) => {
        const world = live({ contract: terms, transport: "invoke", restores: true }, seed)
        expect(world.applied, world.story.path.join(" ")).toBeLessThanOrEqual(1)
        const { state, contradicted } = world.story.operation
        if (state === "succeeded") expect(world.applied).toBe(1)
        if ((state === "not_applied" || state === "failed") && !contradicted) expect(world.applied).toBe(0)
      }),
      { numRuns: 300 },
    )
  })
})
