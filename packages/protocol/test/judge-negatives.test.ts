// Hunts silence that is counted too early, twice for one, for the wrong attempt, or by somebody who may not count.

import { describe, expect, test } from "vitest"
import { judge } from "@invokejs/protocol"
import type { Evidence, Finding, JudgeContext, Operation } from "@invokejs/protocol"
import {
  charge,
  context,
  contract,
  evidenceOf,
  HOUR,
  keyContract,
  lookOf,
  lookupContract,
  MINUTE,
  REJECTED,
  SECOND,
  Story,
  T0,
  UNKNOWN,
} from "./builders.ts"

const WINDOW = 6 * MINUTE

function silent(
  at: number,
  like: Partial<Extract<Finding, { kind: "look" }>> = {},
  change: Partial<Evidence> = {},
): Evidence {
  return evidenceOf(lookOf([], like), at, change)
}

function judged(operation: Operation, looks: readonly Evidence[], judging: Partial<JudgeContext> = {}) {
  return judge({ ...operation, evidence: [...operation.evidence, ...looks] }, context(T0 + 100 * HOUR, judging))
}

const ended = (change = {}) => new Story({ contract: contract(change) }).dispatch().ends(1, UNKNOWN).operation
const from = T0 + WINDOW

describe("silence", () => {
  test("after the window, twice, spaced, refutes [R6] [R28]", () => {
    expect(judged(ended(), [silent(from), silent(from + MINUTE)]).verdict).toBe("refuted")
  })

  test("one millisecond before the window does not count [R6] [R28]", () => {
    expect(judged(ended(), [silent(from - 1), silent(from + MINUTE)])).toMatchObject({
      verdict: "inconclusive",
      reason: { code: "settle_window", text: "1 of 2 looks count for attempt 1" },
    })
  })

  test("is dated by the start of its look, not by its answer [R28] [R28a]", () => {
    const slow = silent(T0 + 5 * SECOND, {}, { recorded_at: from + HOUR })
    expect(judged(ended(), [slow, silent(from + MINUTE)]).verdict).toBe("inconclusive")
  })

  test("dated in the future counts for nothing, however far ahead the worker's clock was [R28] [R28b]", () => {
    const ahead = [silent(T0 + 101 * HOUR), silent(T0 + 102 * HOUR)]
    expect(judged(ended(), ahead).verdict).toBe("inconclusive")
  })

  test("twice within a moment meets one stale replica, and counts once [R28] [R28c]", () => {
    expect(judged(ended(), [silent(from), silent(from + 3)]).verdict).toBe("inconclusive")
    expect(judged(ended(), [silent(from), silent(from + MINUTE - 1)]).verdict).toBe("inconclusive")
  })

  test("told twice is one look, also where the contract asks for no time between two [R28] [R28c]", () => {
    const operation = ended({ lookup: lookupContract({ spacing_ms: 0 }) })
    const look = silent(from)
    expect(judged(operation, [look, look]).verdict).toBe("inconclusive")
    expect(judged(operation, [look, silent(from)]).verdict).toBe("refuted")
  })

  test("of the first attempt's window and of the second's do not make two [R28] [R28c]", () => {
    const story = new Story({ contract: contract({ key: keyContract() }) }).dispatch().ends(1, UNKNOWN)
    story
      .wait(2 * HOUR)
      .hears({ kind: "unsure", reason: "later" })
      .dispatch()
      .ends(2, UNKNOWN)
    const second = T0 + 2 * HOUR + WINDOW
    expect(judged(story.operation, [silent(from), silent(second)]).verdict).toBe("inconclusive")
    expect(judged(story.operation, [silent(second), silent(second + MINUTE)]).verdict).toBe("refuted")
  })

  test("speaks for all attempts of the generations it searched, and for no other [item 1] [item 1c]", () => {
    const story = new Story({ contract: contract({ key: keyContract() }) }).isLost().sees([]).isLost()
    const last = story.attempt(2).last_possible_send + WINDOW
    expect(judged(story.operation, [silent(last), silent(last + MINUTE)]).verdict).toBe("refuted")
    const elsewhere = { generations: [1] }
    expect(judged(story.operation, [silent(last, elsewhere), silent(last + MINUTE, elsewhere)]).verdict).toBe(
      "inconclusive",
    )
  })

  test("of an incomplete look, or of a search, proves nothing", () => {
    expect(
      judged(ended(), [silent(from, { complete: false }), silent(from + MINUTE, { complete: false })]).verdict,
    ).toBe("inconclusive")
    expect(judged(ended(), [silent(from, { search: true }), silent(from + MINUTE, { search: true })]).verdict).toBe(
      "inconclusive",
    )
    const searched = ended({ lookup: lookupContract({ consistency: "search" }) })
    expect(judged(searched, [silent(from), silent(from + MINUTE)])).toMatchObject({ reason: { code: "search_only" } })
  })

  test("by somebody's claim, in any number, proves nothing [R9] [RC-13]", () => {
    const claims = [0, 1, 2, 3].map((hour) => silent(from + hour * HOUR, {}, { rank: "claimed", source: "caller" }))
    expect(judged(ended(), claims).verdict).toBe("inconclusive")
    const reported = claims.map((one) => ({ ...one, rank: "reported" as const }))
    expect(judged(ended(), reported).verdict).toBe("inconclusive")
  })

  test("about an opaque attempt counts from its proved end, never while it is open [R6] [item 10]", () => {
    const story = new Story().isLost({ transport: "opaque" })
    const late = [silent(T0 + 10 * HOUR), silent(T0 + 11 * HOUR)]
    expect(judged(story.operation, late)).toMatchObject({ verdict: "inconclusive", reason: { code: "attempt_open" } })
    story.do({ type: "worker_gone", worker_id: "worker-1", proof: "its lock was found free" })
    expect(judged(story.operation, late).verdict).toBe("refuted")
  })

  test("about an attempt of a frozen worker counts only after it can send no more [R6]", () => {
    const { operation } = new Story().isLost()
    const gate = (operation.attempts[0]?.last_possible_send ?? 0) + WINDOW
    expect(judged(operation, [silent(gate - 1), silent(gate - 1 + MINUTE)]).verdict).toBe("inconclusive")
    expect(judged(operation, [silent(gate), silent(gate + MINUTE)]).verdict).toBe("refuted")
  })

  test("starts anew when the clock jumped forward [R28] [R28e]", () => {
    const stepped = from + HOUR
    const early = [silent(stepped + 1), silent(stepped + MINUTE + 1)]
    expect(judged(ended(), early, { clock_stepped_at: stepped }).verdict).toBe("inconclusive")
    const late = [silent(stepped + WINDOW), silent(stepped + WINDOW + MINUTE)]
    expect(judged(ended(), late, { clock_stepped_at: stepped }).verdict).toBe("refuted")
  })

  test("is held against the stricter of the frozen contract and today's [R28] [R28d]", () => {
    const looks = [silent(from), silent(from + MINUTE)]
    const kinder = contract({ lookup: lookupContract({ visibility_ms: 0, max_execution_ms: 0, negatives: 1 }) })
    expect(judged(ended(), looks.slice(0, 1), { contract: kinder }).verdict).toBe("inconclusive")
    const harder = contract({ lookup: lookupContract({ visibility_ms: 30 * MINUTE }) })
    expect(judged(ended(), looks, { contract: harder }).verdict).toBe("inconclusive")
  })

  test("does not refute what is accepted or acknowledged [item 5]", () => {
    const accepted = new Story().dispatch().ends(1, { class: "accepted", output: null })
    expect(judged(accepted.operation, [silent(T0 + HOUR), silent(T0 + 2 * HOUR)]).verdict).toBe("inconclusive")
  })

  test("about an operation of which nothing was sent is no verdict", () => {
    expect(judged(new Story().operation, [silent(from), silent(from + MINUTE)])).toMatchObject({
      reason: { code: "nothing_sent" },
    })
  })
})

describe("a refusal that waits for one look", () => {
  const refused = (change = {}) =>
    new Story({ contract: contract(change) })
      .dispatch()
      .wait(SECOND)
      .ends(1, { ...REJECTED, look_first: true }).operation

  test("is believed after exactly one look begun after it [item 28]", () => {
    expect(judged(refused(), []).verdict).toBe("inconclusive")
    expect(judged(refused(), [silent(T0)])).toMatchObject({ reason: { code: "look_first" } })
    expect(judged(refused(), [silent(T0 + SECOND)]).verdict).toBe("refuted")
  })

  test("is believed after a search as well: the refusal is the proof, the look only has to find nothing [item 28]", () => {
    const searched = refused({ lookup: lookupContract({ consistency: "search" }) })
    expect(judged(searched, [silent(T0 + MINUTE, { search: true })]).verdict).toBe("refuted")
  })

  test("is not believed when the look finds our object: an intermediary repeated the request [item 28]", () => {
    const found = evidenceOf(lookOf([charge()]), T0 + MINUTE)
    expect(judged(refused(), [found]).verdict).toBe("confirmed")
  })
})

describe("after a restore", () => {
  const until = T0 + MINUTE
  const edge = until + 55 * SECOND + WINDOW
  const restored = (story: Story) => story.do({ type: "restored", until })

  test("an operation without attempts is refuted only by looks after that window [R24] [item 18]", () => {
    const { operation } = restored(new Story())
    expect(judged(operation, [silent(edge - 1), silent(edge + MINUTE)]).verdict).toBe("inconclusive")
    expect(judged(operation, [silent(edge), silent(edge + MINUTE)]).verdict).toBe("refuted")
    const elsewhere = { generations: [1] }
    expect(judged(operation, [silent(edge, elsewhere), silent(edge + MINUTE, elsewhere)]).verdict).toBe("inconclusive")
  })

  test("an object that a forgotten attempt may have made is neither ours nor nobody's [R24] [item 18]", () => {
    const terms = contract({ lookup: lookupContract({ correlates: "created" }) })
    const { operation } = restored(new Story({ contract: terms }))
    const { operation_id: _id, ...made } = charge({ created_at: T0 + SECOND })
    const looks = [edge, edge + MINUTE].map((at) => evidenceOf(lookOf([made]), at))
    expect(judged(operation, looks)).toMatchObject({ verdict: "inconclusive", reason: { code: "forgotten_attempt" } })
    const older = { ...made, created_at: T0 - HOUR }
    expect(
      judged(
        operation,
        [edge, edge + MINUTE].map((at) => evidenceOf(lookOf([older]), at)),
      ).verdict,
    ).toBe("refuted")
  })

  test("an object under a key that is not on record may be the forgotten attempt's [R24] [item 18]", () => {
    const { operation } = restored(new Story())
    const { operation_id: _id, ...keyed } = charge({ provider_key: "key-0" })
    const looks = [edge, edge + MINUTE].map((at) => evidenceOf(lookOf([keyed]), at))
    expect(judged(operation, looks)).toMatchObject({ reason: { code: "key_of_forgotten_attempt" } })
    expect(judged(operation, looks, { own_keys: ["key-0"] }).verdict).toBe("confirmed")
    expect(judged(operation, looks, { own_keys: ["key-9"] }).verdict).toBe("refuted")
  })
})

describe("a tombstone", () => {
  test("of our own is not read as the original [R13]", () => {
    const tombstone = charge({ object_id: "name-1", tombstone: { generation: 0 } })
    const looks = [from, from + MINUTE].map((at) => evidenceOf(lookOf([tombstone]), at))
    expect(judged(ended(), looks).verdict).toBe("refuted")
  })
})
