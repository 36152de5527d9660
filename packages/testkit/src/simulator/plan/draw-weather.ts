/** How likely each fault is in one run: most are off, a few are likely. */
import type { SeededRandom } from "../seeded-random.ts"
import { traitsOf, type ToolKind } from "../tools/tool-kinds.ts"
import { NO_FAULTS, type Faults } from "./plan.ts"

/** The most that each is likely, where it is on. */
const MOST: Faults = {
  unavailable: 0.15,
  unreadable: 0.08,
  doubt: 0.25,
  slow: 0.2,
  lost_request: 0.6,
  late_landing: 0.6,
  lost_answer: 0.9,
  refused_before_key: 0.5,
  rejected: 0.5,
  error_after_effect: 0.5,
  error_without_effect: 0.5,
  repeated: 0.4,
  reversed: 1,
  slow_work: 0.8,
  refused_connection: 0.7,
  slow_connection: 0.5,
  silent: 0.6,
  unreadable_body: 0.5,
  look_unanswered: 0.7,
  look_incomplete: 0.5,
  look_slow: 0.4,
  tool_stall: 0.9,
  tool_hours: 0.5,
  second_effect: 0.9,
}

/** How likely a fault is on, and how likely where the run is about it. */
const ON = 0.22
const WANTED = 0.8

export function drawWeather(
  random: SeededRandom,
  kinds: readonly ToolKind[],
  wanted: readonly (keyof Faults)[],
): Faults {
  const drawn = (Object.keys(MOST) as (keyof Faults)[]).map((name) => {
    const own = random.named(name)
    const suits = isOf(name, kinds)
    const likely = wanted.includes(name) || suits === true ? WANTED : ON
    const on = suits !== false && own.chance(likely)
    return [name, on ? MOST[name] * (suits === true ? 0.3 + 0.7 * own.unit() : own.unit()) : 0] as const
  })
  return { ...NO_FAULTS, ...Object.fromEntries(drawn) }
}

/** Whether the run has a tool that the fault is only about: true, it has; false, it has none; null, it is about all. */
function isOf(name: keyof Faults, kinds: readonly ToolKind[]): boolean | null {
  const some = (test: (traits: ReturnType<typeof traitsOf>) => boolean) => kinds.some((kind) => test(traitsOf(kind)))
  switch (name) {
    case "reversed":
      return some(({ accepts }) => accepts === true)
    case "second_effect":
      return some(({ sloppy }) => sloppy === true)
    case "tool_hours":
    case "tool_stall":
      return some(({ transport }) => transport === "opaque")
    default:
      return null
  }
}
