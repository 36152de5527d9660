/** What the journal says at the end, in the oracle's words. */
import { isTerminal, type Operation } from "@invokejs/protocol"
import type { Ending } from "../history.ts"
import type { StoredWorker } from "../journal/memory-store.ts"
import type { SimProcess } from "../world/sim-process.ts"
import { traitsOf, type ToolKind } from "../tools/tool-kinds.ts"
import type { Params } from "../tools/tool-world.ts"
import type { World } from "./world.ts"

export function endingsOf(world: World): readonly Ending[] {
  return [...world.store.rows.operations.values()].map((one) => endingOf(world, one))
}

function endingOf(world: World, operation: Operation): Ending {
  const { operation_id, tool, state, contradicted, object, resource } = operation
  const { action, value } = operation.params as unknown as Params
  return {
    ...{ operation_id, action, tool, state, contradicted },
    terminal: isTerminal(state),
    object_id: object?.object_id ?? null,
    rivals: hasRivals(world, operation),
    attempt_open: hasOpenAttempt(world, operation),
    sets: resource === null ? null : { resource, value },
  }
}

function hasRivals({ store }: World, { operation_id, tool, params }: Operation): boolean {
  if (traitsOf(tool as ToolKind).correlates !== "created") return false
  const { label } = params as unknown as Params
  return [...store.rows.operations.values()].some(
    (one) =>
      one.operation_id !== operation_id && one.tool === tool && (one.params as unknown as Params).label === label,
  )
}

/** Its call has not ended in a living process, or nothing proves that a dead process is dead. */
function hasOpenAttempt(world: World, { operation_id, attempts }: Operation): boolean {
  return attempts.some(({ attempt, transport, settled_at, worker_id }) => {
    if (transport !== "opaque" || settled_at !== null) return false
    if (world.executions.of(operation_id, attempt) !== null) return true
    return !world.plan.proves && world.plan.operator === null && ownerOf(world, worker_id)?.state === "dead"
  })
}

export function ownerOf(world: World, worker_id: string): SimProcess | null {
  const row: StoredWorker | undefined = world.store.rows.workers.get(worker_id)
  return row ? (row.owner as SimProcess) : null
}
