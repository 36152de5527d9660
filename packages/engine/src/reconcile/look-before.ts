/**
 * The look before attempt 1 of tools that could not recognise their own effect afterwards (item 16).
 *
 * LB1. If it fails: the operation stays `ready` with backoff, and nothing was sent.
 * LB2. What it did not see could be taken for our own object later: a look for existing objects counts only if it was complete,
 *      and no search. A `state` tool only needs its resource's version.
 */
import { compareAll, DEFAULTS, nextAttemptAt, type Candidate, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import { runProbe } from "./probe.ts"
import type { CompiledTool, ProbeAnswer } from "../tool/compiled-tool.ts"

export async function lookBefore(context: EngineContext, operation: Operation, tool: CompiledTool): Promise<Operation> {
  const { probe } = tool
  const seen = probe
    ? await runProbe(context, operation, tool, (parsed, on) => probe(parsed, on), DEFAULTS.look_before_ms)
    : null
  const answer = seen && "answer" in seen ? usable(operation, seen.answer) : null
  const applied = await applyEvent(
    context,
    operation.operation_id,
    (row) => {
      if (row.state !== "ready" || row.looked_before) return null
      const now = context.journal.now()
      if (answer === null) {
        const text = seen && "failed" in seen ? seen.failed.text : "the look before attempt 1 said nothing"
        return {
          type: "postpone",
          until: Math.min(
            nextAttemptAt({ failures: failuresSince(row, now), now, unit: context.random.unit() }),
            row.deadline_at,
          ),
          reason: { code: "look_before_failed", text },
        }
      }
      const candidates = answer.kind === "found" ? answer.candidates : []
      return {
        type: "looked_before",
        seen: candidates.map((one) => one.object_id),
        version: candidates.find((one) => isOurs(row, one))?.version ?? null,
        full_match: candidates.find((one) => fullMatch(row, one))?.object_id ?? null,
      }
    },
    { actor: "engine" },
  )
  return applied.operation
}

/** Looks that failed are not counted in the row: as many as fit, doubling, into the time for which it has been waiting. */
function failuresSince({ state_since: since }: Operation, now: number): number {
  return 1 + Math.floor(Math.log2(1 + Math.max(0, now - since) / DEFAULTS.backoff_min_ms))
}

type Usable = Extract<ProbeAnswer, { kind: "found" | "absent" }>

/** LB2. */
function usable(operation: Operation, answer: ProbeAnswer): Usable | null {
  if (answer.kind !== "found" && answer.kind !== "absent") return null
  if (operation.contract.lookup?.correlates === "state" && answer.kind === "found") return answer
  return answer.complete && !answer.search ? answer : null
}

/** The resource itself, among what was found. */
function isOurs(operation: Operation, candidate: Candidate): boolean {
  return compareAll(operation.expectation?.match ?? {}, candidate.state).outcome === "holds"
}

function fullMatch(operation: Operation, candidate: Candidate): boolean {
  const expectation = operation.expectation
  if (!expectation) return false
  return [expectation.match, expectation.effect, expectation.invariant].every(
    (list) => compareAll(list, candidate.state).outcome === "holds",
  )
}
