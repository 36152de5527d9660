// @ts-check
// `npm run crash-matrix`: kills real processes at every boundary of a call and counts effects at the provider.
//
//   npm run crash-matrix                       the CI size: every cell once
//   npm run crash-matrix -- --size full        every cell in both journal modes and on both transports
//   npm run crash-matrix -- --only "head"      cells whose name has the text
//   npm run crash-matrix -- --json             one JSON document instead of the table
//   npm run crash-matrix -- --break intent_first   breaks the guard on purpose: the count must turn red
//
// Exits 1 on a violation. The last line is the figure.

import { parseArgs } from "node:util"
import { runMatrix } from "../test/crash/matrix.mjs"
import { figureOf, nameOf, summaryOf, tableOf } from "../test/crash/matrix-report.mjs"

const { values } = parseArgs({
  options: {
    size: { type: "string", default: "ci" },
    lanes: { type: "string" },
    only: { type: "string" },
    json: { type: "boolean", default: false },
    break: { type: "string" },
  },
})
const { size, only, json } = values
if (size !== "ci" && size !== "full") throw new Error(`--size is ci or full, not ${size}`)
if (values.break !== undefined && values.break !== "intent_first") throw new Error("--break knows intent_first")

const all = await runMatrix({
  size,
  ...(values.lanes === undefined ? {} : { lanes: Number(values.lanes) }),
  ...(only === undefined ? {} : { only: (cell) => nameOf(cell).includes(only) }),
  ...(values.break === undefined ? {} : { break: values.break }),
  progress: ({ run, mode, transport }) => {
    if (!json && run.wrong.length > 0)
      console.log(`${nameOf(run.cell)} (${mode}, ${transport}): ${run.wrong.join("; ")}`)
  },
})
const summary = summaryOf(all)
if (json) {
  const cells = all.map(({ run, mode, transport }) => ({
    name: nameOf(run.cell),
    mode,
    transport,
    effects: run.effects,
    wrong: run.wrong,
  }))
  console.log(JSON.stringify({ ...summary, runs: cells }))
} else {
  for (const line of tableOf(all)) console.log(line)
  console.log("\nEach class: what the same call is told at the end, and effects in the provider's ledger / actions.")
  console.log(figureOf(all))
}
process.exitCode = summary.violations.length === 0 && all.length > 0 ? 0 : 1
