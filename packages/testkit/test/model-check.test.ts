// Hunts: an interleaving of two workers, a crash, a late landing or a stale look that makes a second effect or a false outcome.
import { CONFIGURATIONS, modelCheck, SEEDED_BUGS } from "@invokejs/testkit"
import { describe, expect, test } from "vitest"

describe("the walk over every interleaving", () => {
  for (const configuration of CONFIGURATIONS) {
    test(`${configuration.name} has no state that may not be [ST-4] [ST-8] [AU-10]`, () => {
      const walk = modelCheck(configuration, { states_max: 20_000 })
      expect(walk.violation).toBeNull()
      expect(walk.states).toBeGreaterThanOrEqual(20_000)
    })
  }

  test.each([...SEEDED_BUGS])("%s, seeded into a copy, is found [AU-10]", (bug) => {
    const found = CONFIGURATIONS.map((one) => modelCheck(one, { states_max: 60_000, bug })).find((one) => one.violation)
    expect(found?.violation?.rule).toMatch(/^MC/)
  })
})
