/**
 * Waits until the journal says something about an operation, whichever process makes it true.
 *
 * WF1. An elapsed wait or an interrupt ends the waiting, never the operation.
 */
import type { Journal } from "@invokejs/engine"
import { isTerminal, type Operation } from "@invokejs/protocol"
import type { Run } from "./define-command.ts"
import { readOperation } from "./tell-operation.ts"

/** One indexed read of a local file: often enough for a person, cheap enough for hours. */
const LOOK_EVERY_MS = 100

export interface WaitWish {
  /** null: for as long as it takes. */
  readonly wait_ms: number | null
  readonly enough: (operation: Operation) => boolean
  /** Called with each reading. */
  readonly seen?: (operation: Operation) => Promise<void>
}

export async function waitFor(run: Run, journal: Journal, operation_id: string, wish: WaitWish): Promise<Operation> {
  const { clock, interrupted } = run.world
  const started = clock.monotonic()
  for (;;) {
    const operation = await readOperation(journal, operation_id)
    await wish.seen?.(operation)
    if (wish.enough(operation) || interrupted.aborted) return operation
    if (wish.wait_ms !== null && clock.monotonic() - started >= wish.wait_ms) return operation
    await pause(run)
  }
}

export function pause({ world }: Run): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop()
      world.interrupted.removeEventListener("abort", done)
      resolve()
    }
    const stop = world.clock.after(LOOK_EVERY_MS, done, { keep_alive: true })
    world.interrupted.addEventListener("abort", done)
  })
}

/** Settled, or in a person's hands: waiting longer would change nothing by itself soon. */
export function answerable(operation: Operation): boolean {
  const { state } = operation
  return isTerminal(state) || state === "needs_review" || state === "awaiting_approval"
}
