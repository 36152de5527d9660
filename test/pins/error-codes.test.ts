// Hunts an error code that came, went or changed its meaning without anybody meaning it: callers branch on these words.
// A red pin means: make it deliberate. Change the literal and CHANGELOG.md, and run `npm run docs`.

import { ERROR_CODES, ERRORS, JOURNAL_ERRORS } from "@invokejs/protocol"
import { expect, test } from "vitest"

/** code, HTTP status (null: it never crosses the wire), exit code (null: the result's), same call again?, nothing ran */
const PINNED = [
  ["invalid_request", 400, 2, "after_code_change", true],
  ["unsupported_option", 400, 2, "after_code_change", true],
  ["identity_required", 400, 2, "after_code_change", true],
  ["definition_invalid", null, 2, "after_code_change", true],
  ["applied_missing", null, 2, "after_code_change", true],
  ["expect_missing", null, 2, "after_code_change", true],
  ["probe_without_cause", null, 2, "after_code_change", true],
  ["resource_missing", null, 2, "after_code_change", true],
  ["duplicate_tool", null, 2, "after_code_change", true],
  ["identity_changed", null, 2, "after_code_change", true],
  ["config_invalid", null, 2, "after_code_change", true],
  ["journal_unusable", null, 2, "after_code_change", true],
  ["unknown_tool", 404, 2, "after_code_change", true],
  ["operation_not_found", 404, 2, "after_code_change", true],
  ["invalid_params", 422, 2, "with_other_params", true],
  ["idempotency_key_reused", 422, 4, "no", true],
  ["payload_too_large", 413, 2, "no", true],
  ["unauthenticated", 401, 4, "no", true],
  ["forbidden", 403, 4, "no", true],
  ["supersedes_refused", 409, 4, "after_reading_the_operation", true],
  ["retry_refused", 409, 4, "after_reading_the_operation", true],
  ["version_conflict", 409, 4, "after_reading_the_operation", true],
  ["illegal_transition", 409, 4, "after_reading_the_operation", true],
  ["rate_limited", 429, 1, "same_key", true],
  ["overloaded", 503, 1, "same_key", true],
  ["draining", 503, 1, "same_key", true],
  ["journal_unavailable", 503, 1, "same_key", true],
  ["quarantined", 503, 1, "same_key", true],
  ["internal", 500, 1, "same_key", true],
  ["unsettled", null, null, "same_key", false],
  ["not_in_place", null, null, "after_reading_the_operation", false],
]

test("the error codes are the pinned ones", () => {
  const codes = ERROR_CODES.map((code) => {
    const { http, exit, same_call_again, nothing_ran } = ERRORS[code]
    return [code, http, exit, same_call_again, nothing_ran]
  })
  expect(codes).toEqual(PINNED)
})

test("the journal's own errors reach callers under the pinned codes [item 12]", () => {
  expect(JOURNAL_ERRORS).toEqual({
    journal_unavailable: "journal_unavailable",
    journal_full: "journal_unavailable",
    journal_read_only: "journal_unavailable",
    journal_corrupt: "journal_unavailable",
    journal_replaced: "journal_unavailable",
    journal_closed: "draining",
    journal_newer: "journal_unusable",
    journal_unsafe_location: "journal_unusable",
    overloaded: "overloaded",
  })
})
