// Hunts arrows that the page draws and the code cannot go, and states that nothing reaches: each row is one arrow of protocol §4.

import { describe, expect, test } from "vitest"
import { DEFAULTS, STATE_NAMES } from "@invokejs/protocol"
import type { State } from "@invokejs/protocol"
import { restoredSettledFrom } from "@invokejs/protocol/internal"
import {
  APPLIED,
  blind,
  charge,
  contract,
  DAY,
  DECLINED,
  HOUR,
  keyContract,
  MINUTE,
  REJECTED,
  Story,
  T0,
  UNKNOWN,
  UNSENT,
} from "./builders.ts"
import { ASKED, HELD, REFUSED } from "./in-every-state.ts"

const NO = { code: "policy", text: "no" }
const SIGNED = { source: "webhook", rank: "signed" } as const

const keyed = (change = {}) => new Story({ contract: contract({ key: keyContract(change) }) })
const unsent = () => new Story().dispatch().ends(1, UNSENT)
const ask = (story: Story) => story.do({ type: "ask", approval_id: "ap-2", expires_at: story.now + HOUR, reason: NO })
const due = (story: Story) => story.until(story.operation.due_at).do({ type: "due" })
const review = () => due(new Story({ contract: blind() }).isLost()).until(T0 + HOUR)
const accepted = () => new Story().dispatch().ends(1, { class: "accepted", output: null })
const wrong = charge({ state: { amount: 2424 } })

type Arrow = readonly [from: State, to: State, by: string, walk: () => Story]

const ARROWS: readonly Arrow[] = [
  [
    "held",
    "ready",
    "slot free, policy allows",
    () => new Story({}, HELD).do({ type: "slot", free: true, held_by: null }),
  ],
  ["held", "awaiting_approval", "slot free, policy asks", () => ask(new Story({}, HELD))],
  [
    "held",
    "refused",
    "slot free, policy refuses",
    () => new Story({}, HELD).do({ type: "policy_refused", reason: NO }),
  ],
  [
    "held",
    "refused",
    "slot filled for good",
    () => new Story({}, HELD).do({ type: "slot", free: false, held_by: "op-0" }),
  ],
  ["held", "expired", "holdFor, deadline", () => due(new Story({}, HELD))],
  ["held", "ready", "allow", () => new Story({}, HELD).do({ type: "allow", reason: "meant" })],
  ["held", "cancelled", "cancel", () => new Story({}, HELD).do({ type: "cancel", reason: "no" })],

  ["awaiting_approval", "expired", "expiry, nothing sent", () => due(new Story({}, ASKED))],
  ["awaiting_approval", "ready", "approve", () => new Story({}, ASKED).do({ type: "approve", reason: "yes" })],
  ["awaiting_approval", "denied", "deny, nothing sent", () => new Story({}, ASKED).do({ type: "deny", reason: "no" })],
  [
    "awaiting_approval",
    "cancelled",
    "cancel, nothing sent",
    () => new Story({}, ASKED).do({ type: "cancel", reason: "no" }),
  ],
  ["awaiting_approval", "replan", "drift", () => new Story({}, ASKED).do({ type: "drifted", reason: NO })],
  ["awaiting_approval", "not_applied", "expiry, asked again", () => due(ask(unsent()))],
  ["awaiting_approval", "not_applied", "deny, asked again", () => ask(unsent()).do({ type: "deny", reason: "no" })],
  ["awaiting_approval", "not_applied", "cancel, asked again", () => ask(unsent()).do({ type: "cancel", reason: "no" })],
  ["awaiting_approval", "succeeded", "positive, asked again", () => ask(unsent()).hears({ kind: "applied" }, SIGNED)],

  ["ready", "dispatched", "due, nothing sent", () => new Story().dispatch()],
  ["ready", "expired", "deadline, nothing sent", () => new Story().wait(DAY).do({ type: "due" })],
  ["ready", "refused", "policy or guard says no", () => new Story().do({ type: "policy_refused", reason: NO })],
  ["ready", "ready", "limit full", () => new Story().do({ type: "postpone", until: T0 + MINUTE, reason: NO })],
  ["ready", "awaiting_approval", "approval to be asked", () => ask(new Story())],
  ["ready", "cancelled", "cancel, nothing sent", () => new Story().do({ type: "cancel", reason: "no" })],
  ["ready", "replan", "drift, nothing sent", () => new Story().do({ type: "drifted", reason: NO })],
  [
    "ready",
    "held",
    "found in place before attempt 1",
    () => new Story().do({ type: "looked_before", seen: [], version: null, full_match: "ch_1" }),
  ],
  ["ready", "dispatched", "due, all disproved", () => unsent().dispatch()],
  ["ready", "not_applied", "deadline, all disproved", () => unsent().wait(DAY).do({ type: "due" })],
  ["ready", "not_applied", "policy, all disproved", () => unsent().do({ type: "policy_refused", reason: NO })],
  ["ready", "awaiting_approval", "asked again, all disproved", () => ask(unsent())],
  ["ready", "not_applied", "cancel, all disproved", () => unsent().do({ type: "cancel", reason: "no" })],
  ["ready", "replan", "drift, all disproved", () => unsent().do({ type: "drifted", reason: NO })],
  ["ready", "succeeded", "positive, all disproved", () => unsent().ends(1, APPLIED)],
  [
    "ready",
    "accepted",
    "acceptance, all disproved",
    () => unsent().hears({ kind: "accepted" }, { ...SIGNED, attempt: 1 }),
  ],
  ["ready", "unknown", "the journal went back in time", () => new Story().do({ type: "restored", until: T0 })],

  ["dispatched", "unknown", "last possible send + timeout", () => due(new Story().dispatch())],
  ["dispatched", "unknown", "lost lease", () => new Story().isLost()],
  ["dispatched", "unknown", "its promise ended without knowledge", () => new Story().dispatch().ends(1, UNKNOWN)],
  [
    "dispatched",
    "unknown",
    "its worker is gone",
    () => new Story().dispatch().do({ type: "worker_gone", worker_id: "worker-1", proof: "p" }),
  ],
  ["dispatched", "succeeded", "acknowledged", () => new Story().dispatch().ends(1, APPLIED)],
  [
    "dispatched",
    "succeeded",
    "confirmed by webhook",
    () => new Story().dispatch().hears({ kind: "applied" }, { ...SIGNED, attempt: 1 }),
  ],
  ["dispatched", "succeeded", "confirmed by a look", () => new Story().dispatch().sees([charge()])],
  ["dispatched", "accepted", "accepted", accepted],
  ["dispatched", "ready", "all disproved", () => new Story().dispatch().ends(1, DECLINED)],
  ["dispatched", "failed", "all disproved, permanent", () => new Story().dispatch().ends(1, REJECTED)],
  [
    "dispatched",
    "not_applied",
    "all disproved, spent",
    () => new Story({ contract: contract({ attempts: 1 }) }).dispatch().ends(1, DECLINED),
  ],
  ["dispatched", "dispatched", "positive of another generation", () => otherGeneration()],
  [
    "dispatched",
    "undone",
    "reversed",
    () => new Story().dispatch().hears({ kind: "reversed", reason: "r" }, { ...SIGNED, attempt: 1 }),
  ],
  [
    "dispatched",
    "needs_review",
    "ended, and something else was found",
    () => new Story().dispatch().sees([wrong]).ends(1, UNKNOWN),
  ],

  [
    "accepted",
    "accepted",
    "settleBy → probe due",
    () =>
      accepted()
        .until(T0 + 72 * HOUR)
        .do({ type: "probe_started", worker_id: "w", until: T0 + 73 * HOUR }),
  ],
  [
    "accepted",
    "needs_review",
    "still open after settleBy",
    () =>
      accepted()
        .until(T0 + 72 * HOUR)
        .sees([])
        .do({ type: "due" }),
  ],
  ["accepted", "succeeded", "resolve", () => accepted().resolve("succeeded")],
  ["accepted", "undone", "resolve", () => accepted().resolve("undone")],
  ["accepted", "closed_unknown", "resolve", () => accepted().resolve("closed_unknown")],
  ["accepted", "succeeded", "settled", () => accepted().hears({ kind: "applied" }, { ...SIGNED, attempt: 1 })],
  ["accepted", "undone", "reversed, bounced", () => accepted().hears({ kind: "reversed", reason: "bounced" }, SIGNED)],
  ["accepted", "needs_review", "diverged", () => accepted().sees([wrong])],

  ["unknown", "dispatched", "key protects, same-key attempt due", () => keyed().isLost().sees([]).dispatch()],
  [
    "unknown",
    "unknown",
    "next check → probe",
    () => new Story().isLost().do({ type: "probe_started", worker_id: "w", until: T0 + HOUR }),
  ],
  ["unknown", "needs_review", "no means left", () => due(new Story({ contract: blind() }).isLost())],
  ["unknown", "needs_review", "budget spent", () => budgetSpent()],
  [
    "unknown",
    "needs_review",
    "open too long",
    () =>
      new Story()
        .isLost({ transport: "opaque" })
        .until(T0 + 2 * HOUR)
        .do({ type: "due" }),
  ],
  ["unknown", "succeeded", "resolve", () => new Story().isLost().resolve("succeeded")],
  [
    "unknown",
    "not_applied",
    "resolve",
    () =>
      new Story()
        .isLost()
        .until(T0 + HOUR)
        .resolve("not_applied"),
  ],
  ["unknown", "undone", "resolve", () => new Story().isLost().resolve("undone")],
  [
    "unknown",
    "ready",
    "resolve",
    () =>
      new Story()
        .isLost()
        .until(T0 + HOUR)
        .resolve("ready"),
  ],
  ["unknown", "closed_unknown", "resolve", () => new Story().isLost().resolve("closed_unknown")],
  ["unknown", "succeeded", "confirmed", () => new Story().isLost().sees([charge()])],
  ["unknown", "succeeded", "acknowledged late", () => new Story().isLost().ends(1, APPLIED)],
  ["unknown", "accepted", "accepted late", () => new Story().isLost().ends(1, { class: "accepted", output: null })],
  ["unknown", "ready", "refuted", () => new Story().isLost().isRefuted()],
  [
    "unknown",
    "not_applied",
    "refuted, nothing may be sent",
    () => new Story({ contract: contract({ attempts: 1 }) }).isLost().isRefuted(),
  ],
  [
    "unknown",
    "failed",
    "refuted after a refusal",
    () =>
      new Story()
        .dispatch()
        .ends(1, { ...REJECTED, look_first: true })
        .sees([]),
  ],
  ["unknown", "needs_review", "diverged", () => new Story().isLost().sees([wrong])],
  ["unknown", "undone", "reversed", () => new Story().isLost().hears({ kind: "reversed", reason: "r" }, SIGNED)],
  ["unknown", "held", "restored and refuted", () => back(new Story({}, HELD))],
  ["unknown", "awaiting_approval", "restored and refuted", () => back(new Story({}, ASKED))],

  [
    "needs_review",
    "needs_review",
    "slow probe",
    () => budgetSpent().do({ type: "probe_started", worker_id: "w", until: T0 + 300 * HOUR }),
  ],
  ["needs_review", "needs_review", "age alarm", () => due(review())],
  ["needs_review", "succeeded", "resolve", () => review().resolve("succeeded")],
  ["needs_review", "not_applied", "resolve", () => review().resolve("not_applied")],
  ["needs_review", "undone", "resolve", () => review().resolve("undone")],
  ["needs_review", "ready", "resolve", () => review().resolve("ready")],
  ["needs_review", "closed_unknown", "resolve", () => review().resolve("closed_unknown")],
  ["needs_review", "succeeded", "confirmed", () => budgetSpent().sees([charge()])],
  ["needs_review", "not_applied", "refuted", () => budgetSpent().isRefuted()],
  ["needs_review", "accepted", "accepted late", () => review().ends(1, { class: "accepted", output: null })],

  [
    "not_applied",
    "ready",
    "retry",
    () => spent().do({ type: "retry", after_attempt: 1, deadline_at: T0 + 9 * DAY, automatic: false }),
  ],
  ["not_applied", "not_applied", "supersede", () => spent().do({ type: "superseded", by: "op-2" })],
  [
    "failed",
    "failed",
    "supersede",
    () => new Story().dispatch().ends(1, REJECTED).do({ type: "superseded", by: "op-2" }),
  ],
  ["undone", "undone", "supersede", () => accepted().resolve("undone").do({ type: "superseded", by: "op-2" })],
  [
    "succeeded",
    "succeeded",
    "compensate",
    () => new Story().dispatch().ends(1, APPLIED).do({ type: "compensated", by: "op-2", settled: true }),
  ],
  ["not_applied", "not_applied", "late positive → contradicted", () => spent().ends(1, APPLIED)],
  [
    "not_applied",
    "succeeded",
    "contradicted, amend",
    () => spent().ends(1, APPLIED).do({ type: "amend", to: "succeeded", reason: "it is there" }),
  ],
  [
    "closed_unknown",
    "undone",
    "amend",
    () => accepted().resolve("closed_unknown").do({ type: "amend", to: "undone", reason: "refunded" }),
  ],
]

const REFUSED_AT_ADMISSION: Arrow = [
  "refused",
  "refused",
  "refused at admission, then superseded",
  () => new Story({}, REFUSED).do({ type: "superseded", by: "op-2" }),
]

function spent(): Story {
  return new Story({ contract: contract({ attempts: 1 }) }).dispatch().ends(1, DECLINED)
}

function budgetSpent(): Story {
  const story = new Story().isLost()
  for (let look = 0; look < DEFAULTS.probes_answered; look += 1) story.hears({ kind: "unsure", reason: "cut off" })
  return due(story)
}

function otherGeneration(): Story {
  const story = keyed({ replays_errors: true }).isLost().isRefuted()
  return story.until(story.operation.due_at).dispatch().ends(1, APPLIED)
}

function back(story: Story): Story {
  story.do({ type: "restored", until: T0 })
  return story.until(restoredSettledFrom(story.operation)).sees([]).wait(MINUTE).sees([])
}

describe("an arrow of the state table [item 14] [item 5] [R29]", () => {
  test.each([...ARROWS, REFUSED_AT_ADMISSION])("%s → %s: %s", (from, to, _by, walk) => {
    expect(walk().path.slice(-2)).toEqual([from, to])
  })

  test("leads into every state there is", () => {
    const reached = new Set(["held", "awaiting_approval", "ready", "refused", ...ARROWS.map(([, to]) => to)])
    expect(STATE_NAMES.filter((state) => !reached.has(state))).toEqual([])
  })

  test("leads out of every open state, by a timer as well as by news", () => {
    const out = new Set(ARROWS.filter(([from, to]) => from !== to).map(([from]) => from))
    expect(
      ["held", "awaiting_approval", "ready", "dispatched", "accepted", "unknown", "needs_review"].filter(
        (one) => !out.has(one as State),
      ),
    ).toEqual([])
  })
})
