/**
 * A tombstone fence: claim the operation's name at the provider, so that a late original loses (protocol §6, R13).
 *
 * FE1. It is journaled before it is sent (the probe's lease is that record), and bears its own marker.
 * FE2. A collision is read by content: the original, our tombstone, or a stranger. Winning proves only where the name is permanent.
 */
import { DEFAULTS, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import { generationsSearched, recordFinding, runProbe } from "./probe.ts"
import { tombstoneMarker } from "../tool/tombstone-marker.ts"
import type { CompiledTool } from "../tool/compiled-tool.ts"

export async function fenceOperation(context: EngineContext, operation: Operation, tool: CompiledTool): Promise<void> {
  const { fence } = tool
  if (!fence) return
  const worker_id = context.worker.worker_id ?? "unregistered"
  const started = await applyEvent(
    context,
    operation.operation_id,
    (row) =>
      row.version === operation.version
        ? { type: "probe_started", worker_id, until: context.journal.now() + DEFAULTS.probe_timeout_ms * 2 }
        : null,
    { actor: `worker:${worker_id}`, known: operation },
  )
  if (!started.ok) return
  const { generation } = started.operation
  const marker = tombstoneMarker(operation.operation_id, generation)
  const observed_from = context.journal.now()
  const seen = await runProbe(context, started.operation, tool, (parsed, on) => fence(parsed, { ...on, marker }))
  const look = { evidence_id: context.ids.event(), source: "fence" as const, observed_from, generation }
  if ("failed" in seen || seen.answer.kind === "unsure") {
    const reason = "failed" in seen ? seen.failed : { code: "fence_unsure", text: "the fence was not answered" }
    await applyEvent(
      context,
      operation.operation_id,
      (row) => (row.settled_at === null ? { type: "probe_unanswered", reason } : null),
      {
        actor: "engine",
      },
    )
    return
  }
  const { answer } = seen
  if (answer.kind === "fenced") {
    await recordFinding(context, operation.operation_id, { kind: "fenced", marker: answer.marker }, look)
    return
  }
  if (answer.kind === "collided" && answer.candidate.tombstone?.generation === generation) {
    await recordFinding(context, operation.operation_id, { kind: "fenced", marker }, look)
    return
  }
  if (answer.kind === "collided") {
    await recordFinding(
      context,
      operation.operation_id,
      {
        kind: "look",
        candidates: [answer.candidate],
        complete: true,
        search: false,
        generations: generationsSearched(started.operation),
      },
      look,
    )
  }
}
