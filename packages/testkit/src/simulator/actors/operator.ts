/**
 * A person who looks after what needs one, and says what is true: they see the provider's own records and the machines.
 *
 * OP1. Nothing is said about an operation while a request of it is under way or a call of its tool still runs: then one waits.
 * OP2. A process whose call hangs is ended before anything is said about it.
 */
import type { Operation, Result } from "@invokejs/protocol"
import type { Effect } from "../history.ts"
import { ownerOf } from "../run/endings.ts"
import type { Crew, Member, SimInvoke } from "../run/crew.ts"
import type { World } from "../run/world.ts"
import type { SeededRandom } from "../seeded-random.ts"
import type { Params } from "../tools/tool-world.ts"
import { traitsOf, type ToolKind } from "../tools/tool-kinds.ts"
import { VERB_REFUSED, wasRefused, type Asking } from "./asking.ts"

type Able = Member & { readonly invoke: SimInvoke }
const HANGS_MS = 2 * 3_600_000
const LIFT_AFTER_MS = 60_000

export function employOperator(world: World, crew: Crew, asking: Asking): void {
  const { operator } = world.plan
  if (!operator) return
  const person = new SimOperator(world, crew, asking, world.random("operator"))
  const look = () => {
    person.round()
    world.scheduler.after(operator.every_ms, look)
  }
  world.scheduler.after(operator.from_ms, look)
}

class SimOperator {
  readonly #world: World
  readonly #crew: Crew
  readonly #asking: Asking
  readonly #random: SeededRandom

  constructor(world: World, crew: Crew, asking: Asking, random: SeededRandom) {
    this.#world = world
    this.#crew = crew
    this.#asking = asking
    this.#random = random
  }

  round(): void {
    const { able } = this.#crew
    if (able.length === 0) return
    const one = this.#random.pick(able)
    this.#endHanging()
    this.#sayWhoIsGone(one)
    this.#lift(one)
    for (const operation of this.#world.store.rows.operations.values()) this.#look(one, operation)
  }

  /** OP2. */
  #endHanging(): void {
    const { scheduler, executions } = this.#world
    for (const { operation_id, attempts } of this.#world.store.rows.operations.values()) {
      for (const { attempt } of attempts) {
        const running = executions.of(operation_id, attempt)
        if (!running || scheduler.now - running.since < HANGS_MS) continue
        const member = this.#crew.members.find(({ process }) => process === running.process)
        if (!member || member.process.state === "dead") continue
        this.#world.counts.add("ended_by_operator")
        this.#crew.kill(member)
        this.#crew.start(member.version)
      }
    }
  }

  #sayWhoIsGone({ process, invoke }: Able): void {
    if (this.#world.plan.proves) return
    for (const { worker_id, gone, closed_at } of this.#world.store.rows.workers.values()) {
      if (gone !== null || closed_at !== null || ownerOf(this.#world, worker_id)?.state !== "dead") continue
      this.#world.counts.add("verb:workersGone")
      this.#world.note(`the operator says on ${process.name} that ${worker_id} is gone`)
      void invoke
        .operator({ name: "ann" })
        .workersGone(worker_id, { reason: "its machine is off" })
        .catch(() => undefined)
    }
  }

  #lift({ invoke }: Able): void {
    const { store, scheduler, history } = this.#world
    const restored_at = history.restores.at(-1)?.at ?? 0
    if (store.quarantine === null || scheduler.now - restored_at < LIFT_AFTER_MS) return
    this.#world.counts.add("verb:liftQuarantine")
    this.#world.note("the operator lifts the quarantine")
    void invoke
      .operator({ name: "ann" })
      .liftQuarantine("what was lost is known")
      .catch(() => undefined)
  }

  #look(one: Able, operation: Operation): void {
    const { operation_id, state, version } = operation
    const waits = state === "needs_review" || operation.contradicted || state === "held" || state === "closed_unknown"
    if (!waits || (state === "held" && !this.#random.chance(0.3))) return
    const verb = this.#verbFor(operation)
    if (!verb) return
    const { action } = operation.params as unknown as Params
    const grant = { at: this.#world.scheduler.now, action }
    const { grants } = this.#world.history
    if (verb.name === "allow") grants.push(grant)
    const question = { verb: verb.name, tool: operation.tool, action, foreseen: VERB_REFUSED }
    void this.#asking
      .ask(one, question, (invoke) => verb.run(invoke.operator({ name: "ann" }), operation_id, version))
      .then(({ error }) => {
        if (verb.name === "allow" && wasRefused(error)) grants.splice(grants.indexOf(grant), 1)
      })
  }

  #verbFor(operation: Operation): Verb | null {
    const { tool, params, operation_id } = operation
    const { action, label, value } = params as unknown as Params
    // Sometimes one does not find out, and says so; later one may.
    if (operation.state === "needs_review" && this.#random.chance(0.35)) return says("closed_unknown", null)
    if (traitsOf(tool as ToolKind).correlates === "state") return this.#aboutState(operation, label, value)
    const all = this.#world.history.effects.filter((one) => one.action === action)
    if (operation.state === "held") return heldVerb(all.length > 0)
    // After a restore the effect may be that of an operation which the journal forgot.
    const known = (id: string) => this.#world.store.rows.operations.has(id)
    const mine = all.filter((one) => one.operation_id === operation_id || !known(one.operation_id))
    const stands = mine.find((one) => one.reversed_at === null)
    if (stands) return says("succeeded", stands)
    if (this.#mayStillHappen(operation, action)) return null
    const back = mine.find((one) => one.reversed_at !== null && one.reversed_at <= this.#world.scheduler.now)
    if (back) return says("undone", back)
    if (mine.length > 0) return null
    return this.#deny(operation)
  }

  #deny(operation: Operation): Verb {
    if (operation.contradicted || operation.state === "closed_unknown") return says("not_applied", null)
    return says(this.#random.pick(["not_applied", "not_applied", "ready"]), null)
  }

  #aboutState(operation: Operation, label: string, value: string): Verb | null {
    const { tool, operation_id, state } = operation
    const resources = this.#world.provider(tool as ToolKind).resources
    if (state === "held") return heldVerb(resources.current(label)?.value === value)
    if (state === "closed_unknown") return null
    const wrote = this.#world.history.writes.some((one) => one.operation_id === operation_id)
    if (wrote) return says("succeeded", null)
    return this.#mayStillHappen(operation, "") ? null : says("not_applied", null)
  }

  /** OP1. */
  #mayStillHappen({ operation_id, attempts, tool }: Operation, action: string): boolean {
    const { executions } = this.#world
    for (const request of this.#world.provider(tool as ToolKind).in_flight) {
      if (request.operation_id === operation_id || request.action === action) return true
    }
    return attempts.some(({ attempt, settled_at, worker_id }) => {
      if (executions.of(operation_id, attempt) !== null) return true
      const owner = ownerOf(this.#world, worker_id)
      const started = this.#world.history.started.some(
        (one) => one.operation_id === operation_id && one.attempt === attempt,
      )
      return settled_at === null && !started && owner !== null && owner.state !== "dead"
    })
  }
}

type OperatorOf = ReturnType<SimInvoke["operator"]>

interface Verb {
  readonly name: string
  readonly run: (operator: OperatorOf, operation_id: string, expectedVersion: number) => Promise<Result>
}

function heldVerb(inPlace: boolean): Verb {
  const reason = inPlace ? "it is there already" : "it is not there"
  return inPlace
    ? { name: "cancel", run: (operator, id, expectedVersion) => operator.cancel(id, { reason, expectedVersion }) }
    : { name: "allow", run: (operator, id, expectedVersion) => operator.allow(id, { reason, expectedVersion }) }
}

function says(to: "succeeded" | "not_applied" | "undone" | "ready" | "closed_unknown", effect: Effect | null): Verb {
  const reason = "looked up at the provider"
  const object = effect === null ? {} : { object: { object_id: effect.object_id, state: {} } }
  const gone = to === "not_applied" || to === "ready" ? { process_gone: true } : {}
  return {
    name: "resolve",
    run: async (operator, id, expectedVersion) => {
      const about = { reason, expectedVersion, ...object, ...gone }
      const evidence = { seen: effect?.object_id ?? "nothing" }
      return operator.resolve(id, { ...about, to, evidence }).catch((error: unknown) => {
        if (to === "ready" || (error as { readonly code?: string }).code !== "illegal_transition") throw error
        return operator.amend(id, { ...about, to })
      })
    },
  }
}
