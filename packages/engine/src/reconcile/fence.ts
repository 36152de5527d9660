/**
 * A tombstone fence: claim the operation's name at the provider, so that a late original loses (protocol §6, R13).
 *
 * FE1. It is journaled before it is sent (the probe's lease is that record), and bears its own marker.
 * FE2. A collision is read by content: the original, our tombstone, or a stranger. Winning proves only where the name is permanent.
 * FE3. A fence that is not answered, or unsure, is no proof: a look is made in its place.
 */
import { DEFAULTS, type Candidate, type Finding, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import { lookAndRecord, recordFinding, runProbe } from "./probe.ts"
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
  const answer = "failed" in seen ? null : seen.answer
  // A fence that says nothing must not keep the looks from saying something (FE3).
  if (answer === null || answer.kind === "unsure") return lookAndRecord(context, started.operation, tool)
  const won = answer.kind === "fenced" || answer.candidate.tombstone?.generation === generation
  const finding: Finding = won
    ? { kind: "fenced", marker }
    : {
        kind: "look",
        candidates: [atOurName(started.operation, answer.candidate)],
        complete: true,
        search: false,
        generations: [generation],
      }
  await recordFinding(context, operation.operation_id, finding, look)
}

/** The fenced name is made from our provider key: what holds it came with that key, unless it says whose it is. */
function atOurName(operation: Operation, candidate: Candidate): Candidate {
  const { generation } = operation
  const key = operation.attempts.find((attempt) => attempt.generation === generation)?.provider_key
  const named = candidate.operation_id !== undefined || candidate.provider_key !== undefined || candidate.tombstone
  return named || key === undefined ? candidate : { ...candidate, provider_key: key }
}
