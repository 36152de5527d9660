// Hunts a grant or a payload that leaves the journal through a list, and a row that cannot be shown at all.

import { operationView, operationViewSchema, STATE_NAMES } from "@invokejs/protocol"
import { expect, expectTypeOf, test } from "vitest"
import { anAttempt, anOperation, NOW } from "./an-operation.ts"

const SECRET = "must-not-be-shown"

test.each(STATE_NAMES)("an operation in %s is shown, and its view survives the wire [AU-1]", (state) => {
  const view = operationView(anOperation(state), NOW)
  expect(operationViewSchema.parse(JSON.parse(JSON.stringify(view)))).toEqual(view)
  expectTypeOf(operationViewSchema.parse(view)).toEqualTypeOf(view)
})

test("parameters, output, provider keys and lease tokens are not shown", () => {
  const operation = anOperation("succeeded", {
    params: { card: SECRET },
    output: { token: SECRET },
    head_hash: SECRET,
    attempts: [anAttempt({ provider_key: SECRET, lease_token: SECRET, request_digest: SECRET })],
    evidence: [
      {
        evidence_id: "e1",
        source: "answer",
        rank: "observed",
        attempt: 1,
        generation: 0,
        observed_from: NOW,
        recorded_at: NOW,
        finding: {
          kind: "applied",
          output: { token: SECRET },
          candidate: { object_id: "ch_1", state: { iban: SECRET } },
        },
      },
    ],
  })
  const view = operationView(operation, NOW)
  expect(JSON.stringify(view)).not.toContain(SECRET)
  expect(view.evidence).toMatchObject([{ finding: "applied", object_ids: ["ch_1"] }])
  expect(view.identity).toEqual({ invoice: "84721" })
})

test("the confirmed object, the reason and the waits are shown as they are", () => {
  const operation = anOperation("succeeded", {
    object: { object_id: "ch_1", account: "acct", kind: "charge" },
    reason: { code: "c", text: "t" },
    duplicates: { count: 2, last_at: NOW },
  })
  expect(operationView(operation, NOW)).toMatchObject({
    object_id: "ch_1",
    reason: { code: "c", text: "t" },
    duplicates: { count: 2, last_at: "2025-01-31T12:00:00.000Z" },
    settled_at: "2025-01-31T11:59:59.000Z",
    next_check_at: null,
  })
})

test("somebody is looking while the probe's lease lasts, and not after it", () => {
  const probes = { answered: 1, failed: 0, last_at: NOW, lease: { worker_id: "w", until: NOW + 10 } }
  expect(operationView(anOperation("unknown", { probes }), NOW).probes.running).toBe(true)
  expect(operationView(anOperation("unknown", { probes }), NOW + 10).probes.running).toBe(false)
})
