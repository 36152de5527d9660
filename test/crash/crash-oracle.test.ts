// Hunts: an oracle that passes a doubled effect, a lost action, or a promise that was taken back.
import { describe, expect, test } from "vitest"
import { judgeAction, type ActionRun, type End, type Told } from "./oracle.mjs"

const ONE: End = { outcome: "ok", effects: 1 }
const told = (status: string, more: Partial<Extract<Told, { status: string }>> = {}): Told => ({
  marker: "m",
  status,
  final_outcome: "already_succeeded",
  ok: true,
  settled: true,
  operation_id: "op_1",
  ...more,
})
const OPEN = { ok: false, settled: false, final_outcome: "unknown" }
const held = { marker: "m", operation_id: "op_1", state: "succeeded", attempts: 1 }

/** A run in which all is right: the caller died, the action was reconciled with one effect, the repeat was a replay. */
const RIGHT: ActionRun = {
  marker: "m",
  told: null,
  found: [held],
  settled: { told: told("reconciled"), effects: 1 },
  repeated: { told: told("replayed"), effects: 1 },
  held: [held],
}

function judge(run: Partial<ActionRun>, cell: { safety?: string; settled?: End; repeated?: End } = {}): string[] {
  return judgeAction({ safety: "write-once-checkable", settled: ONE, repeated: ONE, ...cell }, { ...RIGHT, ...run })
}

describe("a run", () => {
  test("with one effect, one operation and a replay is right", () => {
    expect(judge({})).toEqual([])
  })

  test("that doubles the effect is wrong at the moment at which it did", () => {
    expect(judge({ repeated: { told: told("replayed"), effects: 2 } })).toContain("repeated: 2 effects")
    expect(judge({ settled: { told: told("reconciled"), effects: 2 } })).toContain("settled: 2 effects")
  })

  test("that says ok without an effect, or denies one that is there, is wrong", () => {
    expect(judge({ settled: { told: told("reconciled"), effects: 0 } })).toContain("settled: told ok with 0 effects")
    const denied = told("not_applied", { ok: false, final_outcome: "not_executed" })
    expect(judge({ settled: { told: denied, effects: 1 } })).toContain("settled: not applied with 1 effects")
  })

  test("that is left open, or given to a person without need, is wrong", () => {
    expect(judge({ settled: { told: told("unknown", OPEN), effects: 1 } })).toContain("settled: left unknown")
    const review = { told: told("needs_review", OPEN), effects: 1 }
    expect(judge({ settled: review })).toContain("settled: a person is asked about what can be found out")
    const end: End = { outcome: "review", effects: 1 }
    expect(
      judge({ settled: review, repeated: review }, { safety: "irreversible", settled: end, repeated: end }),
    ).toEqual([])
  })

  test("that loses its operation, or makes a second one, is wrong", () => {
    expect(judge({ held: [] })).toEqual(["0 operations for one action", "operation op_1 was lost"])
    expect(judge({ held: [held, { ...held, operation_id: "op_2" }] })).toContain("2 operations for one action")
  })

  test("that told an error, and had reserved something, is wrong", () => {
    const refused: Told = { marker: "m", error: "journal_unavailable" }
    expect(judge({ told: refused, found: [] })).toEqual([])
    expect(judge({ told: refused })).toEqual(["first told that nothing was reserved, and op_1 exists"])
    expect(judge({ told: { marker: "m", error: "internal" } })).toEqual(["first told internal"])
  })

  test("that takes back what the first caller was told is wrong", () => {
    expect(judge({ told: told("succeeded") })).toEqual([])
    const other = { told: told("replayed", { operation_id: "op_2" }), effects: 1 }
    expect(judge({ told: told("succeeded"), repeated: other })).toContain(
      "first told op_1, and it is another operation now",
    )
    const review = { told: told("needs_review", OPEN), effects: 1 }
    expect(judge({ told: told("succeeded"), repeated: review })).toContain("first told ok, then review")
  })
})
