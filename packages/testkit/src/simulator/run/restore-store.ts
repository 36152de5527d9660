/** The journal goes back in time: what it forgot, and who is left to notice. */
import { isTerminal } from "@invokejs/protocol"
import type { Forgotten } from "../history.ts"
import type { Snapshot } from "../journal/memory-store.ts"
import type { Crew } from "./crew.ts"
import type { World } from "./world.ts"

/** `down`: nobody runs while it is put back; else its processes go on, on a copy that had lagged. */
export function restoreStore(world: World, crew: Crew, snapshot: Snapshot, snapshot_at: number, down: boolean): void {
  const { scheduler, store, history } = world
  const forgotten = forgottenBy(world, snapshot)
  if (down) for (const member of crew.alive) crew.kill(member)
  store.restore(snapshot, store.time(world.stamp()))
  history.restores.push({ at: scheduler.now, snapshot_at, forgotten })
  world.note(`the journal goes back to ${snapshot_at - world.start}, and forgets ${forgotten.length} attempts`)
  if (down) scheduler.after(5_000, () => crew.start(0))
}

/**
 * An attempt of a tool with its own client that still runs in a living process is accounted for by nobody: nothing stops it, and
 * nothing tells of it (H1).
 */
function forgottenBy(world: World, snapshot: Snapshot): readonly Forgotten[] {
  const forgotten: Forgotten[] = []
  for (const operation of world.store.rows.operations.values()) {
    const { operation_id } = operation
    const then = snapshot.rows.operations.get(operation_id)
    for (const { attempt, transport } of operation.attempts) {
      if (then?.attempts.some((one) => one.attempt === attempt)) continue
      const runs = transport === "opaque" && world.executions.of(operation_id, attempt) !== null
      const accounted = then !== undefined && !isTerminal(then.state) && !runs
      forgotten.push({ operation_id, attempt, accounted })
    }
  }
  return forgotten
}
