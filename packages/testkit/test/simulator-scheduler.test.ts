// Hunts a virtual clock that loses, repeats or reorders what was asked for, so that a seed would not replay its run.
import { Scheduler, SeededRandom } from "@invokejs/testkit/internal"
import { expect, test } from "vitest"

test("things happen in the order of their times, and things of one moment in the order they were asked for [AU-10]", async () => {
  const scheduler = new Scheduler(1_000)
  const seen: string[] = []
  for (const [ms, name] of [
    [30, "c"],
    [10, "a"],
    [30, "d"],
    [10, "b"],
    [0, "now"],
  ] as const)
    scheduler.after(ms, () => seen.push(`${name}@${scheduler.now}`))
  await scheduler.run(2_000)
  expect(seen).toEqual(["now@1000", "a@1010", "b@1010", "c@1030", "d@1030"])
  expect(scheduler.now).toBe(2_000)
})

test("a thousand things in a random order come out sorted, and each once [AU-10]", async () => {
  const scheduler = new Scheduler(0)
  const random = new SeededRandom(7)
  const times = Array.from({ length: 1_000 }, () => random.between(0, 300))
  const seen: number[] = []
  for (const ms of times) scheduler.after(ms, () => seen.push(scheduler.now))
  await scheduler.run(1_000)
  expect(seen).toEqual(times.toSorted((a, b) => a - b))
})

test("what is taken back does not happen [AU-10]", async () => {
  const scheduler = new Scheduler(0)
  const seen: string[] = []
  const stop = scheduler.after(5, () => seen.push("taken back"))
  scheduler.after(5, () => seen.push("kept"))
  stop()
  await scheduler.run(10)
  expect(seen).toEqual(["kept"])
})

test("between two things every promise that can go on has gone on [AU-10]", async () => {
  const scheduler = new Scheduler(0)
  const seen: string[] = []
  scheduler.after(1, () => {
    void (async () => {
      for (let step = 0; step < 50; step += 1) await Promise.resolve()
      seen.push("fifty turns later")
    })()
  })
  scheduler.after(1, () => seen.push("the next thing"))
  await scheduler.run(10)
  expect(seen).toEqual(["fifty turns later", "the next thing"])
})

test("time stops at the given moment or when it is done, and what lies beyond happens when time goes on [AU-10]", async () => {
  const scheduler = new Scheduler(0)
  const seen: number[] = []
  for (const ms of [10, 20, 30, 40]) scheduler.after(ms, () => seen.push(scheduler.now))
  await scheduler.run(25)
  expect([seen, scheduler.now]).toEqual([[10, 20], 25])
  await scheduler.run(100, () => seen.length === 3)
  expect([seen, scheduler.now]).toEqual([[10, 20, 30], 30])
  await scheduler.run(100)
  expect([seen, scheduler.now]).toEqual([[10, 20, 30, 40], 100])
})

test("a thing asked for in the past happens now, never earlier [AU-10]", async () => {
  const scheduler = new Scheduler(500)
  const seen: number[] = []
  scheduler.after(-100, () => seen.push(scheduler.now))
  scheduler.after(Number.NEGATIVE_INFINITY, () => seen.push(scheduler.now))
  await scheduler.run(600)
  expect(seen).toEqual([500, 500])
})

test("one seed gives one sequence, another seed another, and a name's sequence does not depend on others [AU-10]", () => {
  const draw = (random: SeededRandom) => Array.from({ length: 20 }, () => random.between(0, 1_000_000))
  expect(draw(new SeededRandom(1))).toEqual(draw(new SeededRandom(1)))
  expect(draw(new SeededRandom(1))).not.toEqual(draw(new SeededRandom(2)))
  const used = new SeededRandom(1)
  draw(used)
  expect(draw(used.named("provider"))).toEqual(draw(new SeededRandom(1).named("provider")))
  expect(draw(new SeededRandom(1).named("provider"))).not.toEqual(draw(new SeededRandom(1).named("network")))
})
