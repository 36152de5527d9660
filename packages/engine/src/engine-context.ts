/**
 * What every part of one engine shares. Wiring builds it once; nobody reaches for a global.
 *
 * Must not: hold state that belongs to one operation. That is in the journal.
 */
import type { IncidentDraft, Operation, Sha256 } from "@invokejs/protocol"
import type { IdenticalCalls } from "./admission/identical-calls.ts"
import type { SameKeyQueue } from "./admission/same-key-queue.ts"
import type { Worker } from "./dispatch/worker.ts"
import type { FaultyTools } from "./dispatch/faulty-tools.ts"
import type { RunningAttempts } from "./dispatch/running-attempts.ts"
import type { Transport } from "./dispatch/transport/transport.ts"
import type { Clock } from "./ports/clock.ts"
import type { Ids } from "./ports/ids.ts"
import type { Journal } from "./ports/journal.ts"
import type { Random } from "./ports/random.ts"
import type { Telemetry } from "./ports/telemetry.ts"
import type { ToolSet } from "./tool/tool-set.ts"
import type { OperationWatch } from "./operation-watch.ts"

export interface EngineContext {
  readonly journal: Journal
  readonly clock: Clock
  readonly random: Random
  readonly ids: Ids
  readonly telemetry: Telemetry
  readonly sha256: Sha256
  readonly tools: ToolSet
  readonly transport: Transport
  /** Why no stage is believed and every tool runs as opaque; null when the transport's self-test passed. */
  readonly opaque_because: string | null
  readonly worker: Worker
  readonly running: RunningAttempts
  /** Workers that are gone, whose attempts this process has ended or found ended (GW2). */
  readonly ended_workers: Set<string>
  readonly faulty: FaultyTools
  readonly watch: OperationWatch
  readonly admissions: SameKeyQueue
  readonly identical: IdenticalCalls
  /** Tells the reconciler that something may be due now. */
  readonly wake: () => void
  /** Tells whoever listens that a write of this process opened incidents. */
  readonly opened: (operation: Operation, incidents: readonly IncidentDraft[]) => void
  /** Database time of the last forward jump past `maxClockStep`. */
  readonly clock_stepped_at: () => number | null
  /** No more calls, no more dispatch records. */
  readonly draining: () => boolean
  /** The drain is over: nothing more is started. */
  readonly closed: () => boolean
}
