/**
 * Writing down how an attempt ended (protocol §5.7, §11).
 *
 * RO1. Telling the truth needs no lease: it settles by version, whichever attempt it is about.
 * RO2. An outcome that cannot be written is kept and tried again; nothing is dispatched because a record failed.
 */
import { nextAttemptAt, type AttemptOutcome, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import { judgeHeld } from "../reconcile/held.ts"

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
  const evidence_id = context.ids.event()
  for (let failures = 0; ; failures += 1) {
    try {
      await write(context, operation, attempt, classified, evidence_id)
      return
    } catch (error) {
      context.telemetry.log("error", "an outcome is known and cannot be written yet", {
        operation_id: operation.operation_id,
        attempt,
        failures: failures + 1,
        error: String(error),
      })
      const now = context.clock.wall()
      const wait = nextAttemptAt({ failures: failures + 1, now, unit: context.random.unit() }) - now
      if (context.draining()) throw error
      await new Promise<void>((resolve) => context.clock.after(wait, resolve))
    }
  }
}

async function write(
  context: EngineContext,
  operation: Operation,
  attempt: number,
  classified: Classified,
  evidence_id: string,
): Promise<void> {
  const { outcome } = classified
  const applied = await applyEvent(
    context,
    operation.operation_id,
    (row, { taken }) => {
      if (row.evidence.some((one) => one.evidence_id === evidence_id)) return null
      const object_id = outcome.class === "applied" ? outcome.candidate?.object_id : undefined
      const owner = object_id === undefined ? undefined : taken.get(object_id)
      return {
        type: "outcome",
        attempt,
        evidence_id,
        ...classified,
        ...(owner === undefined ? {} : { object_taken_by: owner }),
      }
    },
    { actor: `worker:${context.worker.worker_id ?? ""}`, known: operation },
  )
  if (applied.ok && applied.operation.settled_at !== null) await judgeHeld(context, applied.operation)
  context.wake()
}
