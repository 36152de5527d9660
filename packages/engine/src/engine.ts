/**
 * One engine on one journal: wiring, opening and closing. What it does is in the folders.
 *
 * EN1. Nothing is called before recovery has read the journal (CS-5).
 * EN2. Closing stops claiming, keeps leases until attempts end or the drain is over, and leaves the rest `dispatched` (CS-6).
 */
import { DEFAULTS, isTerminal, STATE_NAMES } from "@invokejs/protocol"
import { IdenticalCalls } from "./admission/identical-calls.ts"
import { SameKeyQueue } from "./admission/same-key-queue.ts"
import { sha256 } from "./adapters/sha256.ts"
import { ClockWatch } from "./clock-watch.ts"
import { FaultyTools } from "./dispatch/faulty-tools.ts"
import { RunningAttempts } from "./dispatch/running-attempts.ts"
import { createTransport, type Transport } from "./dispatch/transport/transport.ts"
import { Worker, type Machine } from "./dispatch/worker.ts"
import type { EngineContext } from "./engine-context.ts"
import { OperationWatch } from "./operation-watch.ts"
import type { Clock } from "./ports/clock.ts"
import type { Ids } from "./ports/ids.ts"
import type { Journal } from "./ports/journal.ts"
import type { Random } from "./ports/random.ts"
import type { Telemetry } from "./ports/telemetry.ts"
import { Reconciler } from "./reconcile/reconciler.ts"
import { recover } from "./recover.ts"
import type { CompiledTool } from "./tool/compiled-tool.ts"
import { ToolSet } from "./tool/tool-set.ts"

export interface EngineOptions {
  readonly journal: Journal
  readonly tools: readonly CompiledTool[]
  readonly clock: Clock
  readonly random: Random
  readonly ids: Ids
  readonly telemetry: Telemetry
  readonly machine: Machine
  /** Runs the background loop. Off where a caller drives it (`settle`), or only reads. Default on. */
  readonly reconcile?: boolean
  /** Stands in for the HTTP transport; a simulation has its own network. */
  readonly transport?: Transport
  /** How often the background loop looks without a notice. Default 1 s. */
  readonly poll_ms?: number
}

export class Engine {
  readonly context: EngineContext
  readonly reconciler: Reconciler
  readonly #listeners: EngineContext["opened"][] = []
  #draining = false
  #closed = false
  #closing: Promise<void> | null = null

  private constructor(options: EngineOptions, opaque_because: string | null, transport: EngineContext["transport"]) {
    const { journal, clock, random, ids, machine } = options
    const telemetry = harmless(options.telemetry)
    const tools = new ToolSet(options.tools)
    const steps = new ClockWatch(journal, clock)
    this.context = {
      journal,
      clock,
      random,
      ids,
      telemetry,
      sha256,
      tools,
      transport,
      opaque_because,
      worker: new Worker({ journal, clock, ids, telemetry, machine, tools: () => tools.names() }),
      running: new RunningAttempts(),
      ended_workers: new Set(),
      faulty: new FaultyTools(),
      watch: new OperationWatch(journal, clock),
      admissions: new SameKeyQueue(),
      identical: new IdenticalCalls(),
      wake: () => {
        if (options.reconcile !== false) this.reconciler.wake()
      },
      clock_stepped_at: () => steps.steppedAt(),
      draining: () => this.#draining,
      closed: () => this.#closed,
      opened: (operation, incidents) => {
        for (const listener of this.#listeners) listener(operation, incidents)
      },
    }
    this.reconciler = new Reconciler(this.context, {
      alone: options.reconcile !== false,
      ...(options.poll_ms === undefined ? {} : { poll_ms: options.poll_ms }),
    })
  }

  static async open(options: EngineOptions): Promise<Engine> {
    const transport = options.transport ?? createTransport({ clock: options.clock })
    try {
      const needed = options.transport === undefined && options.tools.some((tool) => tool.transport === "invoke")
      const test = needed ? await transport.selfTest() : { ok: true as const }
      if (!test.ok) {
        options.telemetry.log("warn", "the transport's self-test did not pass: every tool runs as opaque", {
          reason: test.reason,
        })
      }
      const engine = new Engine(options, test.ok ? null : test.reason, transport)
      await recover(engine.context)
      engine.context.wake()
      return engine
    } catch (error) {
      await transport.close()
      throw error
    }
  }

  /** Hears of the incidents that this engine's own writes open. */
  onIncidents(listener: EngineContext["opened"]): void {
    this.#listeners.push(listener)
  }

  /** Stops taking calls and claiming work, waits for running attempts, and closes the journal. Safe to call twice. */
  close(drain_ms: number = DEFAULTS.drain_ms): Promise<void> {
    this.#closing ??= this.#close(drain_ms)
    return this.#closing
  }

  async #close(drain_ms: number): Promise<void> {
    const { context } = this
    this.#draining = true
    await this.reconciler.stop()
    await this.#drained(drain_ms)
    this.#closed = true
    const open = await this.#unresolved().catch(() => 0)
    if (open > 0) {
      const { location } = context.journal.identity
      context.telemetry.log(
        "warn",
        `${open}${open >= DEFAULTS.page_max ? " or more" : ""} operations are not settled; list them with: invoke ops --journal ${location} --open`,
        {
          open,
          location,
        },
      )
    }
    await context.watch.close()
    await context.worker.close()
    await context.transport.close()
    await context.journal.close()
  }

  /** Commits that are under way start their attempts first; then the attempts end, or the drain is over. */
  async #drained(drain_ms: number): Promise<void> {
    const { admissions, running, clock } = this.context
    if (drain_ms <= 0) return
    let stop: () => void = () => undefined
    const over = new Promise<void>((resolve) => {
      stop = clock.after(drain_ms, resolve, { keep_alive: true })
    })
    await Promise.race([admissions.idle().then(() => running.settled()), over])
    stop()
  }

  async #unresolved(): Promise<number> {
    const open = STATE_NAMES.filter((state) => !isTerminal(state))
    const page = await this.context.journal.operations({ states: open }, { limit: DEFAULTS.page_max })
    return page.items.length
  }
}

/** A logger that fails must not take an outcome with it. */
function harmless(telemetry: Telemetry): Telemetry {
  return {
    log: (level, message, fields) => quietly(() => telemetry.log(level, message, fields)),
    count: (name, fields) => quietly(() => telemetry.count(name, fields)),
  }
}

function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // There is nobody left to tell.
  }
}
