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
import { nextStep, type Operation } from "@invokejs/protocol"
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
  readonly #busy = new Set<string>()
  /** Of steps just made: the version they were made at, and until when that version is left alone (RE4). */
  readonly #made = new Map<string, { readonly version: number; readonly until: number }>()
  #stopTimer: (() => void) | null = null
  #running: Promise<void> | null = null
  #again = false
  #stopped = false
  #sweptAt = Number.NEGATIVE_INFINITY

  constructor(context: EngineContext, poll_ms: number = IDLE_MS) {
    this.#context = context
    this.#poll = poll_ms
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
      await new Promise<void>((resolve) => this.#context.clock.after(1, resolve))
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
    if (this.#stopped) return
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
export async function stepOperation(context: EngineContext, operation: Operation, lapsed: boolean): Promise<void> {
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
      if (await overwritten(context, operation)) return
      if (await refusedAsFaulty(context, operation, tool)) return
      await dispatchOperation(context, operation, tool)
      return
    case "look_before":
      await lookBefore(context, operation, tool)
      return
    case "probe":
      return probeOperation(context, operation, tool)
    case "fence":
      return fenceOperation(context, operation, tool)
    case "timer":
      await applyEvent(
        context,
        operation.operation_id,
        (row) => (row.version === operation.version ? { type: "due" } : null),
        { actor, known: operation },
      )
      return
    case "wait":
      if (step.until > (operation.due_at ?? 0)) {
        await applyEvent(
          context,
          operation.operation_id,
          (row) =>
            row.version === operation.version
              ? { type: "postpone", until: step.until, reason: { code: "waiting", text: "it waits its turn" } }
              : null,
          { actor, known: operation },
        )
      }
      return
    case "nothing":
      return
  }
}
