// Hunts: a key that two processes both take for new, a joiner that becomes a second dispatcher, rows lost when processes
// commit side by side, and a race in which one call merely follows another.
import { describe, expect, test } from "vitest"
import { figureOf, runRace } from "./race.mjs"
import { KINDS } from "./race-tools.mjs"

const LONG = 180_000

describe("processes that race for one action on one file", () => {
  test(
    "make one effect, and all of them are told of that one [ID-6] [ID-7] [ID-8] [ID-11] [CS-1] [R16] [R18] [R25]",
    async () => {
      const race = await runRace({ processes: 4, rounds: 20, parallel: 0 })
      expect(race.violations).toEqual([])
      expect(race).toMatchObject({ calls: 80, effects: 20 })
      expect(Object.keys(race.kinds).toSorted()).toEqual([...KINDS].toSorted())
      // The rounds in which the provider kept its first request until everybody was calling, two of four.
      expect(race.overlap.median).toBe(4)
    },
    LONG,
  )

  test(
    "many parallel calls in one process are one effect [ID-6] [ID-10]",
    async () => {
      const race = await runRace({ processes: 1, rounds: 0, parallel: 2_000 })
      expect(race.violations).toEqual([])
      expect(race.parallel).toEqual({ calls: 2_000, effects: 1 })
      expect(figureOf(race)).toBe(
        "race: 1 processes, 0 rounds, 0 calls: 0 effects; 2,000 parallel calls in one process: 1 effect; 0 violations",
      )
    },
    LONG,
  )

  test(
    "without unique keys make an effect each, and the race says so",
    async () => {
      const race = await runRace({
        processes: 3,
        rounds: 4,
        parallel: 0,
        break: "unique_keys",
        kinds: ["explicit", "derived"],
      })
      expect(race.effects).toBe(12)
      expect(race.violations.filter((text) => text.endsWith(": 3 effects"))).toHaveLength(4)
      expect(race.violations).toContain("the journal holds 12 operations, 4 were admitted")
    },
    LONG,
  )
})
