/**
 * One run: processes, callers, faults from one seed; then the faults end, time goes on, and the oracle judges.
 *
 * SM1. One seed is one run: nothing in it asks the machine for time, randomness or order.
 */
import { createTransport, Invoke, type AnyTool, type Ids, type JournalWrite } from "@invokejs/engine"
import { isOpen, isTerminal } from "@invokejs/protocol"
import { FaultCounts } from "./fault-counts.ts"
import { History, type Answer, type Effect } from "./history.ts"
import { openMemoryJournal } from "./journal/memory-journal.ts"
import { MemoryStore } from "./journal/memory-store.ts"
import { Landings, simLink } from "./journal/sim-link.ts"
import { judgeRun, type Finding } from "./oracle/oracle.ts"
import { toldAnswer, toldError } from "./told-answer.ts"
import { planOf, type Plan } from "./plan.ts"
import { Scheduler } from "./scheduler.ts"
import { SeededRandom } from "./seeded-random.ts"
import { simNetwork } from "./sim-network.ts"
import { SimProcess } from "./sim-process.ts"
import { SimProvider } from "./sim-provider.ts"
import { simTools, TOOL_KINDS, type ToolKind } from "./sim-tools.ts"

export interface RunResult {
  readonly seed: number
  readonly violations: readonly Finding[]
  readonly history: History
  readonly counts: FaultCounts
  readonly events: number
  /** Every operation's timeline and every effect, in order of time, for a person who asks why. */
  story(): readonly string[]
}

const START = Date.UTC(2026, 0, 1)
const HEALED_MS = 48 * 3_600_000
/** The background loop wakes at the next due moment; between, it looks this often. */
const POLL_MS = 30 * 60_000
/** What a caller may be told instead of a result while the journal or the process is in trouble. */
const FORESEEN = ["journal_unavailable", "draining", "idempotency_key_reused", "overloaded"]

export async function simulate(seed: number, broken: ReadonlySet<string> = new Set()): Promise<RunResult> {
  const run = new Run(seed, broken)
  await run.live()
  return run.judged()
}

interface Living {
  readonly process: SimProcess
  readonly invoke: Promise<Invoke<readonly AnyTool[]>>
}

class Run {
  readonly #seed: number
  readonly #random: SeededRandom
  readonly #scheduler = new Scheduler(START)
  readonly #counts = new FaultCounts()
  readonly #history = new History()
  readonly #store: MemoryStore
  readonly #plan: Plan
  readonly #providers = new Map<ToolKind, SimProvider>()
  readonly #landings = new Landings()
  readonly #living: Living[] = []
  readonly #broken: ReadonlySet<string>
  readonly #unheard: (() => string | null)[] = []
  #born = 0
  #ids = 0

  constructor(seed: number, broken: ReadonlySet<string>) {
    this.#seed = seed
    this.#broken = broken
    this.#random = new SeededRandom(seed)
    this.#store = new MemoryStore({ sealed: false, broken })
    this.#store.onWritten = (write) => this.#record(write)
    this.#plan = planOf(this.#random, this.#counts)
    for (const kind of TOOL_KINDS) {
      const shape = this.#plan.shapes[kind]
      this.#providers.set(
        kind,
        new SimProvider(kind, shape, this.#scheduler, this.#random, this.#counts, this.#history),
      )
      this.#history.natures.push({
        tool: kind,
        makes: "object",
        transport: kind.startsWith("opaque") ? "opaque" : "invoke",
        settles: kind === "opaque_irreversible" ? "person" : "itself",
        remembers: shape.keyed ? { for_ms: shape.retention_ms, races: false } : null,
        max_execution_ms: shape.max_execution_ms,
      })
    }
  }

  async live(): Promise<void> {
    for (let index = 0; index < this.#plan.processes; index += 1) this.#start()
    for (const call of this.#plan.calls)
      this.#scheduler.after(call.at, () => this.#call(call.tool, call.action, call.key, call.wait_ms))
    for (const fault of this.#plan.faults) this.#scheduler.after(fault.at, () => this.#strike(fault.kind, fault.for_ms))
    await this.#scheduler.run(START + this.#plan.troubled_ms)
    this.#heal()
    await this.#scheduler.run(START + this.#plan.troubled_ms + HEALED_MS, () => this.#quiet())
    for (const { process } of this.#living) process.kill()
  }

  judged(): RunResult {
    const { effects } = this.#history
    const endings = [...this.#store.rows.operations.values()].map((one) => ({
      operation_id: one.operation_id,
      action: (one.params as { action: string }).action,
      tool: one.tool,
      state: one.state,
      terminal: isTerminal(one.state),
      contradicted: one.contradicted,
      object_id: one.object?.object_id ?? null,
      sets: null,
      attempt_open: one.attempts.some(
        (attempt) => attempt.transport === "opaque" && isOpen(attempt, this.#scheduler.now),
      ),
    }))
    for (const event of this.#store.rows.events) this.#counts.add(`event:${event.type}`)
    for (const one of endings) this.#counts.add(`ended:${one.state}`)
    this.#history.endings = endings
    for (const action of this.#unheard) this.#history.unanswered.push(...[action()].filter((one) => one !== null))
    const { violations } = judgeRun(this.#history)
    return {
      seed: this.#seed,
      violations,
      history: this.#history,
      counts: this.#counts,
      events: this.#scheduler.events,
      story: () => this.#story(effects),
    }
  }

  #story(effects: readonly Effect[]): readonly string[] {
    const lines = [
      ...this.#history.lines,
      ...effects.map((one) => ({
        at: one.at,
        text: `EFFECT ${one.object_id} of ${one.action} (${one.operation_id} attempt ${one.attempt})`,
      })),
      ...this.#store.rows.events.map((one) => ({
        at: one.at,
        text: `  ${one.operation_id} ${one.type} ${one.from ?? ""}>${one.to ?? ""} by ${one.actor} ${JSON.stringify(one.data)}`,
      })),
    ]
    return lines.toSorted((a, b) => a.at - b.at).map(({ at, text }) => `${String(at - START).padStart(9)} ${text}`)
  }

  #start(): void {
    this.#born += 1
    const process = new SimProcess(`p${this.#born}`, this.#scheduler, { wall_offset_ms: 0 })
    const link = simLink({
      process,
      scheduler: this.#scheduler,
      random: this.#random,
      counts: this.#counts,
      landings: this.#landings,
      database: () => ({ offset_ms: 0, local: false }),
      clock_error_ms: 0,
      faults: () => this.#plan.current,
      proves: true,
    })
    const network = simNetwork({
      process,
      random: this.#random,
      counts: this.#counts,
      provider: (origin) => this.#provider(origin.split("//")[1]?.split(".")[0] as ToolKind),
      faults: () => this.#plan.current,
    })
    const clock = this.#broken.has("send_window")
      ? { ...process.clock, wall: () => START, monotonic: () => 0 }
      : process.clock
    const invoke = Invoke.on({
      journal: openMemoryJournal(this.#store, link),
      tools: simTools({
        process,
        random: this.#random,
        faults: () => this.#plan.current,
        provider: (kind) => this.#provider(kind),
      }),
      clock: process.clock,
      random: this.#random,
      ids: this.#idsOf(process.name),
      telemetry: { log: () => undefined, count: () => undefined },
      machine: { host: "sim", boot_id: "1", pid: this.#born },
      transport: createTransport({ clock, wrapDispatcher: () => network }),
      poll_ms: POLL_MS,
    })
    invoke.catch(() => process.kill())
    this.#living.push({ process, invoke })
    this.#history.note(this.#scheduler.now, `${process.name} starts`)
  }

  #record(write: JournalWrite): void {
    const { next } = write.operation
    const attempt = next.attempts.at(-1)
    if (write.kind === "advance" || !write.lease || !attempt) return
    this.#history.records.push({
      operation_id: next.operation_id,
      attempt: attempt.attempt,
      committed_at: this.#scheduler.now,
      budget_ms: attempt.send_before - this.#scheduler.now,
      in_quarantine: this.#store.quarantine !== null,
    })
  }

  #provider(kind: ToolKind): SimProvider {
    const provider = this.#providers.get(kind)
    if (!provider) throw new Error(`there is no provider for ${kind}`)
    return provider
  }

  #idsOf(process: string): Ids {
    const next = (prefix: string) => `${prefix}${String((this.#ids += 1)).padStart(8, "0")}`
    return {
      operation: () => next("op"),
      event: () => next("ev"),
      token: () => next(`tk-${process}-`),
      worker: () => next("wk"),
    }
  }

  #call(tool: ToolKind, action: string, key: string | null, wait_ms: number): void {
    const alive = this.#living.filter(({ process }) => process.state === "alive")
    if (alive.length === 0) return
    const { process, invoke } = this.#random.pick(alive)
    const asked = { called_at: this.#scheduler.now, process: process.name, verb: "call", tool, action }
    let heard = false
    this.#unheard.push(() => (heard ? null : action))
    const told = (answer: Answer) => {
      heard = true
      this.#history.answers.push(answer)
      this.#history.note(
        this.#scheduler.now,
        `${process.name} is told ${answer.error?.code ?? answer.outcome} about ${action}`,
      )
    }
    this.#history.note(this.#scheduler.now, `${process.name} calls ${tool} for ${action}`)
    void invoke.then(
      (one) =>
        one.call({ tool, params: { action }, wait: wait_ms, ...(key === null ? {} : { idempotencyKey: key }) }).then(
          (result) => told(toldAnswer(asked, this.#scheduler.now, result)),
          (error: unknown) => told(toldError(asked, this.#scheduler.now, error, FORESEEN)),
        ),
      // An engine that did not open takes no calls.
      () => undefined,
    )
  }

  #strike(kind: string, for_ms: number): void {
    const alive = this.#living.filter(({ process }) => process.state === "alive")
    const target = alive.length > 0 ? this.#random.pick(alive).process : null
    this.#counts.add(kind)
    this.#history.note(this.#scheduler.now, `${kind} ${target?.name ?? ""} for ${for_ms} ms`)
    switch (kind) {
      case "kill":
        target?.kill()
        this.#scheduler.after(for_ms, () => this.#start())
        return
      case "freeze":
      case "suspend":
        target?.freeze(kind === "suspend")
        this.#scheduler.after(for_ms, () => target?.thaw())
        return
      case "wall_back":
        if (target) target.machine.wall_offset_ms -= for_ms
        return
      case "wall_forward":
        if (target) target.machine.wall_offset_ms += for_ms
        return
      case "outage": {
        const provider = this.#provider(this.#random.pick(TOOL_KINDS))
        provider.reachable = false
        this.#scheduler.after(for_ms, () => {
          provider.reachable = true
        })
      }
    }
  }

  #heal(): void {
    this.#plan.heal()
    for (const provider of this.#providers.values()) provider.reachable = true
    for (const { process } of this.#living) process.thaw()
    if (!this.#living.some(({ process }) => process.state === "alive")) this.#start()
    this.#history.note(this.#scheduler.now, "the faults end")
  }

  #quiet(): boolean {
    for (const operation of this.#store.rows.operations.values()) {
      if (isTerminal(operation.state)) continue
      if (operation.state === "needs_review" && !operation.checkable) continue
      return false
    }
    return true
  }
}
