/**
 * Makes a failing plan smaller while it still fails: fewer calls and strikes, faults off one by one, shorter times.
 *
 * SH1. What is left breaks one of the rules that the whole broke.
 * SH2. Each step takes something out or makes it less, so it ends; the budget only bounds how long.
 */
import type { OracleRule } from "./oracle/oracle.ts"
import { kindsOf, type Faults, type Plan } from "./plan/plan.ts"
import { simulatePlan, type RunResult } from "./simulate.ts"

const RUNS_MAX = 400

export async function shrink(failing: RunResult, broken: ReadonlySet<string> = new Set()): Promise<RunResult> {
  const rules = new Set<OracleRule>(failing.violations.map(({ rule }) => rule))
  let best = failing
  let runs = 0
  for (let smaller = true; smaller && runs < RUNS_MAX;) {
    smaller = false
    for (const plan of reductions(best.plan)) {
      if (runs >= RUNS_MAX) break
      runs += 1
      const run = await simulatePlan(plan, broken)
      if (!run.violations.some(({ rule }) => rules.has(rule))) continue
      best = run
      smaller = true
      break
    }
  }
  return best
}

/** Smaller plans, the boldest first. */
function* reductions(plan: Plan): Generator<Plan> {
  yield* fewer(plan, "calls")
  yield* fewer(plan, "strikes")
  if (plan.operator !== null) yield { ...plan, operator: null, proves: true }
  if (plan.strangers.length > 0) yield { ...plan, strangers: [] }
  if (plan.processes > 1) yield { ...plan, processes: plan.processes - 1 }
  for (const name of Object.keys(plan.weather) as (keyof Faults)[]) {
    if (plan.weather[name] > 0) yield { ...plan, weather: { ...plan.weather, [name]: 0 } }
  }
  for (const { id, then } of plan.calls) if (then !== null) yield changedCall(plan, id, { then: null })
  for (const { id, then } of plan.calls)
    if (then !== null && then.times > 1) yield changedCall(plan, id, { then: { ...then, times: 1 } })
  if (plan.one_machine) yield { ...plan, one_machine: false }
  if (plan.clock_error_ms > 0) yield { ...plan, clock_error_ms: 0 }
  yield* sooner(plan)
}

/** Halves, quarters, and single ones taken out. */
function* fewer(plan: Plan, list: "calls" | "strikes"): Generator<Plan> {
  const items: readonly { readonly id: number }[] = plan[list]
  for (let size = Math.ceil(items.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < items.length; from += size) {
      const kept = items.filter((_, index) => index < from || index >= from + size)
      if (list === "calls" && kept.length === 0) continue
      yield pruned({ ...plan, [list]: kept })
    }
  }
}

/** Tools that nobody calls any more are no part of it. */
function pruned(plan: Plan): Plan {
  const used = kindsOf(plan).filter((kind) => plan.calls.some((call) => call.tool === kind))
  return {
    ...plan,
    shapes: Object.fromEntries(used.map((kind) => [kind, plan.shapes[kind]])),
    strangers: plan.strangers.filter((one) => used.includes(one.tool)),
  }
}

function* sooner(plan: Plan): Generator<Plan> {
  const last = Math.max(0, ...plan.calls.map(({ at }) => at), ...plan.strikes.map(({ at }) => at))
  const enough = Math.max(60_000, last + 1)
  if (plan.troubled_ms > enough) yield { ...plan, troubled_ms: enough }
  for (const { id, at, wait_ms } of plan.calls) {
    if (at > 0) yield changedCall(plan, id, { at: Math.floor(at / 4) })
    if (wait_ms > 0) yield changedCall(plan, id, { wait_ms: 0 })
  }
  for (const { id, at, for_ms } of plan.strikes) {
    const changed = (change: { readonly at?: number; readonly for_ms?: number }): Plan => ({
      ...plan,
      strikes: plan.strikes.map((one) => (one.id === id ? { ...one, ...change } : one)),
    })
    if (at > 0) yield changed({ at: Math.floor(at / 4) })
    if (for_ms > 200) yield changed({ for_ms: Math.floor(for_ms / 4) })
  }
}

function changedCall(plan: Plan, id: number, change: Partial<Plan["calls"][number]>): Plan {
  return { ...plan, calls: plan.calls.map((one) => (one.id === id ? { ...one, ...change } : one)) }
}
