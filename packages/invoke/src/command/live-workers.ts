/**
 * Which workers of a journal may be alive, and which of them can carry an operation on.
 *
 * LW1. Live means: not closed and not proved gone. Silence proves nothing.
 * LW2. A lease token is a grant and is never shown.
 * LW3. This process carries nothing on: it ends with its command.
 */
import { thisMachine, type Journal } from "@invokejs/engine"
import { isTerminal, type Operation } from "@invokejs/protocol"
import { isoTime } from "./say-time.ts"

export interface WorkerFact {
  readonly worker_id: string
  readonly state: "live" | "gone" | "closed"
  /** What proves that it is gone. */
  readonly proof: string | null
  readonly pid: number
  readonly host: string
  readonly boot_id: string
  readonly started_at: string
  readonly lease_until: string
  readonly tools: readonly string[]
  /** It is a worker of this very process. */
  readonly own: boolean
}

export async function readWorkers(journal: Journal): Promise<readonly WorkerFact[]> {
  const rows = await journal.workers.list()
  const here = thisMachine()
  return Promise.all(
    rows.map(async (row): Promise<WorkerFact> => {
      const proof = row.gone?.proof ?? (row.closed_at === null ? await journal.workers.gone(row.worker_id) : null)
      return {
        worker_id: row.worker_id,
        state: row.closed_at !== null ? "closed" : proof === null ? "live" : "gone",
        proof,
        pid: row.pid,
        host: row.host,
        boot_id: row.boot_id,
        started_at: isoTime(row.started_at),
        lease_until: isoTime(row.lease_until),
        tools: row.tools,
        own: row.pid === here.pid && row.boot_id === here.boot_id && row.host === here.host,
      }
    }),
  )
}

/** Live workers that have the operation's tool, under the name it was called by or its first one. */
export function workersWith(workers: readonly WorkerFact[], operation: Operation): readonly WorkerFact[] {
  return workers.filter(
    ({ state, own, tools }) =>
      state === "live" && !own && (tools.includes(operation.tool) || tools.includes(operation.namespace)),
  )
}

/** Something is still to be done about it that needs the tool, and nobody alive has it. */
export function waitingForTool(workers: readonly WorkerFact[], operation: Operation): boolean {
  const needed = !isTerminal(operation.state) && !waitsForPerson(operation)
  return needed && workersWith(workers, operation).length === 0
}

/** No process can carry it on: it is asked about, or nobody can look it up. */
function waitsForPerson({ state, checkable }: Operation): boolean {
  return state === "awaiting_approval" || (state === "needs_review" && !checkable)
}

/** Who carries it on, in one sentence. */
export function whoCarriesOn(workers: readonly WorkerFact[], operation: Operation): string {
  if (waitsForPerson(operation)) return "it waits for a person: no process can settle it."
  const able = workersWith(workers, operation)
  const [first] = able
  if (first === undefined) {
    return `waiting_for_tool: no live worker of this journal has ${operation.tool}. Start a process that has it, or pass --tools FILE.js.`
  }
  const others = able.length > 1 ? ` (or one of ${able.length - 1} others)` : ""
  return `worker ${first.worker_id}, process ${first.pid} on ${first.host}${others}, has ${operation.tool} and carries it on.`
}
