/**
 * What must be written is written again until the journal has it, or the journal is closed (protocol §11).
 *
 * KW1. A record that cannot be written is kept by the process that knows it; nothing is dispatched because of it.
 */
import { nextAttemptAt } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { JournalError } from "../ports/journal.ts"

export interface Kept {
  /** What is told to the log each time it fails. */
  readonly what: string
  readonly operation_id: string
  readonly attempt: number
  readonly failed?: () => void
}

export async function keepWriting<T>(context: EngineContext, about: Kept, write: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await write()
    } catch (error) {
      about.failed?.()
      context.telemetry.log("error", about.what, {
        operation_id: about.operation_id,
        attempt: about.attempt,
        failures,
        error: String(error),
      })
      if (error instanceof JournalError && error.code === "journal_closed") throw error
      const now = context.clock.wall()
      const wait = nextAttemptAt({ failures, now, unit: context.random.unit() }) - now
      await new Promise<void>((resolve) => context.clock.after(wait, resolve, { keep_alive: true }))
    }
  }
}
