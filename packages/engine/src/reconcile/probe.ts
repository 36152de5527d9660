/**
 * One look at the outside world: run the tool's probe, write down what it saw, let `judge()` conclude (protocol §6).
 *
 * Owns: the probe's lease, its time limit, its evidence with the *start* of the look.
 *
 * PB1. Losing the probe's lease changes nothing; two looks at once do no harm.
 * PB2. A probe that throws, or is not answered in time, is no negative and costs no budget.
 * PB3. What other operations are confirmed by, and how many rivals there are, is read before the evidence is written and read
 *      again whenever the write meets a conflict.
 */
import {
  DEFAULTS,
  InvokeError,
  objectKey,
  type Candidate,
  type Evidence,
  type Finding,
  type JudgeContext,
  type Operation,
} from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import { providerKeyOf } from "../dispatch/dispatch-record.ts"
import { applyEvent } from "../operation-writer.ts"
import { parseStored } from "../stored-params.ts"
import { withTimeLimit } from "../time-limit.ts"
import { readTransport } from "./read-transport.ts"
import type { CompiledTool, ProbeAnswer, ProbeContext } from "../tool/compiled-tool.ts"

export async function probeOperation(context: EngineContext, operation: Operation, tool: CompiledTool): Promise<void> {
  if (!tool.probe) return
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
  if (started.ok) await lookAndRecord(context, started.operation, tool)
}

/** One look under a lease that is held, and what it found on record. */
export async function lookAndRecord(context: EngineContext, operation: Operation, tool: CompiledTool): Promise<void> {
  const { probe } = tool
  if (!probe) return
  const observed_from = context.journal.now()
  const seen = await runProbe(context, operation, tool, (parsed, on) => probe(parsed, on))
  if ("failed" in seen) {
    await applyEvent(
      context,
      operation.operation_id,
      (row) => (row.settled_at === null ? { type: "probe_unanswered", reason: seen.failed } : null),
      { actor: "engine" },
    )
    return
  }
  await recordFinding(context, operation.operation_id, findingOf(seen.answer, generationsSearched(operation)), {
    evidence_id: context.ids.event(),
    source: "probe",
    observed_from,
    generation: operation.generation,
  })
}

interface Look {
  readonly evidence_id: string
  readonly source: Evidence["source"]
  readonly observed_from: number
  readonly generation: number
}

/** Writes what a look found. The judgement is made inside the transition, over everything recorded by then. */
export async function recordFinding(
  context: EngineContext,
  operation_id: string,
  finding: Finding,
  look: Look,
): Promise<void> {
  const candidates =
    finding.kind === "look"
      ? finding.candidates
      : "candidate" in finding && finding.candidate
        ? [finding.candidate]
        : []
  await applyEvent(
    context,
    operation_id,
    async (row) => {
      if (row.evidence.some((one) => one.evidence_id === look.evidence_id)) return null
      const judging = await judgeContext(context, row, candidates)
      const named = finding.kind === "not_applied" || finding.kind === "fenced"
      return {
        type: "evidence",
        context: judging,
        evidence: {
          evidence_id: look.evidence_id,
          source: look.source,
          rank: "observed",
          attempt: null,
          generation: named ? look.generation : null,
          observed_from: look.observed_from,
          recorded_at: judging.now,
          finding,
        },
      }
    },
    { actor: "engine" },
  )
}

async function judgeContext(
  context: EngineContext,
  operation: Operation,
  candidates: readonly Candidate[],
): Promise<JudgeContext> {
  const known = operation.evidence.flatMap((one) => (one.finding.kind === "look" ? one.finding.candidates : []))
  const objects = [...known, ...candidates].map((one) => ({
    object_id: one.object_id,
    account: one.account ?? "",
    kind: one.kind ?? "",
  }))
  const tool = context.tools.of(operation)
  const byCreation = operation.contract.lookup?.correlates === "created"
  const rows =
    objects.length === 0 ? [] : await context.journal.confirmations(operation.tenant, objects, operation.operation_id)
  return {
    now: context.journal.now(),
    taken: rows.map((row) => objectKey(row)),
    rivals: byCreation ? await context.journal.rivals(operation) : 0,
    clock_stepped_at: context.clock_stepped_at(),
    ...(tool ? { contract: tool.contract, own_keys: forgottenKeys(context, operation, tool) } : {}),
  }
}

/** Keys of attempts that a restored journal may have forgotten: its generations without an attempt, and as many as could follow. */
function forgottenKeys(context: EngineContext, operation: Operation, tool: CompiledTool): readonly string[] {
  if (operation.restored === null) return []
  const known = new Set(operation.attempts.map((attempt) => attempt.generation))
  const last = operation.generation + operation.attempts_max
  return Array.from({ length: last + 1 }, (_, generation) => generation)
    .filter((generation) => !known.has(generation))
    .map((generation) => providerKeyOf(context, operation, tool, generation))
}

function generationsSearched(operation: Operation): readonly number[] {
  return [...new Set([...operation.attempts.map((attempt) => attempt.generation), operation.generation])]
}

/** Runs a probe or fence in its limits. What it throws says nothing about the world. */
export async function runProbe<A>(
  context: EngineContext,
  operation: Operation,
  tool: CompiledTool,
  run: (parsed: unknown, on: ProbeContext) => Promise<A>,
  limit_ms: number = DEFAULTS.probe_timeout_ms,
): Promise<{ readonly answer: A } | { readonly failed: { readonly code: string; readonly text: string } }> {
  const reads = readTransport(context, limit_ms)
  try {
    const parsed = await parseStored(tool, operation.params)
    if (!parsed.ok)
      return { failed: { code: "params_unreadable", text: "today's schema refuses the stored parameters" } }
    const first = operation.attempts[0]
    const used = operation.attempts.map((attempt) => attempt.provider_key)
    const answer = await withTimeLimit(context.clock, limit_ms, (signal) =>
      run(parsed.value, {
        operationId: operation.operation_id,
        providerKeys: [...new Set([...used, ...forgottenKeys(context, operation, tool)])],
        firstDispatchedAt: first ? dateOf(first.dispatched_at) : null,
        signal,
        fetch: reads.fetch,
      }),
    )
    return { answer }
  } catch (error) {
    return { failed: { code: "probe_failed", text: errorText(error) } }
  } finally {
    reads.close("the look ended")
  }
}

function dateOf(ms: number): Date {
  return new Date(ms)
}

export function errorText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return text.slice(0, 500).toWellFormed()
}

function findingOf(answer: ProbeAnswer, generations: readonly number[]): Finding {
  switch (answer.kind) {
    case "found":
      if (answer.candidates.length > DEFAULTS.seen_max) {
        return { kind: "unsure", reason: `${answer.candidates.length} objects were found: the lookup must be narrower` }
      }
      return {
        kind: "look",
        candidates: answer.candidates,
        complete: answer.complete,
        search: answer.search,
        generations,
      }
    case "absent":
      return { kind: "look", candidates: [], complete: answer.complete, search: answer.search, generations }
    case "unsure":
      return { kind: "unsure", reason: answer.reason }
    case "not_applied":
      return { kind: "not_applied", reason: answer.reason, permanent: answer.permanent }
    default:
      throw new InvokeError("definition_invalid", {
        happened: "a probe answered something that is not found, absent or unsure",
      })
  }
}
