// Hunts a simulation that is not a function of its seed: what cannot be replayed cannot be shrunk, shown or trusted.
import { simulate } from "@invokejs/testkit"
import { expect, test } from "vitest"

const SEEDS = Array.from({ length: 40 }, (_, index) => 1_000 + 37 * index)

test("the same seed twice gives the same story, line by line, whatever ran in between [AU-10]", async () => {
  const first = new Map<number, readonly string[]>()
  for (const seed of SEEDS) first.set(seed, (await simulate(seed)).story())
  for (const seed of SEEDS.toReversed()) expect((await simulate(seed)).story()).toEqual(first.get(seed))
  expect(new Set([...first.values()].map((story) => story.join("\n"))).size).toBe(SEEDS.length)
})
