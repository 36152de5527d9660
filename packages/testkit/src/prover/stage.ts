/**
 * One case's world: a fake behind two fault proxies, the tool that reaches it through them, a journal, and processes.
 *
 * Owns: everything that has to end with the case.
 *
 * SG1. Attempts and looks go through different proxies, so that a fault of one is never a fault of the other. The tool is made
 *      twice, as it is where another process looks.
 */
import type { AnyTool } from "@invokejs/engine"
import type { Operation } from "@invokejs/protocol"
import { FaultProxy } from "../fault-proxy/fault-proxy.ts"
import { MemoryStore } from "../simulator/journal/memory-store.ts"
import { CaseFaults, type FaultParts } from "./case-faults.ts"
import type { Quiet } from "./compressed-clock.ts"
import { isAtUrl } from "./fake-provider.ts"
import type { Subject } from "./prove-module.ts"
import { ProviderDoor, type DoorEntry } from "./provider-door.ts"
import { startProcess, type ProverProcess } from "./prover-process.ts"
import { wrapTool, type Definition, type Started } from "./wrap-tool.ts"

export interface StageParts extends FaultParts {
  readonly subject: Subject
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
  readonly faults: CaseFaults
  #life = 0
  #running = { call: 0, look: 0 }
  /** Functions that gave no sign of life for so long that they are not waited for. */
  #hung = { call: 0, look: 0 }
  #processes: ProverProcess[] = []
  #doors: ProviderDoor[] = []
  #opened: Opened | null = null
  #asides = 0

  private constructor(parts: StageParts) {
    this.parts = parts
    this.faults = new CaseFaults(parts, this.log, (run) => this.aside(run))
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

  /** Time stands still while the fake counts. */
  effects(): Promise<number> {
    return this.aside(() => this.parts.fake.effects())
  }

  /** Something of the prover's own, which no time of the case may run past. */
  async aside<T>(run: () => T | Promise<T>): Promise<T> {
    this.#asides += 1
    try {
      return await run()
    } finally {
      this.#asides -= 1
      this.#live()
    }
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
    const waits = (side: "call" | "look", door: ProviderDoor) => this.#running[side] > door.kept + this.#hung[side]
    const { call, look } = this.#there
    return this.#asides > 0 || fakes > 0 || waits("call", call.door) || waits("look", look.door)
  }

  life(): number {
    return this.#life
  }

  giveUp(): void {
    const { call, look } = this.#there
    this.#hung = {
      call: Math.max(0, this.#running.call - call.door.kept),
      look: Math.max(0, this.#running.look - look.door.kept),
    }
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
      this.#hung[side] = Math.min(this.#hung[side], this.#running[side])
      this.#live()
    }
    const tool = wrapTool(attempts, looks["~definition"] as Definition, {
      begin: (side) => moved(side, 1),
      end: (side) => {
        moved(side, -1)
        if (side === "call") this.faults.attemptEnded(this.proxies)
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
      fake: () => (side === "look" ? this.faults.lookedAt() : this.parts.fake),
      fault: (request) => this.faults.atDoor(side, request),
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

  async #sync(): Promise<void> {
    for (const fake of [this.parts.fake, this.parts.twin]) {
      if (fake !== null && isAtUrl(fake)) await fake.clock?.(this.parts.clock.ahead())
    }
  }
}
