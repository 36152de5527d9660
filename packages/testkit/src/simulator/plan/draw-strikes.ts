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
  /** What the run is about. */
  readonly favourites: readonly StrikeKind[]
}

export function drawStrikes(random: SeededRandom, about: About): readonly Strike[] {
  const possible = STRIKES.filter((kind) => isPossible(kind, about))
  const wanted = about.favourites.filter((kind) => possible.includes(kind))
  const clocks = random.chance(0.5) || wanted.some((kind) => CLOCKS.includes(kind))
  const allowed = possible.filter((kind) => clocks || !CLOCKS.includes(kind))
  const favourites = wanted.length > 0 ? wanted : Array.from({ length: 2 }, () => random.pick(allowed))
  const least = wanted.length > 0 ? 1 : 0
  const strikes: Strike[] = Array.from({ length: random.between(least, 6) }, (_, id) => ({
    id,
    kind: random.chance(0.6) ? random.pick(favourites) : random.pick(allowed),
    at: random.chance(0.4) ? random.between(0, 500) : random.between(0, about.troubled_ms),
    for_ms: random.pick([200, 5_000, 31_000, 70_000, 10 * MINUTE, 60 * MINUTE]),
  }))
  const writes = isPossible("write_of_another", about) ? random.between(0, 3) : 0
  for (let count = 0; count < writes; count += 1) {
    strikes.push({ id: 100 + count, kind: "write_of_another", at: random.between(0, about.troubled_ms), for_ms: 200 })
  }
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
