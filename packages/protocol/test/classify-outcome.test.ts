// Hunts an outcome that was invented: "not applied" for a request that may have run (a second effect follows), and "applied" for
// one that may not have (nobody looks again).

import {
  classifyOutcome,
  DEFINITE_STATUSES,
  NEVER_DEFINITE,
  statusMeaning,
  WORD_STATUSES,
  type AppliedRule,
  type Contract,
  type OutcomeFacts,
  type StageObservation,
  type ToolWord,
} from "@invokejs/protocol"
import fc from "fast-check"
import { expect, test } from "vitest"

const contract: Contract = {
  applied: "2xx",
  has_resource: false,
  exclusive: false,
  shared: false,
  many: false,
  timeout_ms: 30_000,
  attempts: 3,
  deadline_ms: 86_400_000,
  settle_by_ms: 259_200_000,
}
const answer = (status: number): StageObservation => ({
  stage: "body_received",
  effect_requested: true,
  second_effect: false,
  ended: true,
  effect_wire_requests: 1,
  status,
})
const unsent: StageObservation = { ...answer(0), stage: "connecting", effect_wire_requests: 0, status: null }
const lost: StageObservation = { ...answer(0), stage: "body_written", status: null }
const returned: ToolWord = { kind: "returned", output: { id: "ch_1" }, accepts: null }
const threw: ToolWord = { kind: "threw" }
const notApplied: ToolWord = { kind: "not_applied", reason: { code: "busy", text: "t" } }
const rejected: ToolWord = { kind: "rejected", reason: { code: "bad", text: "t" } }
const saysApplied: ToolWord = { kind: "applied", output: null }

interface Change {
  readonly transport?: "invoke" | "opaque"
  readonly applied?: AppliedRule
  readonly contract?: Partial<Contract>
  readonly checkable?: boolean
  readonly retry_after_ms?: number
}

function classify(observation: StageObservation | null, word: ToolWord, change: Change = {}) {
  const facts: OutcomeFacts = {
    transport: change.transport ?? "invoke",
    observation,
    word,
    contract: { ...contract, ...(change.applied ? { applied: change.applied } : {}), ...change.contract },
    checkable: change.checkable ?? false,
    ...(change.retry_after_ms === undefined ? {} : { retry_after_ms: change.retry_after_ms }),
  }
  return classifyOutcome(facts)
}

const classOf = (...facts: Parameters<typeof classify>) => classify(...facts).outcome.class

test.each([
  [200, "applied"],
  [201, "applied"],
  [204, "applied"],
  [202, "accepted"],
  [203, "unknown"],
  [206, "unknown"],
  [207, "unknown"],
  [301, "unknown"],
  [302, "unknown"],
  [303, "unknown"],
  [307, "unknown"],
  [308, "unknown"],
  [400, "rejected"],
  [401, "not_applied"],
  [403, "not_applied"],
  [404, "rejected"],
  [405, "rejected"],
  [406, "rejected"],
  [408, "unknown"],
  [411, "rejected"],
  [413, "rejected"],
  [414, "rejected"],
  [415, "rejected"],
  [417, "rejected"],
  [421, "not_applied"],
  [422, "rejected"],
  [425, "not_applied"],
  [426, "rejected"],
  [428, "rejected"],
  [431, "rejected"],
  [402, "unknown"],
  [409, "unknown"],
  [410, "unknown"],
  [412, "unknown"],
  [423, "unknown"],
  [424, "unknown"],
  [429, "unknown"],
  [451, "unknown"],
  [499, "unknown"],
  [500, "unknown"],
  [501, "rejected"],
  [502, "unknown"],
  [503, "unknown"],
  [504, "unknown"],
  [505, "rejected"],
  [520, "unknown"],
  [529, "unknown"],
])("an answer of %i under the rule 2xx is %s [ST-3] [R3]", (status, expected) => {
  expect(classOf(answer(status), status < 400 ? returned : threw)).toBe(expected)
})

test.each(WORD_STATUSES)("%i is what the tool says it is, and unknown where it says nothing [ST-3]", (status) => {
  expect(classOf(answer(status), notApplied)).toBe("not_applied")
  expect(classOf(answer(status), rejected)).toBe("rejected")
  expect(classOf(answer(status), saysApplied)).toBe("applied")
  expect(classOf(answer(status), returned, { applied: "returned" })).toBe("unknown")
})

test.each(NEVER_DEFINITE)("%i is never a denial, whoever says so [ST-3]", (status) => {
  for (const word of [notApplied, rejected, threw]) expect(classOf(answer(status), word)).toBe("unknown")
  expect(classOf(answer(status), threw, { contract: { definite: [status] } })).toBe("unknown")
})

test("a contract's own definite statuses deny, permanently or not by their meaning [ST-3]", () => {
  const change = { contract: { definite: [402, 409, 429, 503] } }
  expect([402, 409, 429, 503].map((status) => classOf(answer(status), threw, change))).toEqual([
    "rejected",
    "rejected",
    "not_applied",
    "not_applied",
  ])
})

test("definite statuses mean nothing for a tool with its own transport [ST-3] [R1] [item 11]", () => {
  for (const status of DEFINITE_STATUSES)
    expect(classOf(answer(status), threw, { transport: "opaque" })).toBe("unknown")
})

test("a request that the living transport saw unsent is not applied and did not leave [ST-3] [R1]", () => {
  for (const word of [threw, notApplied, rejected, { kind: "timed_out" } as const, returned]) {
    expect(classify(unsent, word)).toMatchObject({ left: false, outcome: { class: "not_applied", proof: "stage" } })
  }
})

test.each<[string, Partial<StageObservation>]>([
  ["it has not ended: it may leave in the next tick", { ended: false }],
  ["its head was handed to a socket", { effect_wire_requests: 1 }],
  ["its head was written", { stage: "head_written" }],
  ["nothing was asked for", { effect_requested: false, stage: "none" }],
  ["a second effect was asked for", { second_effect: true }],
])("no stage proves that nothing left where %s [ST-3] [R1] [R7] [R8]", (_why, change) => {
  expect(classify({ ...unsent, ...change }, threw)).toMatchObject({ left: true, outcome: { class: "unknown" } })
})

test("without a living observer an exception proves nothing [R1] [R7]", () => {
  expect(classOf(null, threw)).toBe("unknown")
  expect(classOf(null, { kind: "timed_out" })).toBe("unknown")
})

test("a tool that never asked for its effect request is opaque [R1] [item 11]", () => {
  const idle = { ...unsent, effect_requested: false, stage: "none" as const }
  expect(classOf(idle, threw)).toBe("unknown")
  expect(classOf(idle, returned)).toBe("unknown")
  expect(classOf(idle, returned, { applied: "returned" })).toBe("applied")
  expect(classOf(idle, notApplied)).toBe("not_applied")
})

test("where the contract names the effect, an attempt without it is never acknowledged [R8] [item 4]", () => {
  const idle = { ...unsent, effect_requested: false, stage: "none" as const }
  const effect = { contract: { effect: { method: "POST", path: "/v1/charges" } }, applied: "returned" as const }
  expect(classOf(idle, returned, effect)).toBe("unknown")
  expect(classOf(idle, saysApplied, effect)).toBe("unknown")
})

test("a second effect request makes the attempt unknown, whatever the first was answered [R8] [item 4]", () => {
  for (const word of [returned, saysApplied, notApplied, rejected, threw]) {
    expect(classify({ ...answer(200), second_effect: true }, word).outcome).toMatchObject({
      class: "unknown",
      reason: { code: "second_effect" },
    })
  }
})

test("a word about a request that got no answer is a belief: unknown [ST-3] [R3]", () => {
  for (const word of [notApplied, rejected, saysApplied, returned, threw]) {
    for (const applied of ["2xx", "returned", "outcome"] as const)
      expect(classOf(lost, word, { applied })).toBe("unknown")
  }
  expect(classify(lost, { kind: "timed_out" }).outcome).toMatchObject({ reason: { code: "timeout" } })
})

test("a 201 whose body cannot be read is applied, its output unknown [ST-3]", () => {
  const cut = { ...answer(201), stage: "head_received" as const }
  for (const word of [threw, { kind: "timed_out" } as const]) {
    expect(classify(cut, word).outcome).toEqual({
      class: "applied",
      output: null,
      output_error: "the answer's body was not read",
    })
  }
  expect(classOf(cut, threw, { applied: "predicate" })).toBe("unknown")
  expect(classOf(cut, threw, { applied: "returned" })).toBe("unknown")
})

test("a swallowed 500 or 400 is not taken for a yes under the rule returned [R3] [item 17]", () => {
  for (const status of [400, 404, 422, 500, 503]) {
    expect(classOf(answer(status), returned, { applied: "returned" })).toBe("unknown")
    expect(classOf(answer(status), { ...returned, accepts: true }, { applied: "predicate" })).toBe("unknown")
  }
  expect(classOf(answer(200), returned, { applied: "returned" })).toBe("applied")
})

test("a predicate decides about the value, and where it says no nothing is known [R3]", () => {
  const predicate = { applied: "predicate" as const }
  expect(classOf(answer(200), { ...returned, accepts: true }, predicate)).toBe("applied")
  expect(classOf(answer(200), { ...returned, accepts: false }, predicate)).toBe("unknown")
  expect(classOf(answer(200), returned, predicate)).toBe("unknown")
  expect(classOf(null, { ...returned, accepts: true }, { ...predicate, transport: "opaque" })).toBe("applied")
  expect(classOf(null, { ...returned, accepts: false }, { ...predicate, transport: "opaque" })).toBe("unknown")
})

test("a 200 that carries an error is what the tool says, unless its contract calls every 200 a yes [ST-3] [R3]", () => {
  expect(classOf(answer(200), rejected, { applied: "predicate" })).toBe("rejected")
  expect(classOf(answer(200), notApplied, { applied: "outcome" })).toBe("not_applied")
  expect(classify(answer(200), rejected, { applied: "2xx" }).outcome).toMatchObject({
    reason: { code: "contradictory" },
  })
})

test("a tool that says applied about a request that never left makes unknown, not a choice [R3]", () => {
  expect(classify(unsent, saysApplied).outcome).toMatchObject({ class: "unknown", reason: { code: "contradictory" } })
  expect(classOf(unsent, returned, { applied: "returned" })).toBe("unknown")
})

test("opaque tools are believed by the rule they declared, and 2xx says nothing about them [R3] [item 17]", () => {
  const opaque = (word: ToolWord, applied: AppliedRule) => classOf(null, word, { transport: "opaque", applied })
  expect(opaque(returned, "returned")).toBe("applied")
  expect(opaque(returned, "2xx")).toBe("unknown")
  expect(opaque(returned, "outcome")).toBe("unknown")
  expect(opaque(saysApplied, "outcome")).toBe("applied")
  expect(opaque({ kind: "accepted", output: null, reference: "job_1" }, "outcome")).toBe("accepted")
  expect(opaque(notApplied, "outcome")).toBe("not_applied")
  expect(opaque(rejected, "outcome")).toBe("rejected")
  expect(opaque(threw, "returned")).toBe("unknown")
})

test("202 is accepted, also for a tool that merely returns [ST-6]", () => {
  expect(classOf(answer(202), returned)).toBe("accepted")
  expect(classOf(answer(202), threw)).toBe("accepted")
  expect(classOf(answer(202), returned, { applied: "returned" })).toBe("accepted")
  expect(classOf(answer(202), saysApplied, { applied: "outcome" })).toBe("applied")
})

test("only a proved key layer speaks for the earlier attempts of its key [R2]", () => {
  const key = {
    sent_as: "header:Idempotency-Key",
    replay: "stored",
    in_flight: "refuses",
    replays_errors: true,
    on_mismatch: "refuses",
    answers_for_key: [400, 409],
  } as const
  const proved = { contract: { key: { ...key, proved: { date: "2025-01-01", against: "stand-in" } } } }
  expect(classify(answer(400), threw, proved).outcome).toMatchObject({ speaks_for: "generation" })
  expect(classify(answer(409), rejected, proved).outcome).toMatchObject({ speaks_for: "generation" })
  expect(classify(answer(404), threw, proved).outcome).toMatchObject({ speaks_for: "attempt" })
  expect(classify(answer(400), threw, { contract: { key } }).outcome).toMatchObject({ speaks_for: "attempt" })
  expect(classify(unsent, threw, proved).outcome).toMatchObject({ speaks_for: "attempt" })
})

test("a checkable tool looks once before it believes a 400, 404 or 422 [item 28]", () => {
  const looks = (status: number, checkable: boolean) => {
    const { outcome } = classify(answer(status), threw, { checkable })
    return outcome.class === "rejected" && outcome.look_first
  }
  expect([400, 404, 422, 405, 413].map((status) => looks(status, true))).toEqual([true, true, true, false, false])
  expect([400, 404, 422].map((status) => looks(status, false))).toEqual([false, false, false])
})

test("the tool's own wait wins over the header's, and a header's is kept [RP-1]", () => {
  expect(classify(answer(401), threw, { retry_after_ms: 5_000 }).outcome).toMatchObject({ retry_after_ms: 5_000 })
  expect(
    classify(answer(429), { ...notApplied, retry_after_ms: 9_000 }, { retry_after_ms: 5_000 }).outcome,
  ).toMatchObject({
    retry_after_ms: 9_000,
  })
  expect(classify(answer(503), notApplied, { retry_after_ms: 5_000 }).outcome).toMatchObject({ retry_after_ms: 5_000 })
})

const words = fc.constantFrom<ToolWord>(
  returned,
  { ...returned, accepts: true },
  threw,
  notApplied,
  rejected,
  saysApplied,
  { kind: "timed_out" },
)
const observations = fc.option(
  fc.record<StageObservation>({
    stage: fc.constantFrom(
      "none",
      "requested",
      "connecting",
      "head_written",
      "body_written",
      "head_received",
      "body_received",
    ),
    effect_requested: fc.boolean(),
    second_effect: fc.boolean(),
    ended: fc.boolean(),
    effect_wire_requests: fc.nat({ max: 1 }),
    status: fc.option(fc.integer({ min: 100, max: 599 }), { nil: null }),
  }),
)

test("whatever is seen and said: it did not leave only by stage proof, and a throw alone denies nothing [ST-3] [R1]", () => {
  const unseen = { effect_requested: true, second_effect: false, ended: true, effect_wire_requests: 0, status: null }
  fc.assert(
    fc.property(
      observations,
      words,
      fc.constantFrom<AppliedRule>("2xx", "returned", "predicate", "outcome"),
      fc.constantFrom<"invoke" | "opaque">("invoke", "opaque"),
      (observation, word, applied, transport) => {
        const { outcome, left } = classify(observation, word, { applied, transport })
        const proved =
          transport === "invoke" &&
          Object.entries(unseen).every(([name, value]) => observation?.[name as keyof StageObservation] === value)
        const status = statusMeaning(observation?.status ?? 0)
        const silent = word.kind === "threw" || word.kind === "timed_out"
        const denied = outcome.class === "not_applied" || outcome.class === "rejected"
        const sound = {
          "unsent only by stage proof":
            left || (proved && outcome.class === "not_applied" && outcome.proof === "stage"),
          "silence denies only by a definite status": !(denied && silent && left) || status === outcome.class,
          "silence applies only by 200, 201, 204": !(outcome.class === "applied" && silent) || status === "applied",
          "a second effect is unknown": observation?.second_effect !== true || outcome.class === "unknown",
        }
        expect(Object.entries(sound).filter(([, holds]) => !holds)).toEqual([])
      },
    ),
    { numRuns: 3_000 },
  )
})

test("the author's word that an answer proves nothing stands above the status, never above an unsent stage [ST-3] [R2]", () => {
  const word: ToolWord = { kind: "unknown", reason: { code: "key_in_use", text: "t" } }
  for (const transport of ["invoke", "opaque"] as const) {
    for (const status of [200, 400, 401, 500]) {
      expect(classify(answer(status), word, { transport }).outcome).toEqual({ class: "unknown", reason: word.reason })
    }
  }
  expect(classify(unsent, word).left).toBe(false)
})
