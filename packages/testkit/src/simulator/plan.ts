/** What will happen in a run, drawn from its seed before it begins: shapes, calls, faults and how likely each is. */
import type { FaultCounts } from "./fault-counts.ts"
import type { SeededRandom } from "./seeded-random.ts"
import type { LinkFaults } from "./journal/sim-link.ts"
import type { NetworkFaults } from "./sim-network.ts"
import type { ProviderShape } from "./sim-provider.ts"
import { TOOL_KINDS, type ToolKind } from "./sim-tools.ts"

export type Faults = LinkFaults & NetworkFaults & { readonly look_unanswered: number; readonly tool_stall: number }

export interface PlannedCall {
  readonly at: number
  readonly tool: ToolKind
  readonly action: string
  readonly key: string | null
  readonly wait_ms: number
}

export interface Plan {
  readonly processes: number
  readonly troubled_ms: number
  readonly shapes: { readonly [kind in ToolKind]: ProviderShape }
  readonly calls: readonly PlannedCall[]
  readonly faults: readonly { readonly at: number; readonly kind: string; readonly for_ms: number }[]
  current: Faults
  heal(): void
}

const STRIKES = ["kill", "freeze", "suspend", "wall_back", "wall_forward", "outage"]

const NO_FAULTS: Faults = {
  unavailable: 0,
  unreadable: 0,
  doubt: 0,
  slow: 0,
  lost_request: 0,
  late_landing: 0,
  lost_answer: 0,
  refused_before_key: 0,
  rejected: 0,
  error_after_effect: 0,
  error_without_effect: 0,
  refused_connection: 0,
  slow_connection: 0,
  silent: 0,
  look_unanswered: 0,
  tool_stall: 0,
}

export function planOf(random: SeededRandom, counts: FaultCounts): Plan {
  const troubled_ms = random.pick([60_000, 600_000, 3_600_000])
  const shapes = Object.fromEntries(
    TOOL_KINDS.map((kind) => [kind, shapeOf(random, kind)]),
  ) as unknown as Plan["shapes"]
  const calls: PlannedCall[] = []
  const actions = random.between(1, 4)
  for (let index = 0; index < actions; index += 1) {
    const tool = random.pick(TOOL_KINDS)
    const action = `a${index + 1}`
    const times = random.between(1, 4)
    for (let call = 0; call < times; call += 1) {
      const at = random.chance(0.5) ? random.between(0, 200) : random.between(0, troubled_ms)
      const key = tool === "keyed_by_intent" ? `${action}-key-${random.between(1, 2)}` : null
      calls.push({ at, tool, action, key, wait_ms: random.pick([0, 1_000, 60_000, 1_200_000]) })
    }
  }
  const strikes = random.between(0, 6)
  const faults = Array.from({ length: strikes }, () => ({
    at: random.chance(0.5) ? random.between(0, 500) : random.between(0, troubled_ms),
    kind: random.pick(STRIKES),
    for_ms: random.pick([200, 5_000, 31_000, 70_000, 600_000]),
  }))
  counts.add("runs")
  const plan: Plan = {
    processes: random.between(1, 3),
    troubled_ms,
    shapes,
    calls,
    faults,
    current: drawn(random),
    heal() {
      plan.current = NO_FAULTS
    },
  }
  return plan
}

function shapeOf(random: SeededRandom, kind: ToolKind): ProviderShape {
  return {
    keyed: kind === "wire_keyed",
    max_execution_ms: random.pick([1_000, 30_000, 300_000]),
    visibility_ms: random.pick([0, 10_000, 60_000]),
    retention_ms: random.pick([3_600_000, 86_400_000]),
    resolution_ms: 1_000,
  }
}

/** Each run has its own weather: most kinds of fault are off, a few are likely. */
function drawn(random: SeededRandom): Faults {
  const draw = (likely: number) => (random.chance(0.35) ? likely * random.unit() : 0)
  return {
    unavailable: draw(0.15),
    unreadable: draw(0.05),
    doubt: draw(0.2),
    slow: draw(0.2),
    lost_request: draw(0.6),
    late_landing: draw(0.6),
    lost_answer: draw(0.9),
    refused_before_key: draw(0.5),
    rejected: draw(0.3),
    error_after_effect: draw(0.5),
    error_without_effect: draw(0.5),
    refused_connection: draw(0.7),
    slow_connection: draw(0.5),
    silent: draw(0.6),
    look_unanswered: draw(0.7),
    tool_stall: draw(0.6),
  }
}
