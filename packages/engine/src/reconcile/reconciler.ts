/**
 * The background loop: every due timer of every operation this engine has the tool for (protocol §4, L1).
 *
 * Owns: claiming by compare-and-set, a bounded number of steps at once, and when to look again.
 * Must not: decide. `nextStep()` says what is due; the parts do it.
 *
 * RE1. With the provider reachable and no caller attached, every checkable operation without open attempts settles.
 * RE2. One slow tool does not stop the others: steps run side by side, bounded in all.
 * RE3. The loop never keeps the process alive.
 * RE4. A step that moved nothing is not made again before the next look: nothing spins, and nothing stands in others' way.
 */
import { DEFAULTS, nextStep, type Operation, type Reason } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import { dispatchOperation } from "../dispatch/dispatch.ts"
import { refusedAsFaulty } from "../dispatch/faulty-tools.ts"
import { overwritten } from "../dispatch/overwritten.ts"
import { markOneRestored, mayBeForgotten } from "../recover.ts"
import { fenceOperation } from "./fence.ts"
import { judgeHeld } from "./held.ts"
import { lookBefore } from "./look-before.ts"
import { errorText, probeOperation } from "./probe.ts"
import { closeGoneWorkers } from "./gone-workers.ts"
import type { CompiledTool } from "../tool/compiled-tool.ts"
import { postponeWithoutTool } from "./without-tool.ts"

/** Steps under way at once. More would not help one machine, and each may hold a connection to a provider. */
const STEPS_MAX = 32
/** How long without a look at the journal: another process may have left work, and a notice may be lost. */
const IDLE_MS = 1_000
/** How often held operations and silent workers are looked over although nothing woke us. */
const SWEEP_MS = 5_000

export class Reconciler {
  readonly #context: EngineContext
  readonly #poll: number
  /** Whether the loop goes on by itself; otherwise somebody drives it by `settle`. */
  readonly #alone: boolean
  readonly #busy = new Set<string>()
  /** Of steps just made: the version they were made at, and until when that version is left alone (RE4). */
  readonly #made = new Map<string, { readonly version: number; readonly until: number }>()
  #stopTimer: (() => void) | null = null
  #running: Promise<void> | null = null
  #again = false
  #stopped = false
  #sweptAt = Number.NEGATIVE_INFINITY

  constructor(context: EngineContext, options: { readonly poll_ms?: number; readonly alone?: boolean } = {}) {
    this.#context = context
    this.#poll = options.poll_ms ?? IDLE_MS
    this.#alone = options.alone ?? true
  }

  /** Something may be due now. */
  wake(): void {
    if (this.#stopped) return
    if (this.#running) {
      this.#again = true
      return
    }
    this.#stopTimer?.()
    this.#stopTimer = null
    this.#running = this.#round().finally(() => {
      this.#running = null
      if (this.#again) {
        this.#again = false
        this.wake()
      }
    })
  }

  /** One full round, for callers that drive the loop themselves. */
  async settle(): Promise<void> {
    this.wake()
    while (this.#running || this.#busy.size > 0) {
      await this.#running
      await new Promise<void>((resolve) => this.#context.clock.after(1, resolve, { keep_alive: true }))
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#stopTimer?.()
    this.#stopTimer = null
    await this.#running
  }

  async #round(): Promise<void> {
    const context = this.#context
    let next = this.#poll
    try {
      const now = context.journal.now()
      const sweep = context.clock.monotonic() - this.#sweptAt >= SWEEP_MS
      if (sweep) {
        this.#sweptAt = context.clock.monotonic()
        await closeGoneWorkers(context)
        await judgeHeld(context)
      }
      const tick = context.clock.monotonic()
      for (const [id, { until }] of this.#made) if (until <= tick) this.#made.delete(id)
      const { due, lapsed, next_due_at, waiting_for_tool } = await context.journal.due({
        now,
        limit: STEPS_MAX * 2 + this.#made.size,
        tools: context.tools.names(),
      })
      for (const operation of [...lapsed, ...due]) {
        if (this.#busy.size >= STEPS_MAX) break
        const { operation_id: id, version } = operation
        if (this.#busy.has(id) || this.#made.get(id)?.version === version) continue
        this.#start(operation, lapsed.includes(operation))
      }
      if (sweep && waiting_for_tool > 0) await postponeWithoutTool(context)
      if (next_due_at !== null) next = Math.min(this.#poll, Math.max(1, next_due_at - now))
    } catch (error) {
      context.telemetry.log("error", "the background loop could not read the journal", { error: errorText(error) })
    }
    if (this.#stopped || !this.#alone) return
    this.#stopTimer = context.clock.after(next, () => {
      this.#stopTimer = null
      this.wake()
    })
  }

  #start(operation: Operation, lapsed: boolean): void {
    const id = operation.operation_id
    this.#busy.add(id)
    void stepOperation(this.#context, operation, lapsed)
      .catch((error: unknown) => {
        if (this.#stopped) return
        this.#context.telemetry.log("error", "a step of the background loop failed", {
          operation_id: id,
          error: errorText(error),
        })
      })
      .finally(() => {
        this.#busy.delete(id)
        this.#made.set(id, { version: operation.version, until: this.#context.clock.monotonic() + this.#poll })
        this.wake()
      })
  }
}

/** Does what is due about one operation. */
async function stepOperation(context: EngineContext, operation: Operation, lapsed: boolean): Promise<void> {
  const tool = context.tools.of(operation)
  if (!tool) return
  const actor = "engine"
  const quarantine = await context.journal.quarantine()
  if (quarantine && mayBeForgotten(operation, quarantine.since)) {
    return markOneRestored(context, operation, quarantine.since)
  }
  if (lapsed && operation.state === "dispatched") {
    if (context.running.has(operation.operation_id)) return
    await applyEvent(
      context,
      operation.operation_id,
      (row) => (row.state === "dispatched" ? { type: "lapsed", why: "lease" } : null),
      { actor },
    )
    return
  }
  const step = nextStep(operation, {
    now: context.journal.now(),
    quarantine: quarantine !== null,
    can_fence: tool.fence !== null,
    contract: tool.contract,
    clock_stepped_at: context.clock_stepped_at(),
  })
  switch (step.do) {
    case "dispatch":
      return dispatchOrLook(context, operation, tool)
    case "look_before":
      await lookBefore(context, operation, tool)
      return
    case "probe":
      return tool.probe ? probeOperation(context, operation, tool) : withoutProbe(context, operation)
    case "fence":
      return fenceOperation(context, operation, tool)
    case "timer":
      await applyEvent(
        context,
        operation.operation_id,
        (row) =>
          row.version === operation.version
            ? { type: "due", contract: tool.contract, clock_stepped_at: context.clock_stepped_at() }
            : null,
        { actor, known: operation },
      )
      return
    case "wait":
      if (step.until > (operation.due_at ?? 0)) {
        await postpone(context, operation, step.until, { code: "waiting", text: "it waits its turn" })
      }
      return
    case "nothing":
      return
  }
}

/** What may not be sent, and is unknown, is looked up instead: a refused dispatch must not keep the look waiting. */
async function dispatchOrLook(context: EngineContext, operation: Operation, tool: CompiledTool): Promise<void> {
  const barred = (await overwritten(context, operation)) || (await refusedAsFaulty(context, operation, tool))
  const after = barred ? operation : await dispatchOperation(context, operation, tool)
  if (operation.state !== "unknown" || after.attempts.length > operation.attempts.length) return
  if (tool.probe) return probeOperation(context, operation, tool)
  const until = context.journal.now() + DEFAULTS.backoff_max_ms
  await postpone(context, operation, until, { code: "not_dispatched", text: "another attempt may not be sent now" })
}

/** The tool of a checkable operation has lost its probe: said once a schedule, never in a circle. */
async function withoutProbe(context: EngineContext, operation: Operation): Promise<void> {
  const reason = { code: "no_probe", text: "the tool that is loaded here has no probe any more" }
  await postpone(context, operation, context.journal.now() + DEFAULTS.probe_interval_ms, reason)
  const { operation_id, tenant } = operation
  const open = await context.journal.incidents({ operation_id, open: true })
  if (open.some((one) => one.kind === "probe_failing")) return
  const draft = { kind: "probe_failing" as const, operation_id, detail: reason }
  await context.journal.openIncident(tenant, draft)
  context.opened(operation, [draft])
}

async function postpone(context: EngineContext, operation: Operation, until: number, reason: Reason): Promise<void> {
  await applyEvent(
    context,
    operation.operation_id,
    (row) => (row.version === operation.version ? { type: "postpone", until, reason } : null),
    { actor: "engine", known: operation },
  )
}
