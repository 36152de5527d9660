// Hunts a row of the result table that came, went or changed without anybody meaning it: callers branch on these words.
// A red pin means: make it deliberate. Change the literal, CHANGELOG.md and the interfaces page together.

import { isResultCore, RESULT_TABLE, ROW_IDS } from "@invokejs/protocol"
import { expect, test } from "vitest"

/** row, status, final_outcome, decision, retry, HTTP, exit, Idempotent-Replayed */
const PINNED = [
  ["held", "held", "pending", "wait", "blocked", 202, 3, false],
  ["awaiting_approval", "awaiting_approval", "pending", "wait", "blocked", 202, 3, false],
  ["refused", "refused", "not_executed", "replan", "after_replan", 200, 4, false],
  ["refused_duplicate", "refused", "not_executed", "escalate", "blocked", 200, 4, false],
  ["denied", "denied", "not_executed", "replan", "after_replan", 200, 4, false],
  ["expired", "expired", "not_executed", "replan", "after_replan", 200, 4, false],
  ["cancelled", "cancelled", "not_executed", "replan", "after_replan", 200, 4, false],
  ["replan_unsent", "replan", "not_executed", "replan", "after_replan", 200, 4, false],
  ["replan_disproved", "replan", "not_executed", "replan", "after_replan", 200, 5, false],
  ["in_progress", "in_progress", "pending", "wait", "automatic", 202, 3, false],
  ["accepted", "accepted", "pending", "wait", "automatic", 202, 3, false],
  ["unknown", "unknown", "unknown", "wait", "automatic", 202, 3, false],
  ["unknown_quarantined", "unknown", "unknown", "wait", "blocked", 202, 3, false],
  ["needs_review", "needs_review", "unknown", "wait", "blocked", 202, 3, false],
  ["needs_review_accepted", "needs_review", "pending", "wait", "blocked", 202, 3, false],
  ["needs_review_diverged", "needs_review", "drifted", "replan", "blocked", 202, 6, false],
  ["succeeded", "succeeded", "succeeded", "do_not_retry", "blocked", 200, 0, false],
  ["reconciled", "reconciled", "already_succeeded", "do_not_retry", "blocked", 200, 0, false],
  ["replayed", "replayed", "already_succeeded", "do_not_retry", "blocked", 200, 0, true],
  ["undone", "undone", "undone", "replan", "after_replan", 200, 5, false],
  ["failed", "failed", "failed", "replan", "after_replan", 200, 5, false],
  ["not_applied", "not_applied", "not_executed", "retry_allowed", "allowed", 200, 5, false],
  ["not_applied_spent", "not_applied", "not_executed", "replan", "after_replan", 200, 5, false],
  ["closed_unknown", "closed_unknown", "unknown", "escalate", "blocked", 200, 3, false],
  ["contradicted", "needs_review", "unknown", "wait", "blocked", 202, 3, false],
]

test("the rows of the result table are the pinned ones [ST-9]", () => {
  const rows = ROW_IDS.map((row) => {
    const { status, final_outcome, decision, retry, http, exit, replayed } = RESULT_TABLE[row]
    return [row, status, final_outcome, decision, retry, http, exit, replayed]
  })
  expect(rows).toEqual(PINNED)
})

test("the rows a successor can replace, and the right each plan needs, are the pinned ones [ID-12] [item 29]", () => {
  expect(ROW_IDS.filter((row) => RESULT_TABLE[row].supersedable)).toEqual([
    "refused",
    "refused_duplicate",
    "denied",
    "expired",
    "cancelled",
    "replan_unsent",
    "replan_disproved",
    "undone",
    "failed",
    "not_applied",
    "not_applied_spent",
  ])
  expect(ROW_IDS.filter((row) => RESULT_TABLE[row].needs === "supersede")).toEqual([
    "denied",
    "replan_disproved",
    "undone",
    "failed",
    "not_applied_spent",
  ])
  expect(ROW_IDS.filter((row) => RESULT_TABLE[row].needs === "retry")).toEqual(["not_applied"])
})

test("a row from the wire is checked against the same words", () => {
  const [row, status, final_outcome, decision, retry, http, exit] = PINNED[0] ?? []
  const words = { row, status, final_outcome, decision, retry, http, exit, ok: false, settled: false }
  expect(isResultCore(words)).toBe(true)
  expect(isResultCore({ ...words, retry: "automatic" })).toBe(false)
})
