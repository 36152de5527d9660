/**
 * The wire schema of a Result: what clients check and OpenAPI prints.
 *
 * RW1. A combination of words that is not a row of the result table does not parse.
 * RW2. Unknown members are kept out: a newer server's extra fields do not reach code that was not written for them.
 */
import { z } from "zod"
import { canonicalJson, type Json } from "./canonical-json.ts"
import { evidenceSummarySchema } from "./evidence-summary.ts"
import { CAUSES, VERDICTS } from "./evidence.ts"
import { DECISIONS, FINAL_OUTCOMES, isResultCore, RESULT_STATUSES, RETRIES, ROW_IDS } from "./result-table.ts"
import type { Result } from "./result.ts"

const time = z.iso.datetime()
const reason = z.object({ code: z.string(), text: z.string() })

/** Any JSON value. Parsed by canonical JSON's own rules, so that what is accepted here can be hashed there. */
export const jsonSchema = z.custom<Json>((value) => {
  try {
    canonicalJson(value)
    return true
  } catch {
    return false
  }
}, "must be JSON")

const traceStep = z.object({
  step: z.enum(["admitted", "dispatched", "looked_up", "settled"]),
  status: z.string(),
  at: time,
  attempt: z.int().optional(),
  http_status: z.int().optional(),
  code: z.string().optional(),
})

/** The members of a Result, each by itself. OpenAPI prints this; `resultSchema` also checks that they make a row (RW1). */
export const resultFieldsSchema = z.object({
  operation_id: z.string().min(1),
  row: z.enum(ROW_IDS),
  status: z.enum(RESULT_STATUSES),
  final_outcome: z.enum(FINAL_OUTCOMES),
  decision: z.enum(DECISIONS),
  retry: z.enum(RETRIES),
  ok: z.boolean(),
  settled: z.boolean(),
  http: z.union([z.literal(200), z.literal(202)]),
  exit: z.union([z.literal(0), z.literal(3), z.literal(4), z.literal(5), z.literal(6)]),
  attempt: z.int().min(0),
  idempotency_key: z.string(),
  output: jsonSchema.nullable(),
  output_error: z.string().nullable(),
  output_purged: z.boolean(),
  error: reason.nullable(),
  reason: reason.nullable(),
  cause: z.enum(CAUSES).nullable(),
  verdict: z.enum(VERDICTS).nullable(),
  reconciling: z.boolean(),
  evidence: z.array(evidenceSummarySchema),
  trace: z.array(traceStep),
  replayed_from: z.object({ operation_id: z.string(), attempt: z.int(), at: time }).nullable(),
  superseded_by: z.string().nullable(),
  compensated_by: z.string().nullable(),
  held_by: z.string().nullable(),
  next_check_at: time.nullable(),
  approval_id: z.string().nullable(),
  current_state: z.string().nullable(),
  legal_actions: z.array(z.string()).nullable(),
  durable: z.boolean(),
  agent_text: z.string(),
})

export const resultSchema = resultFieldsSchema.refine((value) => isResultCore(value), {
  error: "is no row of the result table",
  path: ["row"],
})

/** A Result from the wire. Throws `ZodError` for anything that is not one. */
export function parseResult(value: unknown): Result {
  // The refinement has compared every word of the core with the table, which is what the type says.
  return resultSchema.parse(value) as Result
}
