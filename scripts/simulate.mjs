// npm run simulate -- [--seeds N] [--from SEED] [--seed SEED] [--jobs N] [--break NAME|all] [--json]
// Runs the whole engine in virtual time under faults, one run for each seed. Exits 1 on a violation, whose plan it makes smaller
// and prints; or, from 20 000 runs on, where a fault was injected or a transition fired too seldom.
import { fork } from "node:child_process"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { FaultCounts, FLOORS_FROM_RUNS, shortfalls, shrink, simulate } from "@invokejs/testkit"

const CHUNK = 100
/** Within so many runs a defence that is switched off is to be missed. */
const BREAK_SEEDS = 2_000
const STORIES_MAX = 3

function fail(text) {
  console.error(`simulate: ${text}`)
  process.exit(2)
}

function whole(name, text, least) {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < least)
    fail(`--${name} takes a whole number from ${least} on, not ${text}`)
  return value
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "2000" },
      from: { type: "string", default: "1" },
      seed: { type: "string" },
      jobs: { type: "string", default: String(Math.min(2, availableParallelism())) },
      break: { type: "string" },
      json: { type: "boolean", default: false },
    },
  })
  return {
    from: whole("from", values.seed ?? values.from, 0),
    seeds: values.seed === undefined ? whole("seeds", values.seeds, 1) : 1,
    jobs: whole("jobs", values.jobs, 1),
    broken: values.break ?? null,
    json: values.json,
  }
}

/** A range of seeds, one after the other. Where a defence is off, the first violation is enough. */
async function runRange({ from, count, broken }) {
  const counts = new FaultCounts()
  const failed = []
  for (let seed = from; seed < from + count; seed += 1) {
    const run = await simulate(seed, new Set(broken === null ? [] : [broken]))
    counts.merge(run.counts.counts)
    if (run.violations.length === 0) continue
    failed.push({ seed, violations: run.violations })
    if (broken !== null) break
  }
  return { from, counts: [...counts.counts], failed }
}

/** Hands the ranges to `jobs` processes. `heard` says whether the rest is still wanted. */
async function runAll({ from, seeds, jobs, broken }, heard) {
  const ranges = []
  for (let at = from; at < from + seeds; at += CHUNK) {
    ranges.push({ from: at, count: Math.min(CHUNK, from + seeds - at), broken })
  }
  if (jobs === 1 || ranges.length === 1) {
    for (const range of ranges) if (!heard(await runRange(range))) return
    return
  }
  let wanted = true
  const work = () =>
    new Promise((resolve, reject) => {
      const child = fork(fileURLToPath(import.meta.url), ["--child"], {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      })
      const next = () => {
        const range = wanted ? ranges.shift() : undefined
        if (range) child.send(range)
        else child.disconnect()
      }
      child.on("message", (result) => {
        wanted = heard(result) && wanted
        next()
      })
      child.on("exit", (code) =>
        code === 0 ? resolve() : reject(new Error(`a process of the simulation ended with ${code}`)),
      )
      next()
    })
  await Promise.all(Array.from({ length: Math.min(jobs, ranges.length) }, work))
}

async function tellStory(seed, broken) {
  const off = new Set(broken === null ? [] : [broken])
  const run = await shrink(await simulate(seed, off), off)
  for (const line of run.story()) console.log(line)
  for (const { rule, text } of run.violations) console.log(`${rule}: ${text}`)
}

async function runHonest(options) {
  const counts = new FaultCounts()
  const failed = []
  const started = performance.now()
  await runAll(options, (result) => {
    counts.merge(result.counts)
    failed.push(...result.failed)
    return true
  })
  const seconds = (performance.now() - started) / 1_000
  failed.sort((a, b) => a.seed - b.seed)
  const runs = counts.counts.get("runs") ?? 0
  const short = runs >= FLOORS_FROM_RUNS ? shortfalls(counts) : []
  const histogram = Object.fromEntries([...counts.counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  process.exitCode = failed.length > 0 || short.length > 0 ? 1 : 0
  if (options.json) {
    console.log(JSON.stringify({ runs, runs_per_second: runs / seconds, failed, short, histogram }))
    return
  }
  for (const { seed, violations } of failed.slice(0, STORIES_MAX)) {
    console.log(`seed ${seed} breaks ${[...new Set(violations.map(({ rule }) => rule))].join(", ")}; made smaller:`)
    await tellStory(seed, options.broken)
  }
  if (failed.length > 0) console.log(`seeds with a violation: ${failed.map(({ seed }) => seed).join(" ")}`)
  for (const [name, count] of Object.entries(histogram)) console.log(`${name.padEnd(40)} ${count}`)
  for (const { what, count, floor } of short) console.log(`too seldom: ${what}: ${count} of ${floor}`)
  console.log(`${runs} runs, ${Math.round(runs / seconds)} a second, ${failed.length} with a violation`)
}

/** The smallest seed at which the defence is missed, or null. */
async function firstMissed(options, broken) {
  let missed = null
  await runAll({ ...options, broken }, ({ failed: [first] }) => {
    if (first && (missed === null || first.seed < missed.seed)) missed = first
    return missed === null
  })
  return missed
}

async function runBroken(options) {
  const range = { ...options, seeds: Math.min(options.seeds, BREAK_SEEDS) }
  const missed = await firstMissed(range, options.broken)
  if (missed === null) return console.log(`${options.broken}: not missed within ${range.seeds} runs`)
  console.log(`${options.broken}: missed at seed ${missed.seed}; made smaller:`)
  await tellStory(missed.seed, options.broken)
  process.exitCode = 1
}

if (process.argv[2] === "--child") {
  process.on("message", (range) => void runRange(range).then((result) => process.send(result)))
} else {
  const options = readOptions()
  await (options.broken === null ? runHonest(options) : runBroken(options))
}
