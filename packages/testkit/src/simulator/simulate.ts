/** The simulator's door: one seed, one run, judged. */
import type { FaultCounts } from "./fault-counts.ts"
import { describePlan } from "./describe-plan.ts"
import type { Finding } from "./oracle/oracle.ts"
import { drawPlan } from "./plan/draw-plan.ts"
import type { Plan } from "./plan/plan.ts"
import { countRun } from "./run/count-run.ts"
import { runPlan } from "./run/sim-run.ts"
import { storyOf } from "./run/story.ts"

export interface RunResult {
  readonly seed: number
  readonly plan: Plan
  readonly violations: readonly Finding[]
  /** What could not be kept by anybody (protocol, H1). */
  readonly infos: readonly Finding[]
  readonly counts: FaultCounts
  readonly events: number
  /** Every operation's timeline, every request and every effect, in order of time, for a person who asks why. */
  story(): readonly string[]
}

export function simulate(seed: number, broken: ReadonlySet<string> = new Set()): Promise<RunResult> {
  return simulatePlan(drawPlan(seed), broken)
}

export async function simulatePlan(plan: Plan, broken: ReadonlySet<string> = new Set()): Promise<RunResult> {
  const { world, judged } = await runPlan(plan, broken)
  countRun(world, judged)
  return {
    ...judged,
    plan,
    seed: plan.seed,
    counts: world.counts,
    events: world.scheduler.events,
    story: () => [...describePlan(plan), ...storyOf(world)],
  }
}
