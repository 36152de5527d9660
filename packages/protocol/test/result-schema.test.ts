// Hunts an answer that the server can build and a client refuses, and words from the wire that a client takes for a result.

import { buildResult, parseResult, resultSchema, STATE_NAMES, type Evidence, type Result } from "@invokejs/protocol"
import fc from "fast-check"
import { expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import { anAttempt, anOperation, NOW, seen } from "./an-operation.ts"

const found: Evidence = {
  evidence_id: "e1",
  source: "probe",
  rank: "observed",
  attempt: null,
  generation: 0,
  observed_from: NOW,
  recorded_at: NOW,
  finding: {
    kind: "look",
    candidates: [{ object_id: "ch_1", state: { charged: true } }],
    complete: true,
    search: false,
    generations: [0],
  },
}

test("every result survives the wire unchanged [ST-9]", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...STATE_NAMES),
      fc.constantFrom<"first" | "later">("first", "later"),
      fc.boolean(),
      fc.jsonValue(),
      (state, telling, right, output) => {
        const operation = anOperation(state, {
          output: output as Result["output"],
          evidence: [found],
          attempts: [anAttempt({ http_status: 201, reason: { code: "c", text: "t" } })],
          probes: { answered: 1, failed: 0, lease: { worker_id: "w", until: NOW + 1 }, last_at: NOW },
        })
        const result = buildResult(operation, seen({ telling, rights: { retry: right, supersede: right } }))
        const wire: unknown = JSON.parse(JSON.stringify(result))
        expect(parseResult(wire)).toEqual(wire)
      },
    ),
  )
})

const result: unknown = JSON.parse(JSON.stringify(buildResult(anOperation("unknown"), seen())))
const change = (members: object) => resultSchema.safeParse({ ...(result as object), ...members }).success

test("words that make no row, missing members and wrong kinds do not parse [ST-9]", () => {
  expect(change({})).toBe(true)
  expect(change({ retry: "allowed" })).toBe(false)
  expect(change({ ok: true })).toBe(false)
  expect(change({ row: "succeeded" })).toBe(false)
  expect(change({ exit: 0 })).toBe(false)
  expect(change({ operation_id: "" })).toBe(false)
  expect(change({ agent_text: undefined })).toBe(false)
  expect(change({ next_check_at: "tomorrow" })).toBe(false)
  expect(change({ output: { a: Number.NaN } })).toBe(false)
})

test("members that this release does not know are kept out", () => {
  expect(Object.keys(parseResult({ ...(result as object), surprise: 1 }))).not.toContain("surprise")
})

test("what is parsed is a Result, and the schema can be printed as JSON Schema", () => {
  expectTypeOf(parseResult(result)).toEqualTypeOf<Result>()
  const printed = z.toJSONSchema(resultSchema, { unrepresentable: "any" })
  expect(printed.required).toContain("agent_text")
})
