/**
 * The processes of a run: each is one engine, started as an application starts one, on the shared store.
 *
 * CR1. A process that is closed or killed never comes back; another one takes its place.
 */
import { createTransport, Invoke, JournalError, type AnyTool, type Ids } from "@invokejs/engine"
import { InvokeError } from "@invokejs/protocol"
import { openMemoryJournal } from "../journal/memory-journal.ts"
import { simLink } from "../journal/sim-link.ts"
import { simTools } from "../tools/sim-tools.ts"
import type { ToolVersion } from "../tools/tool-world.ts"
import type { ToolKind } from "../tools/tool-kinds.ts"
import { kindsOf, type Plan } from "../plan/plan.ts"
import { simNetwork } from "../world/sim-network.ts"
import { SimProcess, type Machine } from "../world/sim-process.ts"
import type { World } from "./world.ts"

export type SimInvoke = Invoke<readonly AnyTool[]>

export interface Member {
  readonly process: SimProcess
  readonly version: number
  readonly opening: Promise<SimInvoke>
  /** null until it has opened. */
  invoke: SimInvoke | null
  closing: boolean
}

export class Crew {
  readonly members: Member[] = []
  readonly #world: World
  readonly #machine: Machine = { wall_offset_ms: 0 }
  #born = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Those that take calls. */
  get able(): readonly (Member & { readonly invoke: SimInvoke })[] {
    return this.members.filter(
      (one): one is Member & { readonly invoke: SimInvoke } =>
        one.process.state === "alive" && one.invoke !== null && !one.closing,
    )
  }

  get alive(): readonly Member[] {
    return this.members.filter(({ process }) => process.state !== "dead")
  }

  start(version: number): Member {
    const world = this.#world
    const { plan, scheduler, counts } = world
    this.#born += 1
    const name = `p${this.#born}`
    const machine = plan.one_machine ? this.#machine : { wall_offset_ms: 0 }
    const process = new SimProcess(name, scheduler, machine)
    const random = world.random(name)
    const link = simLink({
      process,
      scheduler,
      random: random.named("journal"),
      counts,
      landings: world.landings,
      database: () => world.database(),
      clock_error_ms: random.between(-plan.clock_error_ms, plan.clock_error_ms),
      faults: () => world.weather(),
      proves: plan.proves,
    })
    const release = releaseOf(plan, version)
    const opening = Invoke.on({
      journal: openMemoryJournal(world.store, link),
      tools: this.#tools(process, release),
      clock: process.clock,
      random: random.named("engine"),
      ids: idsOf(name),
      telemetry: { log: (level, text, fields) => this.#log(process, level, text, fields), count: () => undefined },
      machine: { host: plan.one_machine ? "sim" : name, boot_id: "1", pid: this.#born },
      transport: createTransport({ clock: this.#gateClock(process), wrapDispatcher: () => this.#network(process) }),
      poll_ms: plan.poll_ms,
    })
    const member: Member = { process, version, opening, invoke: null, closing: false }
    opening.then(
      (invoke) => (member.invoke = invoke),
      (error: unknown) => this.#failed(member, error),
    )
    this.members.push(member)
    world.history.births.push(scheduler.now)
    world.note(`${name} starts with version ${release.version}`)
    return member
  }

  /** It ends as an application ends it, within its drain or by force. */
  async close(member: Member): Promise<void> {
    member.closing = true
    const invoke = member.invoke ?? (await member.opening.catch(() => null))
    await invoke?.close({ drain: 10_000 }).catch(() => undefined)
    member.process.kill()
    this.#world.note(`${member.process.name} has closed`)
  }

  kill(member: Member): void {
    member.process.kill()
    this.#world.note(`${member.process.name} is killed`)
  }

  #gateClock(process: SimProcess) {
    const { clock } = process
    return this.#world.broken.has("send_window") ? { ...clock, wall: () => 0, monotonic: () => 0 } : clock
  }

  #network(process: SimProcess) {
    const world = this.#world
    return simNetwork({
      process,
      random: world.random(process.name).named("network"),
      counts: world.counts,
      provider: (origin) => world.provider(origin.split("//")[1]?.split(".")[0] as ToolKind),
      faults: () => world.weather(),
    })
  }

  #tools(process: SimProcess, version: ToolVersion): readonly AnyTool[] {
    const world = this.#world
    return simTools(
      {
        process,
        scheduler: world.scheduler,
        random: world.random(process.name).named("tools"),
        counts: world.counts,
        faults: () => world.weather(),
        provider: (kind) => world.provider(kind),
        executions: world.executions,
        version,
      },
      kindsOf(world.plan),
    )
  }

  /** A process that cannot open ends; whoever looks after it starts another. */
  #failed(member: Member, error: unknown): void {
    const { counts, history, scheduler, healed, plan } = this.#world
    const code = InvokeError.is(error) || error instanceof JournalError ? error.code : null
    counts.add(`not_opened_${code ?? "unforeseen"}`)
    if (code === null) history.alarms.push(`${member.process.name} does not open: ${String(error)}`)
    if (member.process.state === "dead") return
    member.process.kill()
    // Another identity than that of what is open: the newest release knows all of them.
    const again = code === "identity_changed" ? plan.versions.length - 1 : member.version
    scheduler.after(healed() ? 1_000 : 5_000, () => this.start(again))
  }

  #log(process: SimProcess, level: string, text: string, fields?: object): void {
    const { error } = (fields ?? {}) as { readonly error?: string }
    if (error === undefined || process.state === "dead" || /^(JournalError|InvokeError): /.test(error)) return
    this.#world.history.alarms.push(`${process.name} ${level}: ${text}: ${error}`)
  }
}

/** A release whose author changed the identity and not its version. */
export const WRONG_RELEASE = -1

function releaseOf({ versions }: Plan, version: number): ToolVersion {
  const wrong: ToolVersion = { version: "wrong", body: 1, identity: "wrong", wider: false }
  return version === WRONG_RELEASE ? wrong : (versions[version] ?? wrong)
}

/** Ids of operations grow with time, as real ones do. */
function idsOf(process: string): Ids {
  let count = 0
  const next = (prefix: string) => `${prefix}-${process}-${String((count += 1)).padStart(4, "0")}`
  return {
    operation: (now) => `op${String(now).slice(4)}-${process}-${(count += 1)}`,
    event: () => next("ev"),
    token: () => next("tk"),
    worker: () => next("wk"),
  }
}
