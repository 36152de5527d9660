// Hunts: an oracle that passes what it was made to find.
import { describe, expect, test } from "vitest"
import { judgeAudit, judgeParallel, judgeRound } from "./race-oracle.mjs"

const TIMES = { started_ms: 1, ended_ms: 2 }
const answer = (status: string, more: { operation_id?: string; output?: string; holder?: string } = {}) => ({
  status,
  operation_id: "op_1",
  output: '"mail_1"',
  holder: null,
  ...more,
  ...TIMES,
})

describe("a round of one action", () => {
  const judge = (answers: Parameters<typeof judgeRound>[0]["answers"], effects = 1) =>
    judgeRound({ round: "r", kind: "explicit", answers, effects })

  test("with one effect, one answer that made it and replays is right", () => {
    expect(judge([answer("replayed"), answer("succeeded"), answer("replayed")])).toEqual([])
  })

  test.each([
    ["two effects", [answer("succeeded"), answer("replayed")], 2, "r (explicit): 2 effects"],
    ["no effect", [answer("succeeded"), answer("replayed")], 0, "r (explicit): 0 effects"],
    ["two that made it", [answer("succeeded"), answer("succeeded")], 1, "r (explicit): 2 answers say succeeded"],
    [
      "two operations",
      [answer("succeeded"), answer("replayed", { operation_id: "op_2" })],
      1,
      "r (explicit): 2 operation ids",
    ],
    [
      "another output",
      [answer("succeeded"), answer("replayed", { output: '"mail_2"' })],
      1,
      'r (explicit): 2 outputs: "mail_1", "mail_2"',
    ],
    ["an answer that is none", [answer("succeeded"), answer("unknown")], 1, "r (explicit): told unknown"],
    ["an error", [answer("succeeded"), { error: "overloaded", ...TIMES }], 1, "r (explicit): told overloaded"],
  ])("with %s is wrong", (_what, answers, effects, text) => {
    expect(judge(answers, effects)).toContain(text)
  })
})

describe("a round of one intent under many keys", () => {
  const judge = (answers: Parameters<typeof judgeRound>[0]["answers"]) =>
    judgeRound({ round: "r", kind: "intent", answers, effects: 1 })

  test("with one that acts and others that name it is right", () => {
    expect(judge([answer("succeeded"), answer("refused", { operation_id: "op_2", holder: "op_1" })])).toEqual([])
  })

  test("with a second that acts, or a refusal that names nobody, is wrong", () => {
    expect(judge([answer("succeeded"), answer("replayed", { operation_id: "op_2" })])).toContain(
      "r (intent): another key was told replayed",
    )
    expect(judge([answer("succeeded"), answer("refused", { operation_id: "op_2" })])).toContain(
      "r (intent): op_2 does not name its holder",
    )
  })
})

describe("the rest of a race", () => {
  test("parallel calls are right only as one effect and replays of it", () => {
    const tally = { answers: 3, by_status: { succeeded: 1, replayed: 2 }, operations: 1, outputs: 1 }
    expect(judgeParallel(tally, { calls: 3, effects: 1 })).toEqual([])
    expect(judgeParallel(tally, { calls: 3, effects: 2 })).toEqual(["parallel: 2 effects"])
    expect(
      judgeParallel({ ...tally, by_status: { succeeded: 2, replayed: 1 } }, { calls: 3, effects: 1 }),
    ).toHaveLength(1)
    expect(judgeParallel({ ...tally, operations: 2 }, { calls: 3, effects: 1 })).toHaveLength(1)
  })

  test("a lost row and a broken chain are wrong", () => {
    expect(judgeAudit({ operations: 10, faults: [] }, 10)).toEqual([])
    expect(judgeAudit({ operations: 9, faults: ["op_1: missing at 2"] }, 10)).toHaveLength(2)
  })
})
