/** A plan in a few lines, for the head of a story: what is on, who calls what, what strikes. */
import type { Plan } from "./plan/plan.ts"

export function describePlan(plan: Plan): readonly string[] {
  const on = Object.entries(plan.weather).filter(([, likely]) => (likely as number) > 0)
  const { processes, one_machine, proves, troubled_ms, operator } = plan
  return [
    `seed ${plan.seed}: ${processes} processes ${one_machine ? "on one machine" : "on a machine each"}, ${troubled_ms / 1_000} s of faults${operator ? `, a person from ${operator.from_ms / 1_000} s on` : ""}${proves ? "" : ", no proof of death"}`,
    `likely: ${on.length === 0 ? "nothing" : on.map(([name, likely]) => `${name} ${(likely as number).toFixed(2)}`).join(", ")}`,
    ...plan.calls.map(
      ({ at, tool, action, key, note, wait_ms, then }) =>
        `call at ${at}: ${tool} for ${action}${key === null ? "" : ` under ${key}`}${note === "" ? "" : ` with note ${note}`}, waits ${wait_ms}${then ? `, then ${then.verb} x${then.times} after ${then.after_ms}` : ""}`,
    ),
    ...plan.strikes.map(({ at, kind, for_ms }) => `strike at ${at}: ${kind} (${for_ms} ms)`),
    ...Object.entries(plan.shapes).map(([kind, shape]) => `${kind}: ${JSON.stringify(shape)}`),
  ]
}
