/** What strikes a run, and when. */
import type { SeededRandom } from "../seeded-random.ts"
import { traitsOf, type ToolKind } from "../tools/tool-kinds.ts"
import { STRIKES, type Strike, type StrikeKind } from "./plan.ts"

const MINUTE = 60_000

interface About {
  readonly kinds: readonly ToolKind[]
  readonly one_machine: boolean
  readonly operator: boolean
  readonly troubled_ms: number
}

export function drawStrikes(random: SeededRandom, about: About): readonly Strike[] {
  const possible = STRIKES.filter((kind) => isPossible(kind, about))
  const clocks = random.chance(0.5)
  const allowed = possible.filter((kind) => clocks || !CLOCKS.includes(kind))
  const favourites = Array.from({ length: 2 }, () => random.pick(allowed))
  const strikes = Array.from({ length: random.between(0, 6) }, () => ({
    kind: random.chance(0.5) ? random.pick(favourites) : random.pick(allowed),
    at: random.chance(0.4) ? random.between(0, 500) : random.between(0, about.troubled_ms),
    for_ms: random.pick([200, 5_000, 31_000, 70_000, 10 * MINUTE, 60 * MINUTE]),
  }))
  // A wall clock that is set back while the machine sleeps deceives both clocks of the gate at once.
  return strikes.some(({ kind }) => kind === "suspend") ? strikes.filter(({ kind }) => kind !== "wall_back") : strikes
}

const CLOCKS: readonly StrikeKind[] = ["wall_back", "wall_forward", "database_forward", "database_back"]

function isPossible(kind: StrikeKind, { kinds, one_machine, operator }: About): boolean {
  const some = (test: (traits: ReturnType<typeof traitsOf>) => boolean) => kinds.some((one) => test(traitsOf(one)))
  switch (kind) {
    // Creation times are the provider's; a database that is hours off cannot be compared with them (skew, §6).
    case "database_forward":
    case "database_back":
      return !one_machine && !some(({ correlates }) => correlates === "created")
    case "wall_back":
    case "wall_forward":
      return !one_machine || !some(({ correlates }) => correlates === "created")
    case "restore":
    case "failover":
      return operator && !some(({ named }) => named === true)
    case "write_of_another":
      return some(({ correlates, exclusive }) => correlates === "state" && exclusive !== true)
    default:
      return true
  }
}
