// Hunts an oracle that cannot fail: every rule is shown a history that breaks it, the honest one beside it, and what nobody can know.
import { History, judgeRun, ORACLE_RULES, type OracleRule } from "@invokejs/testkit/internal"
import { describe, expect, test } from "vitest"

type Change = (history: History) => void

const REQUEST = { process: "p1", tool: "charge", action: "a1", operation_id: "op1", attempt: 1, key: "k1", body: "b1" }
const ANSWER = {
  at: 1_000,
  called_at: 0,
  process: "p1",
  verb: "call",
  tool: "charge",
  action: "a1",
  operation_id: "op1",
  ok: true,
  settled: true,
  replayed: false,
  outcome: "succeeded",
  attempt: 1,
  object_id: null,
  error: null,
} as const
const ENDING = {
  operation_id: "op1",
  action: "a1",
  tool: "charge",
  state: "succeeded",
  terminal: true,
  contradicted: false,
  object_id: null,
  rivals: false,
  attempt_open: false,
  sets: null,
} as const

function history(...changes: readonly Change[]): History {
  const made = new History()
  const nature = { transport: "invoke", settles: "itself", remembers: null, max_execution_ms: 1_000 } as const
  made.natures.push({ tool: "charge", makes: "object", ...nature })
  made.natures.push({ tool: "keyed", makes: "object", ...nature, remembers: { for_ms: 100_000, races: false } })
  made.natures.push({ tool: "mail", makes: "object", ...nature, transport: "opaque", settles: "person" })
  made.natures.push({ tool: "tier", makes: "state", ...nature })
  for (const change of changes) change(made)
  return made
}

const record =
  (over: Partial<History["records"][number]> = {}): Change =>
  (one) =>
    one.records.push({
      operation_id: "op1",
      attempt: 1,
      committed_at: 0,
      budget_ms: 25_000,
      in_quarantine: false,
      bytes_known_at: null,
      ...over,
    })

/** A request with its record, and the effect that it has, if any. */
const sent =
  (over: Partial<History["requests"][number]> & { effect_at?: number | null; reversed_at?: number } = {}): Change =>
  (one) => {
    const { effect_at = null, reversed_at = null, ...rest } = over
    const request = { ...REQUEST, at: 10, landed_at: effect_at, repeated: false, ...rest, n: one.requests.length + 1 }
    const { operation_id, attempt, tool, action } = request
    if (!one.records.some((known) => known.operation_id === operation_id && known.attempt === attempt))
      record({ operation_id, attempt, committed_at: request.at, bytes_known_at: request.at + 1 })(one)
    one.requests.push(request)
    if (effect_at === null) return
    const object_id = `obj_${one.effects.length + 1}`
    const effect = { at: effect_at, tool, action, operation_id, attempt, request: request.n, object_id }
    one.effects.push({ ...effect, repeated: false, reversed_at })
  }

const repeatedBySomebody: Change = (one) => {
  const [effect] = one.effects
  for (const request of one.requests) request.repeated = true
  if (effect) one.effects.push({ ...effect, object_id: "obj_again", repeated: true })
}
const told =
  (over: Partial<History["answers"][number]> = {}): Change =>
  (one) =>
    one.answers.push({ ...ANSWER, ...over })
const ended =
  (over: Partial<History["endings"][number]> = {}): Change =>
  (one) => {
    one.endings = [...one.endings, { ...ENDING, ...over }]
  }
const forgot =
  (operation_id: string, attempt: number, at: number): Change =>
  (one) =>
    one.restores.push({ at, snapshot_at: 0, forgotten: [{ operation_id, attempt, accounted: false }] })
const write =
  (over: Partial<History["writes"][number]>): Change =>
  (one) =>
    one.writes.push({
      at: 0,
      tool: "tier",
      resource: "r1",
      value: "gold",
      version: one.writes.length + 1,
      operation_id: null,
      attempt: 0,
      ...over,
    })

const SECOND = { at: 50_000, attempt: 2 } as const
const NO = { ok: false, outcome: "not_executed" } as const

interface Case {
  readonly rule: OracleRule
  readonly says: "violation" | "info" | "nothing"
  readonly of: string
  readonly changes: readonly Change[]
}

const CASES: readonly Case[] = [
  {
    rule: "one_effect",
    says: "violation",
    of: "two effects",
    changes: [sent({ effect_at: 20 }), sent({ ...SECOND, effect_at: 50_010 })],
  },
  {
    rule: "one_effect",
    says: "nothing",
    of: "one effect after an attempt that had none",
    changes: [sent(), sent({ ...SECOND, effect_at: 50_010 })],
  },
  {
    rule: "one_effect",
    says: "nothing",
    of: "two effects, one of them by leave",
    changes: [
      sent({ effect_at: 20 }),
      (one) => one.grants.push({ at: 40_000, action: "a1" }),
      sent({ at: 50_000, operation_id: "op2", effect_at: 50_010 }),
    ],
  },
  {
    rule: "one_effect",
    says: "violation",
    of: "three effects, one of them by leave",
    changes: [
      sent({ effect_at: 20 }),
      (one) => one.grants.push({ at: 40_000, action: "a1" }),
      sent({ at: 50_000, operation_id: "op2", effect_at: 50_010 }),
      sent({ at: 60_000, operation_id: "op2", attempt: 2, effect_at: 60_010 }),
    ],
  },
  {
    rule: "one_effect",
    says: "info",
    of: "two effects, the first forgotten by a restore",
    changes: [
      sent({ effect_at: 20 }),
      forgot("op1", 1, 40_000),
      sent({ at: 50_000, operation_id: "op2", effect_at: 50_010 }),
    ],
  },
  {
    rule: "one_effect",
    says: "nothing",
    of: "an effect that somebody between us repeated",
    changes: [sent({ effect_at: 20 }), repeatedBySomebody],
  },
  {
    rule: "unevidenced",
    says: "violation",
    of: "a second request that was lost",
    changes: [sent({ effect_at: 20 }), sent(SECOND)],
  },
  {
    rule: "unevidenced",
    says: "violation",
    of: "a second request beside a first one under way",
    changes: [sent({ effect_at: 60_000 }), sent(SECOND)],
  },
  {
    rule: "unevidenced",
    says: "nothing",
    of: "a second request under the key that the provider remembers",
    changes: [sent({ tool: "keyed", effect_at: 20 }), sent({ tool: "keyed", ...SECOND })],
  },
  {
    rule: "unevidenced",
    says: "violation",
    of: "a second request under a key that lapses on its way",
    changes: [sent({ tool: "keyed", effect_at: 20 }), sent({ tool: "keyed", at: 99_500, attempt: 2 })],
  },
  {
    rule: "unevidenced",
    says: "violation",
    of: "a second request under another key",
    changes: [sent({ tool: "keyed", effect_at: 20 }), sent({ tool: "keyed", ...SECOND, key: "k2" })],
  },
  {
    rule: "unevidenced",
    says: "violation",
    of: "a second request beside the first at a provider that races them",
    changes: [
      (one) =>
        one.natures.splice(1, 1, {
          ...one.natures[1],
          tool: "keyed",
          remembers: { for_ms: 100_000, races: true },
        } as never),
      sent({ tool: "keyed", effect_at: 60_000 }),
      sent({ tool: "keyed", ...SECOND }),
    ],
  },
  {
    rule: "unevidenced",
    says: "nothing",
    of: "a new try after the provider took the effect back",
    changes: [sent({ effect_at: 20, reversed_at: 40_000 }), sent({ at: 50_000, operation_id: "op2" })],
  },
  {
    rule: "unevidenced",
    says: "info",
    of: "a second request after a restore forgot the first",
    changes: [sent({ effect_at: 20 }), forgot("op1", 1, 40_000), sent({ at: 50_000, operation_id: "op2" })],
  },
  {
    rule: "unevidenced",
    says: "violation",
    of: "a second request before the restore that forgot the first",
    changes: [sent({ effect_at: 20 }), sent(SECOND), forgot("op1", 1, 60_000)],
  },
  {
    rule: "unevidenced",
    says: "info",
    of: "a second request after a jump of the clock that its process cannot know of",
    changes: [
      sent({ effect_at: 20 }),
      (one) => one.clock_steps.push({ at: 30_000, by_ms: 3_600_000 }),
      (one) => one.births.push(31_000),
      sent(SECOND),
    ],
  },
  {
    rule: "unevidenced",
    says: "violation",
    of: "a second request after a jump of the clock that everybody saw",
    changes: [sent({ effect_at: 20 }), (one) => one.clock_steps.push({ at: 30_000, by_ms: 3_600_000 }), sent(SECOND)],
  },
  {
    rule: "intent_first",
    says: "violation",
    of: "a request without a record",
    changes: [sent(), (one) => one.records.splice(0)],
  },
  {
    rule: "intent_first",
    says: "violation",
    of: "a request before its record is durable",
    changes: [record({ committed_at: 20 }), sent({ at: 10 })],
  },
  {
    rule: "intent_first",
    says: "violation",
    of: "a tool called without a record",
    changes: [(one) => one.started.push({ at: 5, operation_id: "op9", attempt: 1 })],
  },
  {
    rule: "window",
    says: "violation",
    of: "a head after the record's time",
    changes: [record(), sent({ at: 25_001 })],
  },
  {
    rule: "window",
    says: "nothing",
    of: "a head at the record's last moment",
    changes: [record(), sent({ at: 25_000 })],
  },
  {
    rule: "window",
    says: "nothing",
    of: "a late request of a tool with its own client",
    changes: [record(), sent({ at: 25_001, tool: "mail" })],
  },
  {
    rule: "window",
    says: "violation",
    of: "a tool called after the record's time",
    changes: [record(), (one) => one.started.push({ at: 25_001, operation_id: "op1", attempt: 1 })],
  },
  {
    rule: "same_bytes",
    says: "violation",
    of: "other bytes under one key",
    changes: [sent({ tool: "keyed" }), sent({ tool: "keyed", ...SECOND, body: "b2" })],
  },
  {
    rule: "same_bytes",
    says: "nothing",
    of: "other bytes under another key",
    changes: [sent({ tool: "keyed" }), sent({ tool: "keyed", ...SECOND, key: "k2", body: "b2" })],
  },
  { rule: "quarantine", says: "violation", of: "a dispatch in quarantine", changes: [record({ in_quarantine: true })] },
  { rule: "true_yes", says: "violation", of: "a yes before the effect", changes: [sent({ effect_at: 2_000 }), told()] },
  { rule: "true_yes", says: "violation", of: "a yes without any effect", changes: [told()] },
  {
    rule: "true_yes",
    says: "violation",
    of: "a yes about what was taken back",
    changes: [sent({ effect_at: 20, reversed_at: 500 }), told()],
  },
  { rule: "true_yes", says: "nothing", of: "a yes after the effect", changes: [sent({ effect_at: 20 }), told()] },
  {
    rule: "true_yes",
    says: "violation",
    of: "two operations told as done by one effect",
    changes: [sent({ effect_at: 20 }), told(), told({ operation_id: "op2" })],
  },
  {
    rule: "true_yes",
    says: "info",
    of: "two operations told as done, one of them forgotten",
    changes: [sent({ effect_at: 20 }), told(), forgot("op1", 1, 2_000), told({ at: 3_000, operation_id: "op2" })],
  },
  {
    rule: "true_no",
    says: "violation",
    of: "a no, and an effect afterwards",
    changes: [told({ ...NO }), sent({ effect_at: 5_000 })],
  },
  {
    rule: "true_no",
    says: "nothing",
    of: "a no, and an effect of a later attempt",
    changes: [told({ ...NO }), sent({ ...SECOND, effect_at: 50_010 })],
  },
  {
    rule: "true_no",
    says: "nothing",
    of: "a no that is not settled",
    changes: [told({ ...NO, settled: false }), sent({ effect_at: 5_000 })],
  },
  {
    rule: "true_no",
    says: "info",
    of: "a no about a request that somebody repeated",
    changes: [sent({ effect_at: 20 }), repeatedBySomebody, told({ ...NO })],
  },
  {
    rule: "one_word",
    says: "violation",
    of: "a yes, then a no",
    changes: [sent({ effect_at: 20 }), told(), told({ ...NO, at: 3_000, called_at: 2_000, attempt: 0 })],
  },
  {
    rule: "one_word",
    says: "nothing",
    of: "a no asked for before the yes was told",
    changes: [sent({ effect_at: 20 }), told(), told({ ...NO, settled: false, at: 3_000, called_at: 500 })],
  },
  {
    rule: "one_word",
    says: "violation",
    of: "two yeses by two objects",
    changes: [sent({ effect_at: 20 }), told({ object_id: "obj_1" }), told({ object_id: "obj_2" })],
  },
  {
    rule: "one_word",
    says: "info",
    of: "a yes, then a restore, then another word",
    changes: [
      sent({ effect_at: 20 }),
      told(),
      forgot("op2", 1, 1_500),
      told({ ...NO, attempt: 0, at: 3_000, called_at: 2_000 }),
    ],
  },
  {
    rule: "nothing_ran",
    says: "violation",
    of: "an effect although every caller got an error",
    changes: [
      sent({ effect_at: 20 }),
      told({ ok: false, outcome: "error", error: { code: "journal_unavailable", foreseen: true } }),
    ],
  },
  {
    rule: "nothing_ran",
    says: "nothing",
    of: "an effect of a call that nobody was left to hear of",
    changes: [
      sent({ effect_at: 20 }),
      (one) => one.unanswered.push("a1"),
      told({ ok: false, outcome: "error", error: { code: "journal_unavailable", foreseen: true } }),
    ],
  },
  {
    rule: "unforeseen",
    says: "violation",
    of: "an error that nobody foresaw",
    changes: [told({ ok: false, outcome: "error", error: { code: "TypeError: x", foreseen: false } })],
  },
  {
    rule: "unforeseen",
    says: "violation",
    of: "an alarm in the log",
    changes: [(one) => one.alarms.push("TypeError")],
  },
  { rule: "ending", says: "violation", of: "a success without an effect", changes: [ended()] },
  {
    rule: "ending",
    says: "violation",
    of: "a failure with an effect",
    changes: [sent({ effect_at: 20 }), ended({ state: "failed" })],
  },
  {
    rule: "ending",
    says: "info",
    of: "a failure whose request somebody repeated",
    changes: [sent({ effect_at: 20 }), repeatedBySomebody, ended({ state: "failed" })],
  },
  {
    rule: "ending",
    says: "violation",
    of: "a contradiction that nobody is to blame for",
    changes: [sent({ effect_at: 20 }), ended({ state: "failed", contradicted: true })],
  },
  {
    rule: "ending",
    says: "violation",
    of: "two successes by one effect",
    changes: [sent({ effect_at: 20 }), ended(), ended({ operation_id: "op2" })],
  },
  {
    rule: "ending",
    says: "violation",
    of: "an undone that stands",
    changes: [sent({ effect_at: 20 }), ended({ state: "undone" })],
  },
  {
    rule: "ending",
    says: "nothing",
    of: "an undone that was taken back",
    changes: [sent({ effect_at: 20, reversed_at: 30 }), ended({ state: "undone" })],
  },
  {
    rule: "one_object",
    says: "violation",
    of: "one object for two operations",
    changes: [
      sent({ effect_at: 20 }),
      sent({ operation_id: "op2", action: "a2", effect_at: 30 }),
      ended({ object_id: "obj_1" }),
      ended({ operation_id: "op2", action: "a2", object_id: "obj_1" }),
    ],
  },
  {
    rule: "one_object",
    says: "violation",
    of: "a stranger's object",
    changes: [sent({ effect_at: 20 }), ended({ object_id: "somebody's" })],
  },
  {
    rule: "settles",
    says: "violation",
    of: "an open operation that looks could settle",
    changes: [ended({ state: "unknown", terminal: false })],
  },
  {
    rule: "settles",
    says: "nothing",
    of: "an open operation that only a person can settle",
    changes: [ended({ state: "needs_review", terminal: false, tool: "mail" })],
  },
  {
    rule: "settles",
    says: "violation",
    of: "one that a person was there to settle",
    changes: [ended({ state: "needs_review", terminal: false, tool: "mail" }), (one) => (one.attended = true)],
  },
  {
    rule: "settles",
    says: "nothing",
    of: "one whose attempt still runs",
    changes: [ended({ state: "unknown", terminal: false, attempt_open: true })],
  },
  {
    rule: "no_overwrite",
    says: "violation",
    of: "a second attempt over somebody's newer value that was seen",
    changes: [
      record(),
      write({ at: 10, value: "silver" }),
      (one) => one.looks.push({ at: 20, resource: "r1", operation_id: "op1", version: 1 }),
      record({ attempt: 2, committed_at: 30 }),
      write({ at: 40, operation_id: "op1", attempt: 2 }),
    ],
  },
  {
    rule: "no_overwrite",
    says: "nothing",
    of: "a second attempt over a newer value that nobody could have seen",
    changes: [
      record(),
      record({ attempt: 2, committed_at: 5 }),
      write({ at: 10, value: "silver" }),
      write({ at: 40, operation_id: "op1", attempt: 2 }),
    ],
  },
  {
    rule: "no_overwrite",
    says: "violation",
    of: "a second attempt over a later operation's value",
    changes: [
      (one) => one.admissions.push({ at: 0, operation_id: "op1" }, { at: 9, operation_id: "op2" }),
      record(),
      record({ operation_id: "op2", committed_at: 10 }),
      write({ at: 11, operation_id: "op2", attempt: 1, value: "silver" }),
      record({ attempt: 2, committed_at: 30 }),
      write({ at: 40, operation_id: "op1", attempt: 2 }),
    ],
  },
  {
    rule: "no_overwrite",
    says: "nothing",
    of: "a first attempt that lands late",
    changes: [record(), write({ at: 10, value: "silver" }), write({ at: 40, operation_id: "op1", attempt: 1 })],
  },
  {
    rule: "stale_replay",
    says: "violation",
    of: "a replayed yes after a later operation's write",
    changes: [
      (one) => one.settlements.push({ at: 15, operation_id: "op1" }),
      (one) => one.admissions.push({ at: 0, operation_id: "op1" }, { at: 9, operation_id: "op2" }),
      write({ at: 10, operation_id: "op1", attempt: 1 }),
      write({ at: 20, operation_id: "op2", attempt: 1, value: "silver" }),
      ended({ tool: "tier", sets: { resource: "r1", value: "gold" } }),
      told({ tool: "tier", replayed: true, at: 40, called_at: 30 }),
    ],
  },
  {
    rule: "stale_replay",
    says: "info",
    of: "a replayed yes after somebody else's write",
    changes: [
      write({ at: 10, operation_id: "op1", attempt: 1 }),
      write({ at: 20, value: "silver" }),
      ended({ tool: "tier", sets: { resource: "r1", value: "gold" } }),
      told({ tool: "tier", replayed: true, at: 40, called_at: 30 }),
    ],
  },
]

describe.each(Object.keys(ORACLE_RULES) as OracleRule[])("%s", (rule) => {
  const cases = CASES.filter((one) => one.rule === rule)

  test("is shown a history that breaks it [AU-10]", () => {
    expect(cases.map(({ says }) => says)).toContain("violation")
  })

  test.each(cases)("$of: $says [AU-10]", ({ says, changes }) => {
    const { violations, infos } = judgeRun(history(...changes))
    expect(violations.filter((one) => one.rule === rule).length > 0).toBe(says === "violation")
    if (says !== "violation") expect(infos.some((one) => one.rule === rule)).toBe(says === "info")
  })
})

test("an honest run is judged to be one [AU-10]", () => {
  const { violations, infos } = judgeRun(
    history(
      sent(),
      sent({ ...SECOND, effect_at: 50_010 }),
      told({ at: 51_000, attempt: 2, object_id: "obj_1" }),
      ended({ object_id: "obj_1" }),
    ),
  )
  expect([violations, infos]).toEqual([[], []])
})
