// The world of the engine's tests: a real SQLite journal, a clock that stands still, and an outside that counts its own effects.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Invoke, systemIds, thisMachine, type AnyTool, type Journal, type Telemetry } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { InvokeError, type Operation } from "@invokejs/protocol"
import { ManualClock } from "@invokejs/testkit"
import { onTestFinished } from "vitest"

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE

export interface Logged {
  readonly level: string
  readonly message: string
}

export interface World {
  readonly clock: ManualClock
  readonly folder: string
  readonly path: string
  readonly logs: Logged[]
  /** Another process on the same file would be another one of these; in one process they share the clock. */
  readonly open: <const T extends readonly AnyTool[]>(tools: T, options?: OpenWorld) => Promise<Invoke<T>>
  readonly journal: () => Promise<Journal>
}

export interface OpenWorld {
  readonly reconcile?: boolean
  /** For tests that let much time pass: how often the background loop looks without a notice. */
  readonly poll_ms?: number
  readonly wrap?: (journal: Journal) => Journal
  readonly telemetry?: Telemetry
  /** Another file of the folder. */
  readonly path?: string
}

export function world(wall?: number): World {
  const folder = mkdtempSync(join(tmpdir(), "invoke-test-"))
  const path = join(folder, "invoke.db")
  const clock = new ManualClock(wall)
  const logs: Logged[] = []
  const telemetry: Telemetry = { log: (level, message) => logs.push({ level, message }), count: () => undefined }
  const opened: (() => Promise<void>)[] = []
  onTestFinished(async () => {
    for (const close of opened.toReversed()) await close().catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  })
  const journal = (file = path) =>
    openSqliteJournal({ path: file, mode: "inline", clock, ids: systemIds, allowEphemeral: true })
  return {
    clock,
    folder,
    path,
    logs,
    journal: () => journal(),
    open: async (tools, options = {}) => {
      const raw = await journal(options.path)
      opened.push(() => raw.close())
      const invoke = await Invoke.on({
        journal: options.wrap ? options.wrap(raw) : raw,
        tools,
        clock,
        ids: systemIds,
        random: { unit: () => 0.5 },
        telemetry: options.telemetry ?? telemetry,
        machine: thisMachine(),
        ...(options.reconcile === undefined ? {} : { reconcile: options.reconcile }),
        ...(options.poll_ms === undefined ? {} : { poll_ms: options.poll_ms }),
      })
      opened.push(() => invoke.close({ drain: 0 }))
      return invoke
    },
  }
}

/** The journal with some of its methods exchanged. */
export function exchanged(journal: Journal, over: Partial<Journal>): Journal {
  return new Proxy(journal, {
    get(target, name) {
      const value: unknown = Reflect.get(over, name) ?? Reflect.get(target, name, target)
      return typeof value === "function" ? (value as () => unknown).bind(target) : value
    },
  })
}

/** Lets what is ready run, without time. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** Drives time until the promise settles; whatever the engine waits for happens on the way. */
export async function during<T>(clock: ManualClock, promise: Promise<T>, limit_ms = HOUR): Promise<T> {
  let settled = false
  const watched = promise.finally(() => {
    settled = true
  })
  watched.catch(() => undefined)
  await clock.until(() => settled, limit_ms)
  return watched
}

interface Reads {
  operation(id: string): Promise<Operation | null>
}

export async function row(invoke: Reads, id: string): Promise<Operation> {
  const operation = await invoke.operation(id)
  if (!operation) throw new Error(`no operation ${id}`)
  return operation
}

/** Lets time pass until the operation is there. */
export async function reaches(clock: ManualClock, invoke: Reads, id: string, state: string): Promise<Operation> {
  await clock.until(async () => (await row(invoke, id)).state === state, HOUR)
  return row(invoke, id)
}

/** The InvokeError that it ends with. */
export async function refusal(work: Promise<unknown>): Promise<InvokeError> {
  const error: unknown = await work.then(
    () => new Error("it was not refused"),
    (thrown: unknown) => thrown,
  )
  if (!InvokeError.is(error)) throw error
  return error
}
