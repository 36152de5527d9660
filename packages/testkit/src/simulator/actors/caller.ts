/** Callers: they ask, hear what they are told, and sometimes do something about it, several at once. */
import type { Result } from "@invokejs/protocol"
import type { Answer } from "../history.ts"
import type { PlannedCall, Reaction } from "../plan/plan.ts"
import type { Crew, SimInvoke } from "../run/crew.ts"
import type { World } from "../run/world.ts"
import type { SeededRandom } from "../seeded-random.ts"
import { CALL_REFUSED, VERB_REFUSED, wasRefused, type Asking } from "./asking.ts"

export function scheduleCalls(world: World, crew: Crew, asking: Asking): void {
  for (const call of world.plan.calls) {
    const caller = new Caller(world, crew, asking, call, world.random(`call ${call.id}`))
    world.scheduler.after(call.at, () => caller.call(call.then))
  }
}

class Caller {
  readonly #world: World
  readonly #crew: Crew
  readonly #asking: Asking
  readonly #planned: PlannedCall
  readonly #random: SeededRandom

  constructor(world: World, crew: Crew, asking: Asking, planned: PlannedCall, random: SeededRandom) {
    this.#world = world
    this.#crew = crew
    this.#asking = asking
    this.#planned = planned
    this.#random = random
  }

  call(then: Reaction | null): void {
    const { tool, action, label, value, note, key, wait_ms } = this.#planned
    const params = { action, label, value, note }
    const options = { tool, params, wait: wait_ms, ...(key === null ? {} : { idempotencyKey: key }) }
    const able = this.#crew.able
    if (able.length === 0) return
    const question = { verb: "call", tool, action, foreseen: CALL_REFUSED }
    void this.#asking
      .ask(this.#random.pick(able), question, (invoke) => invoke.call(options))
      .then((answer) => {
        if (then === null || answer.operation_id === null) return
        for (let time = 0; time < then.times; time += 1) {
          this.#world.scheduler.after(then.after_ms, () => this.#react(then, answer))
        }
      })
  }

  #react({ verb }: Reaction, told: Answer): void {
    const able = this.#crew.able
    const { operation_id } = told
    if (able.length === 0 || operation_id === null) return
    if (verb === "again") return this.call(null)
    const { tool, action } = this.#planned
    const grant = { at: this.#world.scheduler.now, action }
    const { grants } = this.#world.history
    if (verb === "repeat") grants.push(grant)
    void this.#asking
      .ask(this.#random.pick(able), { verb, tool, action, foreseen: VERB_REFUSED }, (invoke) =>
        this.#act(invoke, verb, operation_id, told.attempt),
      )
      .then(({ error }) => {
        if (verb === "repeat" && wasRefused(error)) grants.splice(grants.indexOf(grant), 1)
      })
  }

  async #act(
    invoke: SimInvoke,
    verb: Exclude<Reaction["verb"], "again">,
    operation_id: string,
    afterAttempt: number,
  ): Promise<Result> {
    const operator = invoke.operator({ name: "caller" })
    switch (verb) {
      case "retry":
        return operator.retry(operation_id, { afterAttempt })
      case "repeat":
        return operator.repeat(operation_id, { reason: "once more, on purpose" })
      case "reconcile":
        return operator.reconcile(operation_id)
      case "cancel":
        return operator.cancel(operation_id)
      case "supersede": {
        const expectedVersion = (await invoke.operation(operation_id))?.version ?? 0
        const { action, label, value } = this.#planned
        return operator.supersede(operation_id, { params: { action, label, value, note: "changed" }, expectedVersion })
      }
    }
  }
}
