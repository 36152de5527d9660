/**
 * Walks every state of a small configuration, breadth first, and looks for one that may not be.
 *
 * MC1. One action has at most one effect (S1).
 * MC2. `succeeded` has its effect; `failed` and `not_applied` have none, and none on its way (S3).
 * MC3. An operation that may be dispatched again has no effect, none on its way, and nobody who could still send one (S1).
 */
import { createHash } from "node:crypto"
import { initialState, type ModelConfiguration, type SeededBug } from "./model-configuration.ts"
import { canStillSend, movesOf, type ModelRules } from "./model-moves.ts"
import { hashState, type ModelState } from "./model-state.ts"

export interface Walk {
  readonly configuration: string
  readonly states: number
  readonly moves: number
  /** false: the limit was reached before every state was seen. */
  readonly exhausted: boolean
  readonly violation: { readonly rule: string; readonly schedule: readonly string[] } | null
}

interface Seen {
  readonly parent: number
  readonly move: string
}

export function modelCheck(
  config: ModelConfiguration,
  options: { readonly states_max: number; readonly bug?: SeededBug },
): Walk {
  const rules: ModelRules = { config, bug: options.bug ?? null }
  const seen = new Map<string, number>()
  const trail: Seen[] = []
  let frontier: { readonly state: ModelState; readonly index: number }[] = []
  let moves = 0
  const visit = (state: ModelState, parent: number, move: string): number | null => {
    const hash = createHash("sha1").update(hashState(state)).digest("base64url")
    if (seen.has(hash)) return null
    const index = trail.push({ parent, move }) - 1
    seen.set(hash, index)
    return index
  }
  const first = initialState(config, rules.bug)
  frontier.push({ state: first, index: visit(first, -1, "start") ?? 0 })
  const walked = (exhausted: boolean, violation: Walk["violation"]): Walk => ({
    configuration: config.name,
    states: trail.length,
    moves,
    exhausted,
    violation,
  })
  while (frontier.length > 0) {
    const next: typeof frontier = []
    for (const { state, index } of frontier) {
      for (const move of movesOf(state, rules)) {
        moves += 1
        const found = visit(move.next, index, move.name)
        if (found === null) continue
        const rule = broken(move.next, rules)
        if (rule) return walked(false, { rule, schedule: schedule(trail, found) })
        if (trail.length >= options.states_max) return walked(false, null)
        next.push({ state: move.next, index: found })
      }
    }
    frontier = next
  }
  return walked(true, null)
}

function broken(state: ModelState, rules: ModelRules): string | null {
  const { operation, effects, in_flight } = state
  if (effects.length > 1) return "MC1: two effects of one action"
  if (operation.state === "succeeded" && effects.length === 0) return "MC2: succeeded without an effect"
  const pending = in_flight.length > 0 || canStillSend(state, rules)
  if (operation.state === "failed" || operation.state === "not_applied") {
    if (effects.length > 0) return `MC2: ${operation.state} with an effect`
    if (pending) return `MC2: ${operation.state} while an effect may still land`
  }
  if (operation.state === "ready" && operation.attempts.length > 0 && (effects.length > 0 || pending)) {
    return "MC3: ready again while an effect is there or may still land"
  }
  return null
}

function schedule(trail: readonly Seen[], index: number): readonly string[] {
  const steps: string[] = []
  for (let at = index; at > 0; at = trail[at]?.parent ?? -1) steps.unshift(trail[at]?.move ?? "")
  return steps
}
