/**
 * One process of a case: an engine over the case's journal, which can die at any moment.
 *
 * PP1. A dead process hears nothing and writes nothing any more; what it had sent goes on.
 * PP2. That it is gone is proved to whoever asks, as the kernel proves it by a free lock.
 */
import {
  createTransport,
  Invoke,
  systemIds,
  type AnyTool,
  type Clock,
  type Journal,
  type Telemetry,
} from "@invokejs/engine"
import { plainLink } from "../simulator/journal/link.ts"
import { openMemoryJournal } from "../simulator/journal/memory-journal.ts"
import type { MemoryStore } from "../simulator/journal/memory-store.ts"
import type { CompressedClock } from "./compressed-clock.ts"

/** Between notices the background loop may sleep long: every timer of an operation wakes it by itself. */
const POLL_MS = 60_000

class Owner {
  dead = false
}

export interface ProverProcess {
  readonly invoke: Invoke
  readonly journal: Journal
  readonly dead: boolean
  kill(): void
  close(): Promise<void>
}

export async function startProcess(parts: {
  readonly clock: CompressedClock
  readonly store: MemoryStore
  /** Part of every provider key, so that no case meets the keys of another. */
  readonly name: string
  readonly tool: AnyTool
  readonly pid: number
}): Promise<ProverProcess> {
  const owner = new Owner()
  const clock = clockOf(parts.clock, owner)
  const journal = openMemoryJournal(parts.store, linkOf(clock, owner), parts.name)
  const transport = createTransport({ clock })
  const silent: Telemetry = { log: () => undefined, count: () => undefined }
  const invoke = await Invoke.on({
    journal,
    tools: [parts.tool],
    clock,
    ids: systemIds,
    random: { unit: () => 0.5 },
    telemetry: silent,
    machine: { host: "prover", boot_id: "1", pid: parts.pid },
    transport,
    poll_ms: POLL_MS,
  })
  return {
    invoke,
    journal,
    get dead() {
      return owner.dead
    },
    kill() {
      owner.dead = true
    },
    // A dead one's journal answers nothing, so only its sockets are ended.
    close: () => (owner.dead ? transport.close() : invoke.close({ drain: 0 })),
  }
}

function clockOf(clock: CompressedClock, owner: Owner): Clock {
  return {
    wall: () => clock.wall(),
    monotonic: () => clock.monotonic(),
    after: (ms, fn) => clock.after(ms, () => (owner.dead ? undefined : fn())),
  }
}

function linkOf(clock: Clock, owner: Owner): Parameters<typeof openMemoryJournal>[1] {
  const link = plainLink({ clock: () => clock.wall(), after: (ms, fn) => clock.after(ms, fn), owner })
  const never = <T>(): Promise<T> => new Promise<T>(() => undefined)
  const heard = async <T>(answer: Promise<T>): Promise<T> => {
    const value = await answer
    return owner.dead ? never<T>() : value
  }
  return {
    ...link,
    read: (run) => (owner.dead ? never() : heard(link.read(run))),
    write: (run, operation_id) => (owner.dead ? never() : heard(link.write(run, operation_id))),
    settle: (operation_id, run) => (owner.dead ? never() : heard(link.settle(operation_id, run))),
    gone: (other) => ((other as Owner).dead ? "its lock is free" : null),
  }
}
