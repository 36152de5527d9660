/**
 * One run: processes, callers, strikes from one plan; then the faults end, time goes on, and the oracle judges.
 *
 * RN1. One plan is one run: nothing in it asks the machine for time, randomness or order.
 */
import { isTerminal } from "@invokejs/protocol"
import { Asking } from "../actors/asking.ts"
import { scheduleCalls } from "../actors/caller.ts"
import { employOperator } from "../actors/operator.ts"
import { natureOf } from "../oracle/grouping.ts"
import { judgeRun, type Judged } from "../oracle/oracle.ts"
import type { Plan } from "../plan/plan.ts"
import { Crew } from "./crew.ts"
import { endingsOf } from "./endings.ts"
import { scheduleStrikes } from "./strike.ts"
import { World } from "./world.ts"

const HEALED_MS = 48 * 3_600_000
/** More than any honest run needs: something asks again and again at one moment. */
const EVENTS_MAX = 400_000

export async function runPlan(plan: Plan, broken: ReadonlySet<string>): Promise<{ world: World; judged: Judged }> {
  const world = new World(plan, broken)
  const crew = new Crew(world)
  const asking = new Asking(world)
  for (let count = 0; count < plan.processes; count += 1) crew.start(0)
  scheduleCalls(world, crew, asking)
  scheduleStrikes(world, crew)
  employOperator(world, crew, asking)
  const { scheduler, history } = world
  const over = () => scheduler.events > EVENTS_MAX
  await scheduler.run(world.start + plan.troubled_ms, over)
  heal(world, crew)
  await scheduler.run(world.start + plan.troubled_ms + HEALED_MS, () => over() || isQuiet(world))
  if (over()) history.alarms.push(`more than ${EVENTS_MAX} things happened`)
  history.endings = endingsOf(world)
  for (const { process } of crew.members) process.kill()
  history.unanswered.push(...asking.unanswered)
  history.attended = plan.operator !== null
  return { world, judged: judgeRun(history) }
}

function heal(world: World, crew: Crew): void {
  world.heal()
  for (const { process } of crew.alive) process.thaw()
  if (crew.alive.length === 0) crew.start(world.plan.versions.length - 1)
  world.note("the faults end")
}

/** Nothing is left to wait for: what is open waits for a person, and there is none. */
function isQuiet({ store, plan, history }: World): boolean {
  for (const { state, contradicted, tool } of store.rows.operations.values()) {
    if (contradicted && plan.operator !== null) return false
    if (isTerminal(state)) continue
    if (plan.operator !== null || state !== "needs_review" || natureOf(history, tool).settles === "itself") return false
  }
  return true
}
