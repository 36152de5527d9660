/** How likely each fault is in one run: most are off, a few are likely. */
import type { SeededRandom } from "../seeded-random.ts"
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
  rejected: 0.3,
  error_after_effect: 0.5,
  error_without_effect: 0.5,
  repeated: 0.4,
  reversed: 0.6,
  slow_work: 0.8,
  refused_connection: 0.7,
  slow_connection: 0.5,
  silent: 0.6,
  unreadable_body: 0.5,
  look_unanswered: 0.7,
  look_incomplete: 0.5,
  look_slow: 0.4,
  tool_stall: 0.6,
  tool_hours: 0.3,
  second_effect: 0.5,
}

const ON = 0.25

export function drawWeather(random: SeededRandom): Faults {
  const drawn = Object.entries(MOST).map(([name, most]) => {
    const own = random.named(name)
    return [name, own.chance(ON) ? (most as number) * own.unit() : 0] as const
  })
  return { ...NO_FAULTS, ...Object.fromEntries(drawn) }
}
