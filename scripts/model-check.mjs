// npm run model-check -- [--states N] [--configuration NAME] [--json]
// Walks every interleaving of small configurations, then proves that the walk finds bugs seeded into copies. Exits 1 on a violation.
import { parseArgs } from "node:util"
import { CONFIGURATIONS, modelCheck, SEEDED_BUGS } from "@invokejs/testkit"

const { values } = parseArgs({
  options: {
    states: { type: "string", default: "1000000" },
    configuration: { type: "string" },
    json: { type: "boolean", default: false },
  },
})
const states_max = Number(values.states)
const chosen = CONFIGURATIONS.filter(({ name }) => values.configuration === undefined || name === values.configuration)
if (!Number.isSafeInteger(states_max) || states_max < 1 || chosen.length === 0) {
  console.error(
    `model-check: --states is a whole number, --configuration one of: ${CONFIGURATIONS.map(({ name }) => name).join("; ")}`,
  )
  process.exit(2)
}
const say = (text) => values.json || console.log(text)
const walks = []
for (const configuration of chosen) {
  const walk = modelCheck(configuration, { states_max })
  walks.push(walk)
  const end = walk.violation ? `VIOLATION ${walk.violation.rule}` : walk.exhausted ? "exhausted" : "limit reached"
  say(
    `${walk.configuration.padEnd(28)}${String(walk.states).padStart(9)} states ${String(walk.moves).padStart(10)} moves  ${end}`,
  )
  for (const step of walk.violation?.schedule ?? []) say(`    ${step}`)
}
const bugs = []
for (const bug of values.configuration === undefined ? SEEDED_BUGS : []) {
  const found = CONFIGURATIONS.map((configuration) =>
    modelCheck(configuration, { states_max: Math.min(states_max, 300_000), bug }),
  ).find(({ violation }) => violation)
  bugs.push({ bug, found: found?.violation ?? null, configuration: found?.configuration ?? null })
  say(
    `seeded: ${bug.padEnd(26)}${found ? `found in "${found.configuration}", ${found.violation.schedule.length} steps: ${found.violation.rule}` : "NOT FOUND"}`,
  )
}
const violations = walks.filter(({ violation }) => violation).length
const missed = bugs.filter(({ found }) => !found).length
const total = walks.reduce((sum, { states }) => sum + states, 0)
if (values.json) console.log(JSON.stringify({ walks, bugs, states: total }))
else
  console.log(
    `${total} states in ${walks.length} configurations, ${violations} violations; ${bugs.length - missed} of ${bugs.length} seeded bugs found`,
  )
process.exitCode = violations + missed > 0 ? 1 : 0
