/** A plan from a seed. Each run uses a few things of many, so that rare ones meet each other. */
import { SeededRandom } from "../seeded-random.ts"
import { KIND_NAMES, traitsOf, type ToolKind } from "../tools/tool-kinds.ts"
import type { ToolVersion } from "../tools/tool-world.ts"
import { drawShape } from "./draw-shape.ts"
import { drawStrikes } from "./draw-strikes.ts"
import { drawWeather } from "./draw-weather.ts"
import type { Plan, PlannedCall, Reaction } from "./plan.ts"
import { NO_THEME, THEME_NAMES, themeKinds, THEMES, type Theme } from "./themes.ts"

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

export function drawPlan(seed: number): Plan {
  const random = new SeededRandom(seed).named("plan")
  const theme: Theme = random.chance(0.5) ? NO_THEME : THEMES[random.pick(THEME_NAMES)]
  const kinds = Array.from({ length: random.between(1, 3) }, () => random.pick(themeKinds(theme)))
  const troubled_ms = theme.short ? MINUTE : random.pick([MINUTE, 10 * MINUTE, HOUR, 3 * HOUR])
  const calls = drawCalls(random, kinds, troubled_ms)
  const used = KIND_NAMES.filter((kind) => calls.some((call) => call.tool === kind))
  const one_machine = random.chance(0.4)
  const operator =
    theme.attended || random.chance(0.5)
      ? { every_ms: random.pick([2 * MINUTE, 20 * MINUTE, HOUR]), from_ms: random.chance(0.5) ? 0 : troubled_ms }
      : null
  return {
    seed,
    processes: random.between(1, 3),
    one_machine,
    clock_error_ms: one_machine || random.chance(0.7) ? 0 : 500,
    proves: operator === null || random.chance(0.7),
    poll_ms: random.pick([30 * SECOND, 5 * MINUTE, 30 * MINUTE]),
    troubled_ms,
    shapes: Object.fromEntries(used.map((kind) => [kind, drawShape(random.named(`shape ${kind}`), kind)])),
    versions: drawVersions(random, theme),
    calls,
    strikes: drawStrikes(random.named("strikes"), {
      ...{ kinds: used, one_machine, operator: operator !== null, troubled_ms },
      favourites: theme.strikes,
    }),
    strangers: drawStrangers(random, calls),
    operator,
    weather: drawWeather(random.named("weather"), used, theme.faults),
  }
}

function drawVersions(random: SeededRandom, theme: Theme): readonly ToolVersion[] {
  const first = { version: "1", body: 1, identity: "1", wider: false } as const
  const second = {
    version: "2",
    body: random.chance(theme.other_bytes ? 0.9 : 0.4) ? 2 : 1,
    identity: random.chance(0.4) ? ("2" as const) : ("1" as const),
    wider: random.chance(0.3),
  }
  return [first, second]
}

function drawCalls(random: SeededRandom, kinds: readonly ToolKind[], troubled_ms: number): readonly PlannedCall[] {
  const actions = random.between(1, 4)
  return Array.from({ length: actions }, (_, index) => {
    const tool = random.pick(kinds)
    const action = drawAction(random, tool, index + 1)
    const early = random.chance(0.5)
    return Array.from({ length: random.between(1, 4) }, () => ({
      ...action,
      tool,
      at: early && random.chance(0.7) ? random.between(0, 200) : random.between(0, troubled_ms),
      key: drawKey(random, tool, action.action),
      note: random.chance(0.03) ? "other" : "",
      wait_ms: random.pick([0, SECOND, MINUTE, 20 * MINUTE]),
      then: drawReaction(random),
    }))
  })
    .flat()
    .map((call, id) => ({ ...call, id }))
}

/** A state's action is what it sets; other actions can look alike from outside. */
function drawAction(
  random: SeededRandom,
  tool: ToolKind,
  index: number,
): Pick<PlannedCall, "action" | "label" | "value"> {
  if (traitsOf(tool).correlates === "state") {
    const label = `r${random.between(1, 2)}`
    const value = random.pick(["gold", "silver"])
    return { action: `${tool} ${label}=${value}`, label: `${tool}-${label}`, value }
  }
  const alike = random.chance(0.3) ? 1 : index
  return { action: `${tool} a${index}`, label: `l${alike}`, value: "" }
}

function drawKey(random: SeededRandom, tool: ToolKind, action: string): string | null {
  const { named_by } = traitsOf(tool)
  if (named_by === "key") return `key-${action}`
  if (named_by === "intent") return `${action}-key-${random.between(1, 3)}`
  return random.chance(0.1) ? `alias-${action}` : null
}

function drawReaction(random: SeededRandom): Reaction | null {
  if (random.chance(0.5)) return null
  return {
    verb: random.pick(["again", "again", "retry", "retry", "supersede", "repeat", "reconcile", "cancel"]),
    times: random.pick([1, 1, 2, 3]),
    after_ms: random.pick([0, 5, SECOND, 5 * MINUTE]),
  }
}

/** Old enough that no clock can take them for ours (JU, OW2), or a state that holds already. */
function drawStrangers(random: SeededRandom, calls: readonly PlannedCall[]): Plan["strangers"] {
  const made: Plan["strangers"][number][] = []
  for (const { tool, label, value } of calls) {
    if (made.some((one) => one.tool === tool && one.label === label)) continue
    const { correlates } = traitsOf(tool)
    if (correlates === "created" && random.chance(0.3))
      made.push({ tool, label, value, age_ms: random.pick([7 * SECOND, 10 * SECOND, MINUTE, 30 * 24 * HOUR]) })
    if (correlates === "state" && random.chance(0.6))
      made.push({ tool, label, value: random.pick(["gold", "silver", "bronze"]), age_ms: HOUR })
  }
  return made
}
