/**
 * One case's world: a fake behind two fault proxies, the tool that reaches it through them, a journal, and processes.
 *
 * Owns: everything that has to end with the case.
 *
 * SG1. Attempts and looks go through different proxies, so that a fault of one is never a fault of the other. The tool is made
 *      twice, as it is where another process looks.
 * SG2. What the world was before the effect is shown by a second fake, which never got the effect request.
 */
import type { AnyTool } from "@invokejs/engine"
import type { Operation } from "@invokejs/protocol"
import { FaultProxy } from "../fault-proxy/fault-proxy.ts"
import { MemoryStore } from "../simulator/journal/memory-store.ts"
import type { CasePlan } from "./case-plan.ts"
import type { CompressedClock, Quiet } from "./compressed-clock.ts"
import { isAtUrl, type Fake, type FakeRequest } from "./fake-provider.ts"
import type { Subject } from "./prove-module.ts"
import { ProviderDoor, type DoorEntry, type DoorFault } from "./provider-door.ts"
import { startProcess, type ProverProcess } from "./prover-process.ts"
import { wrapTool, type Definition, type Started } from "./wrap-tool.ts"

/** The request that may change the world. */
export interface EffectRequest {
  readonly method: string
  /** Without its query. */
  readonly path: string
}

export interface StageParts {
  readonly subject: Subject
  readonly plan: CasePlan
  readonly clock: CompressedClock
  readonly fake: Fake
  /** The world without this call's effect. */
  readonly twin: Fake | null
  readonly effect: EffectRequest | null
  readonly name: string
}

interface Sided {
  readonly door: ProviderDoor
  readonly proxy: FaultProxy
}

interface Opened {
  readonly call: Sided
  readonly look: Sided
  readonly stranger: ProviderDoor
  readonly tool: AnyTool
}

export class Stage implements Quiet {
  readonly parts: StageParts
  readonly store = new MemoryStore()
  readonly log: DoorEntry[] = []
  readonly started: Started[] = []
  /** Looks that were answered from the world before the effect. */
  behind = 0
  #life = 0
  #running = { call: 0, look: 0 }
  #door_spent = false
  #processes: ProverProcess[] = []
  #doors: ProviderDoor[] = []
  #opened: Opened | null = null
  #ended = 0

  private constructor(parts: StageParts) {
    this.parts = parts
  }

  static async open(parts: StageParts): Promise<Stage> {
    const stage = new Stage(parts)
    await stage.#open()
    return stage
  }

  get proxies(): { readonly call: FaultProxy; readonly look: FaultProxy } {
    const { call, look } = this.#there
    return { call: call.proxy, look: look.proxy }
  }

  /** Reaches the fake without any fault, for what others do. */
  get strangerUrl(): string {
    return this.#there.stranger.url
  }

  get process(): ProverProcess {
    const process = this.#processes.at(-1)
    if (process === undefined) throw new Error("no process has been started")
    return process
  }

  async start(): Promise<void> {
    const { clock, name } = this.parts
    const pid = this.#processes.length + 1
    this.#processes.push(await startProcess({ clock, store: this.store, name, tool: this.#there.tool, pid }))
  }

  /** Makes the case's faults wait for the call. */
  async arm(): Promise<void> {
    const { plan, effect, clock } = this.parts
    const { call, look } = this.proxies
    if (plan.wire !== undefined) {
      call.script([{ ...(effect === null ? {} : { match: effect }), fault: plan.wire }])
    }
    if (plan.look?.kind === "fails") {
      const fault = { kind: "answer_instead", status: 500, body: "{}" } as const
      look.script([{ fault, times: plan.look.times }])
    }
    if (plan.look?.kind === "broken") look.script([{ fault: plan.look.fault }])
    if (plan.unreachable_ms !== undefined) {
      await call.stopListening()
      clock.after(plan.unreachable_ms, () => void call.listenAgain())
    }
  }

  /** Whether everything that the case is about took place. */
  hit(): boolean {
    const { plan } = this.parts
    const { call, look } = this.proxies
    const faulty = (proxy: FaultProxy) => proxy.record().some((entry) => entry.faults.length > 0)
    const looked = {
      fails: () => faulty(look),
      broken: () => faulty(look),
      silent: () => this.log.some((entry) => entry.side === "look" && entry.fault !== null),
      behind: () => this.behind > 0,
    }
    return (
      (plan.wire === undefined || faulty(call)) &&
      (plan.door === undefined || this.log.some((entry) => entry.side === "call" && entry.fault !== null)) &&
      (plan.look === undefined || looked[plan.look.kind]())
    )
  }

  effects(): Promise<number> {
    return Promise.resolve(this.parts.fake.effects())
  }

  operations(): readonly Operation[] {
    return [...this.store.rows.operations.values()]
  }

  /** Requests that are still to be handed over to the fake. */
  get held(): number {
    return this.#there.call.door.held
  }

  busy(): boolean {
    const fakes = this.#doors.reduce((sum, door) => sum + door.running, 0)
    const waits = (side: "call" | "look", door: ProviderDoor) => this.#running[side] > door.kept
    const { call, look } = this.#there
    return fakes > 0 || waits("call", call.door) || waits("look", look.door)
  }

  life(): number {
    return this.#life
  }

  drive(done: () => boolean | Promise<boolean>, limit_ms: number): Promise<boolean> {
    return this.parts.clock.drive(this, done, limit_ms)
  }

  pass(ms: number): Promise<void> {
    return this.parts.clock.pass(this, ms)
  }

  async close(): Promise<void> {
    for (const process of this.#processes) await process.close().catch(() => undefined)
    const { call, look } = this.#there
    await Promise.all([call.proxy.close(), look.proxy.close()])
    for (const door of this.#doors) await door.close()
  }

  get #there(): Opened {
    if (this.#opened === null) throw new Error("the stage is not open")
    return this.#opened
  }

  async #open(): Promise<void> {
    const { subject } = this.parts
    const call = await this.#side("call")
    const look = await this.#side("look")
    const stranger = await this.#door("stranger")
    const attempts = await subject.toolAt(call.proxy.url)
    const looks = await subject.toolAt(look.proxy.url)
    const moved = (side: "call" | "look", by: number) => {
      this.#running[side] += by
      this.#live()
    }
    const tool = wrapTool(attempts, looks["~definition"] as Definition, {
      begin: (side) => moved(side, 1),
      end: (side) => {
        moved(side, -1)
        if (side === "call") this.#attemptEnded()
      },
      attempt: (started) => this.#attempt(started),
    })
    this.#opened = { call, look, stranger, tool }
  }

  async #side(side: "call" | "look"): Promise<Sided> {
    const door = await this.#door(side)
    return { door, proxy: await FaultProxy.start({ target: door.url }) }
  }

  async #door(side: DoorEntry["side"]): Promise<ProviderDoor> {
    const door = await ProviderDoor.open({
      side,
      clock: this.parts.clock,
      log: this.log,
      fake: () => (side === "look" ? this.#lookedAt() : this.parts.fake),
      fault: (request) => (side === "call" ? this.#doorFault(request) : side === "look" ? this.#lookFault() : null),
      crash: () => this.process.kill(),
      sync: () => this.#sync(),
      live: () => this.#live(),
    })
    this.#doors.push(door)
    return door
  }

  #live(): void {
    this.#life += 1
  }

  /** False: the process is dead, and the tool is never called. */
  #attempt(started: Started): boolean {
    this.started.push({ ...started, at: this.parts.clock.elapsed })
    if (this.parts.plan.dies !== "before_send" || this.started.length > 1) return true
    this.process.kill()
    return false
  }

  #attemptEnded(): void {
    const { outage_ms } = this.parts.plan
    this.#ended += 1
    if (outage_ms === undefined || this.#ended > 1) return
    for (const proxy of Object.values(this.proxies)) {
      void proxy.stopListening()
      this.parts.clock.after(outage_ms, () => void proxy.listenAgain())
    }
  }

  #doorFault(request: FakeRequest): DoorFault | null {
    const { plan, effect } = this.parts
    if (plan.door === undefined || this.#door_spent || !isEffect(request, effect)) return null
    this.#door_spent = true
    return plan.door
  }

  #lookFault(): DoorFault | null {
    if (this.parts.plan.look?.kind !== "silent" || this.#door_spent) return null
    this.#door_spent = true
    return { kind: "swallow" }
  }

  /** SG2. */
  #lookedAt(): Fake {
    const { plan, fake, twin, clock } = this.parts
    if (plan.look?.kind !== "behind" || twin === null) return fake
    const made = this.log.find((entry) => entry.side === "call" && entry.made > 0)?.handed_at ?? null
    if (made !== null && clock.elapsed >= made + plan.look.ms) return fake
    this.behind += 1
    return twin
  }

  async #sync(): Promise<void> {
    for (const fake of [this.parts.fake, this.parts.twin]) {
      if (fake !== null && isAtUrl(fake)) await fake.clock?.(this.parts.clock.ahead())
    }
  }
}

export function isEffect(request: FakeRequest, effect: EffectRequest | null): boolean {
  if (effect === null) return request.method !== "GET" && request.method !== "HEAD"
  return request.method === effect.method && pathOf(request.path) === effect.path
}

export function pathOf(path: string): string {
  return path.split("?", 1)[0] ?? path
}
