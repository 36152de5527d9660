/**
 * The look before attempt 1 of tools that could not recognise their own effect afterwards (item 16).
 *
 * LB1. If it fails: the operation stays `ready` with backoff, and nothing was sent.
 */
import { compareAll, DEFAULTS, nextAttemptAt, type Candidate, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import { runProbe } from "./probe.ts"
import type { CompiledTool } from "../tool/compiled-tool.ts"

export async function lookBefore(context: EngineContext, operation: Operation, tool: CompiledTool): Promise<Operation> {
  const { probe } = tool
  const seen = probe ? await runProbe(context, operation, tool, (parsed, on) => probe(parsed, on)) : null
  const answer = seen && "answer" in seen ? seen.answer : null
  const usable = answer !== null && (answer.kind === "found" || (answer.kind === "absent" && answer.complete))
  const applied = await applyEvent(
    context,
    operation.operation_id,
    (row) => {
      if (row.state !== "ready" || row.looked_before) return null
      const now = context.journal.now()
      if (!usable) {
        const text = seen && "failed" in seen ? seen.failed.text : "the look before attempt 1 said nothing"
        return {
          type: "postpone",
          until: Math.min(nextAttemptAt({ failures: 1, now, unit: context.random.unit() }), row.deadline_at),
          reason: { code: "look_before_failed", text },
        }
      }
      const candidates = answer.kind === "found" ? answer.candidates : []
      return {
        type: "looked_before",
        seen: candidates.slice(0, DEFAULTS.seen_max).map((one) => one.object_id),
        version: candidates[0]?.version ?? null,
        full_match: candidates.find((one) => fullMatch(row, one))?.object_id ?? null,
      }
    },
    { actor: "engine" },
  )
  return applied.operation
}

function fullMatch(operation: Operation, candidate: Candidate): boolean {
  const expectation = operation.expectation
  if (!expectation) return false
  return [expectation.match, expectation.effect, expectation.invariant].every(
    (list) => compareAll(list, candidate.state).outcome === "holds",
  )
}
