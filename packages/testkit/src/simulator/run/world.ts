/** Everything that a run consists of, as its parts reach it. */
import { FaultCounts } from "../fault-counts.ts"
import { History, type Nature } from "../history.ts"
import { MemoryStore } from "../journal/memory-store.ts"
import { Landings, type DatabaseClock } from "../journal/sim-link.ts"
import { kindsOf, NO_FAULTS, type Faults, type Plan } from "../plan/plan.ts"
import { Scheduler } from "../scheduler.ts"
import { SeededRandom } from "../seeded-random.ts"
import { Executions } from "../tools/executions.ts"
import { traitsOf, type ToolKind } from "../tools/tool-kinds.ts"
import { SimProvider } from "../world/sim-provider.ts"
import type { ProviderShape } from "../world/provider-shape.ts"
import { recordCommits } from "./record-commits.ts"

const START = Date.UTC(2026, 0, 1)

export class World {
  readonly plan: Plan
  readonly broken: ReadonlySet<string>
  readonly scheduler = new Scheduler(START)
  readonly counts = new FaultCounts()
  readonly history = new History()
  readonly store: MemoryStore
  readonly landings = new Landings()
  readonly executions: Executions
  readonly start = START
  database_offset_ms = 0
  readonly #random: SeededRandom
  readonly #providers = new Map<ToolKind, SimProvider>()
  #healed = false

  constructor(plan: Plan, broken: ReadonlySet<string>) {
    this.plan = plan
    this.broken = broken
    this.#random = new SeededRandom(plan.seed)
    this.store = new MemoryStore({ sealed: false, broken })
    this.executions = new Executions(this.history)
    recordCommits(this)
    for (const kind of kindsOf(plan)) this.#addProvider(kind, plan.shapes[kind] as ProviderShape)
    for (const { tool, label, value, age_ms } of plan.strangers) this.#place(tool, label, value, age_ms)
  }

  random(name: string): SeededRandom {
    return this.#random.named(name)
  }

  weather(): Faults {
    return this.#healed ? NO_FAULTS : this.plan.weather
  }

  healed = (): boolean => this.#healed

  /** No fault is injected from now on. */
  heal(): void {
    this.#healed = true
    for (const provider of this.#providers.values()) provider.reachable = true
  }

  database(): DatabaseClock {
    return { offset_ms: this.database_offset_ms, local: this.plan.one_machine }
  }

  /** What the database's clock says. */
  stamp(): number {
    return this.scheduler.now + this.database_offset_ms
  }

  provider(kind: ToolKind): SimProvider {
    const provider = this.#providers.get(kind)
    if (!provider) throw new Error(`there is no provider for ${kind}`)
    return provider
  }

  get providers(): readonly SimProvider[] {
    return [...this.#providers.values()]
  }

  note(text: string): void {
    this.history.note(this.scheduler.now, text)
  }

  #addProvider(kind: ToolKind, shape: ProviderShape): void {
    const { accepts = false, named = false, correlates } = traitsOf(kind)
    const makes = correlates === "state" ? "state" : "object"
    const { scheduler, counts, history } = this
    const random = this.random(`provider ${kind}`)
    this.#providers.set(
      kind,
      new SimProvider({ tool: kind, makes, accepts, named, shape }, { scheduler, random, counts, history }),
    )
    history.natures.push(natureOf(this.plan, kind, shape, makes))
  }

  #place(tool: ToolKind, label: string, value: string, age_ms: number): void {
    const provider = this.provider(tool)
    if (traitsOf(tool).correlates !== "state") return provider.place(label, age_ms)
    if (provider.resources.current(label) !== null) return
    provider.resources.set({ tool, resource: label, value, operation_id: null, attempt: 0 })
  }
}

function natureOf(plan: Plan, kind: ToolKind, shape: ProviderShape, makes: Nature["makes"]): Nature {
  const traits = traitsOf(kind)
  const { key } = shape
  return {
    tool: kind,
    makes,
    transport: traits.transport,
    settles: settlesItself(plan, kind) ? "itself" : "person",
    remembers:
      key === null || key.replay === "executes" ? null : { for_ms: key.retention_ms, races: key.in_flight === "races" },
    max_execution_ms: shape.max_execution_ms,
  }
}

/** Whether looks alone settle it, as far as the contract goes. */
function settlesItself(plan: Plan, kind: ToolKind): boolean {
  const { correlates, searched, exclusive } = traitsOf(kind)
  if (correlates === null || searched) return false
  if (correlates === "state") return exclusive === true
  if (correlates === "operation") return true
  // A stranger's object of nearly the same moment is nobody's without a person.
  return !plan.strangers.some((one) => one.tool === kind && one.age_ms < 60_000)
}
