/** What is true of a provider in one run. */
import type { SeededRandom } from "../seeded-random.ts"
import { traitsOf, type ToolKind } from "../tools/tool-kinds.ts"
import type { KeyShape, ProviderShape } from "../world/provider-shape.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE

export function drawShape(random: SeededRandom, kind: ToolKind): ProviderShape {
  const traits = traitsOf(kind)
  const visibility_ms = random.pick([0, 10_000, MINUTE])
  return {
    max_execution_ms: random.pick([1_000, 30_000, 5 * MINUTE]),
    visibility_ms,
    strong: visibility_ms === 0 && random.chance(0.5),
    resolution_ms: random.pick([1, 1_000]),
    clock_off_ms: random.between(-1_900, 1_900),
    key: traits.keyed ? drawKeyShape(random) : null,
    index_lag_ms: random.pick([5_000, 10 * MINUTE]),
    processing_ms: random.pick([0, 0, 30_000, 20 * MINUTE]),
    settles_ms: random.pick([10_000, 10 * MINUTE, 2 * HOUR]),
    settle_by_ms: random.pick([30 * MINUTE, 3 * HOUR]),
    timeout_ms: random.pick([30_000, 30_000, 5_000]),
    deadline_ms: random.pick([24 * HOUR, 24 * HOUR, 24 * HOUR, 5 * MINUTE]),
    attempts: random.pick([3, 3, 1, 6]),
    many: random.chance(0.5),
  }
}

function drawKeyShape(random: SeededRandom): KeyShape {
  const replay = random.pick(["stored", "stored", "finishes", "executes"] as const)
  const in_flight = random.pick(["refuses", "waits", "races"] as const)
  const replays_errors = replay === "stored" && random.chance(0.6)
  return {
    retention_ms: random.pick([15 * MINUTE, HOUR, 24 * HOUR]),
    replay,
    in_flight,
    replays_errors,
    on_mismatch: random.pick(["refuses", "ignores"]),
    answers_for_key: replays_errors && in_flight !== "races" && random.chance(0.5),
  }
}
