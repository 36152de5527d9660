// npm run simulate -- [--seeds N] [--from SEED] [--seed SEED] [--break NAME] [--json]
// Runs the whole engine in virtual time under faults, one run per seed; exits 1 on a violation.
import { parseArgs } from "node:util"
import { FaultCounts, simulate } from "@invokejs/testkit"

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "2000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    break: { type: "string" },
    json: { type: "boolean", default: false },
  },
})
const broken = new Set(values.break === undefined ? [] : [values.break])
const from = Number(values.seed ?? values.from)
const seeds = values.seed === undefined ? Number(values.seeds) : 1
if (!Number.isSafeInteger(from) || !Number.isSafeInteger(seeds) || seeds < 1) {
  console.error("simulate: --seeds, --from and --seed take whole numbers")
  process.exit(2)
}

const counts = new FaultCounts()
const failed = []
const started = performance.now()
for (let seed = from; seed < from + seeds; seed += 1) {
  const run = await simulate(seed, broken)
  counts.merge(run.counts)
  if (run.violations.length === 0) continue
  failed.push(seed)
  if (!values.json && failed.length <= 3) {
    console.log(`seed ${seed}`)
    for (const line of run.story()) console.log(line)
    for (const { rule, text } of run.violations) console.log(`${rule}: ${text}`)
  }
  if (broken.size > 0) break
}
const seconds = (performance.now() - started) / 1_000
const histogram = Object.fromEntries([...counts.counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
const runs = counts.counts.get("runs") ?? 0
if (values.json) {
  console.log(JSON.stringify({ runs, runs_per_second: runs / seconds, failed, histogram }))
} else {
  for (const [name, count] of Object.entries(histogram)) console.log(`${name.padEnd(34)}${count}`)
  console.log(`${runs} runs, ${Math.round(runs / seconds)} a second, ${failed.length} with a violation`)
}
process.exitCode = failed.length > 0 ? 1 : 0
