/**
 * The judge of a run: compares what callers were told with what the providers did. Shares no code with the engine.
 *
 * OR1. One action has at most one effect (S1).
 * OR2. Who was told `ok` was told the truth, then and at the end (S3).
 * OR3. Who was told that nothing is in place, with a settled answer, was told the truth at the end (S3).
 * OR4. Faults ended, every checkable action settles within 48 hours of virtual time (L1).
 * OR5. An action that ended `ok` has its effect; one with an effect does not end as not executed: nothing is lost.
 */
import type { SimEffect } from "./sim-provider.ts"
import type { Told } from "./history.ts"

export interface Ending {
  readonly operation_id: string
  readonly action: string
  readonly tool: string
  readonly checkable: boolean
  readonly state: string
  readonly contradicted: boolean
  /** An attempt of a living process has not ended: nothing may be concluded about it (protocol §0). */
  readonly attempt_open: boolean
}

export interface Violation {
  readonly rule: string
  readonly text: string
}

const NOTHING_IN_PLACE = ["not_executed", "failed"]

export function findViolations(run: {
  readonly told: readonly Told[]
  readonly effects: readonly SimEffect[]
  readonly endings: readonly Ending[]
}): readonly Violation[] {
  const violations: Violation[] = []
  const found = (rule: string, text: string) => violations.push({ rule, text })
  const byAction = groupEffects(run.effects)
  for (const [action, effects] of byAction) {
    if (effects.length > 1)
      found(
        "OR1",
        `${action} has ${effects.length} effects: ${effects.map((one) => `${one.object_id}@${one.at} attempt ${one.attempt} of ${one.operation_id}`).join(", ")}`,
      )
  }
  for (const { action, at, result } of run.told) {
    if (!result) continue
    const effects = byAction.get(action) ?? []
    if (result.ok && !effects.some((one) => one.at <= at))
      found("OR2", `${action} was told ${result.status} at ${at} without an effect`)
  }
  for (const ending of run.endings) checkEnding(ending, byAction.get(ending.action) ?? [], found)
  checkLastWord(run.told, byAction, run.endings, found)
  return violations
}

function checkEnding(ending: Ending, effects: readonly SimEffect[], found: (rule: string, text: string) => void): void {
  const mine = effects.filter((one) => one.operation_id === ending.operation_id)
  const name = `${ending.action} (${ending.operation_id}, ${ending.state})`
  if (ending.contradicted) found("OR3", `${name} is contradicted`)
  if (ending.state === "succeeded" && effects.length === 0) found("OR5", `${name} succeeded without an effect`)
  if (
    ["failed", "not_applied", "refused", "expired", "cancelled", "replan"].includes(ending.state) &&
    mine.length > 0
  ) {
    found("OR5", `${name} ended without its effect ${mine[0]?.object_id ?? ""}`)
  }
  const settled = [
    "succeeded",
    "failed",
    "not_applied",
    "refused",
    "expired",
    "cancelled",
    "replan",
    "undone",
    "closed_unknown",
  ].includes(ending.state)
  if (ending.checkable && !settled && !ending.attempt_open)
    found("OR4", `${name} is not settled 48 hours after the faults ended`)
}

/** A settled "nothing is in place" stays true unless a later answer for the action takes it back. */
function checkLastWord(
  told: readonly Told[],
  effects: ReadonlyMap<string, readonly SimEffect[]>,
  endings: readonly Ending[],
  found: (rule: string, text: string) => void,
): void {
  for (const one of told) {
    if (!one.result?.settled || !NOTHING_IN_PLACE.includes(one.result.final_outcome)) continue
    if (one.result.retry === "allowed" || one.result.status === "refused") continue
    const ending = endings.find((end) => end.operation_id === one.result?.operation_id)
    if (ending?.state === "succeeded") continue
    // A later attempt may be made on purpose; the answer spoke for the attempts there were (keyed providers do not tell theirs).
    const spoken = one.result.attempt
    const mine = (effects.get(one.action) ?? []).filter(
      (effect) => effect.operation_id === one.result?.operation_id && effect.attempt > 0 && effect.attempt <= spoken,
    )
    if (mine.length > 0)
      found("OR3", `${one.action} was told ${one.result.status} at ${one.at}, and has an effect of ${mine[0]?.at ?? 0}`)
  }
}

function groupEffects(effects: readonly SimEffect[]): Map<string, SimEffect[]> {
  const groups = new Map<string, SimEffect[]>()
  for (const effect of effects) groups.set(effect.action, [...(groups.get(effect.action) ?? []), effect])
  return groups
}
