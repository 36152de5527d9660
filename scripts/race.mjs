// @ts-check
// `npm run race`: real processes call the same action at the same moment, and effects are counted at the provider.
//
//   npm run race -- --processes 16 --rounds 200
//   npm run race -- --kind intent              one way of naming the action: explicit, derived, run, intent, retry
//   npm run race -- --parallel 10000           calls of one action in one process, after the rounds
//   npm run race -- --json                     one JSON document instead of the table
//   npm run race -- --break unique_keys        breaks the guard on purpose: the count must turn red
//
// Exits 1 on a violation. The last line is the figure.

import { parseArgs } from "node:util"
import { KINDS } from "../test/race/race-tools.mjs"
import { figureOf, runRace } from "../test/race/race.mjs"

const SHOWN = 20

const { values } = parseArgs({
  options: {
    processes: { type: "string", default: "16" },
    rounds: { type: "string", default: "200" },
    parallel: { type: "string", default: "10000" },
    kind: { type: "string", multiple: true },
    json: { type: "boolean", default: false },
    break: { type: "string" },
  },
})
const kinds = KINDS.filter((kind) => values.kind === undefined || values.kind.includes(kind))
if (kinds.length === 0) throw new Error(`--kind knows ${KINDS.join(", ")}`)
if (values.break !== undefined && values.break !== "unique_keys") throw new Error("--break knows unique_keys")

const race = await runRace({
  processes: whole("processes", values.processes, 1),
  rounds: whole("rounds", values.rounds, 0),
  parallel: whole("parallel", values.parallel, 0),
  kinds,
  ...(values.break === undefined ? {} : { break: values.break }),
})
if (values.json) console.log(JSON.stringify(race))
else {
  for (const [kind, { rounds, effects }] of Object.entries(race.kinds)) {
    console.log(`  ${kind.padEnd(10)}${String(rounds).padStart(5)} rounds ${String(effects).padStart(6)} effects`)
  }
  const { least, median } = race.overlap
  console.log(`  calls begun before the first answer of their round: median ${median}, least ${least}`)
  for (const text of race.violations.slice(0, SHOWN)) console.log(`  VIOLATION ${text}`)
  if (race.violations.length > SHOWN) console.log(`  and ${race.violations.length - SHOWN} more`)
  console.log(figureOf(race))
}
process.exitCode = race.violations.length === 0 ? 0 : 1

/** @param {string} name @param {string} text @param {number} least */
function whole(name, text, least) {
  const value = Number(text)
  if (!Number.isInteger(value) || value < least)
    throw new Error(`--${name} is a whole number from ${least} on, not ${text}`)
  return value
}
