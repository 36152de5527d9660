/**
 * Writing down how an attempt ended (protocol §5.7, §11).
 *
 * RO1. Telling the truth needs no lease: it settles by version, whichever attempt it is about.
 * RO2. An outcome that cannot be written is kept and tried again; nothing is dispatched because a record failed.
 * RO3. One that can never be written is recorded as unknown, so that its attempt does not stay open for ever.
 */
import type { AttemptOutcome, Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import { JournalError } from "../ports/journal.ts"
import { judgeHeld } from "../reconcile/held.ts"
import { keepWriting } from "./keep-writing.ts"

export interface Classified {
  readonly outcome: AttemptOutcome
  readonly left: boolean
  readonly request_digest?: string
  readonly provider_request_id?: string
  readonly http_status?: number
}

export async function recordOutcome(
  context: EngineContext,
  operation: Operation,
  attempt: number,
  classified: Classified,
): Promise<void> {
  const { operation_id } = operation
  const evidence_id = context.ids.event()
  const about = {
    what: "an outcome is known and cannot be written yet",
    operation_id,
    attempt,
    failed: () => context.running.unrecorded(operation_id, attempt),
  }
  const settled = await keepWriting(context, about, () =>
    write(context, operation, attempt, classified, evidence_id).catch((error: unknown) => {
      if (error instanceof JournalError) throw error
      // No journal will ever take this one: that the attempt ended is recorded, and nothing else is claimed (RO3).
      context.telemetry.log("error", "an outcome cannot be recorded as it is", { operation_id, error: String(error) })
      return write(context, operation, attempt, UNRECORDABLE, evidence_id)
    }),
  )
  // The outcome is durable: what it releases is looked over again by the background loop if this fails.
  if (settled) await judgeHeld(context, settled).catch(() => undefined)
  context.wake()
}

const UNRECORDABLE: Classified = {
  outcome: { class: "unknown", reason: { code: "unrecordable", text: "its outcome could not be recorded as it was" } },
  left: true,
}

/** The row, where the outcome settled it. */
async function write(
  context: EngineContext,
  operation: Operation,
  attempt: number,
  classified: Classified,
  evidence_id: string,
): Promise<Operation | null> {
  const { outcome } = classified
  const applied = await applyEvent(
    context,
    operation.operation_id,
    (row, { taken }) => {
      if (row.evidence.some((one) => one.evidence_id === evidence_id)) return null
      const object_id = outcome.class === "applied" ? outcome.candidate?.object_id : undefined
      const owner = object_id === undefined ? undefined : taken.get(object_id)
      const dispatched_at = operation.attempts[attempt - 1]?.dispatched_at
      return {
        type: "outcome",
        attempt,
        ...(dispatched_at === undefined ? {} : { dispatched_at }),
        evidence_id,
        ...classified,
        ...(owner === undefined ? {} : { object_taken_by: owner }),
      }
    },
    { actor: `worker:${context.worker.worker_id ?? ""}`, known: operation },
  )
  return applied.operation.settled_at === null ? null : applied.operation
}
