// Hunts a first record that lacks what later attempts need, and a slot that is filled too long, too short or twice.

import { describe, expect, test } from "vitest"
import { DEFAULTS, fillsSlot } from "@invokejs/protocol"
import type { Admission } from "@invokejs/protocol"
import { APPLIED, charge, contract, DAY, DECLINED, HOUR, MINUTE, REJECTED, Story, T0 } from "./builders.ts"

const HELD: Admission = { kind: "held", by: "op-0", reason: { code: "possible_duplicate", text: "an equal action" } }
const REFUSED: Admission = {
  kind: "refused",
  holder: "op-0",
  reason: { code: "possible_duplicate", text: "an equal action" },
}
const asked = (expires_at: number): Admission => ({
  kind: "awaiting_approval",
  approval_id: "ap-1",
  expires_at,
  reason: { code: "ask", text: "policy asks" },
})

describe("the first record", () => {
  test("is the first real state, at version 1, with its deadline and its timer [R29]", () => {
    const { operation, last } = new Story()
    expect(operation).toMatchObject({
      state: "ready",
      version: 1,
      due_at: T0,
      deadline_at: T0 + DAY,
      attempts: [],
      generation: 0,
    })
    expect(last?.events.map((one) => [one.type, one.from, one.to])).toEqual([["requested", null, "ready"]])
  })

  test("of a newcomer to an unresolved holder is held, for an hour at most and never past the deadline [R16] [item 8]", () => {
    const { operation, last } = new Story({}, HELD)
    expect(operation).toMatchObject({ state: "held", held_by: "op-0", due_at: T0 + DEFAULTS.hold_for_ms })
    expect(last?.events.map((one) => one.type)).toEqual(["requested", "held"])
    expect(new Story({ contract: contract({ deadline_ms: MINUTE }) }, HELD).operation.due_at).toBe(T0 + MINUTE)
  })

  test("of a newcomer to a settled holder is refused, and settled [R16]", () => {
    expect(new Story({}, REFUSED).operation).toMatchObject({
      state: "refused",
      held_by: "op-0",
      due_at: null,
      settled_at: T0,
    })
  })

  test("that policy asks about waits for the approval, no longer than it or the deadline lasts [R22]", () => {
    expect(new Story({}, asked(T0 + HOUR)).operation).toMatchObject({
      state: "awaiting_approval",
      approval_id: "ap-1",
      due_at: T0 + HOUR,
    })
    expect(new Story({}, asked(T0 + 9 * DAY)).operation.due_at).toBe(T0 + DAY)
    expect(new Story({}, asked(T0 + HOUR)).last?.events.map((one) => one.type)).toEqual([
      "requested",
      "approval_requested",
    ])
  })
})

describe("the intent slot", () => {
  const fills = (story: Story, after = 0) => fillsSlot(story.operation, story.now + after)

  test("is filled by what is unresolved, accepted, closed without an answer, or contradicted [R16] [item 8]", () => {
    expect(fills(new Story())).toBe(true)
    expect(fills(new Story().dispatch(), 365 * DAY)).toBe(true)
    expect(fills(new Story().isLost(), 365 * DAY)).toBe(true)
    const accepted = new Story().dispatch().ends(1, { class: "accepted", output: null })
    expect(fills(accepted, 365 * DAY)).toBe(true)
    expect(fills(accepted.resolve("closed_unknown"), 365 * DAY)).toBe(true)
    const once = new Story({ contract: contract({ attempts: 1 }) }).dispatch().ends(1, DECLINED)
    expect(fills(once)).toBe(false)
    expect(fills(once.sees([charge()]), 365 * DAY)).toBe(true)
  })

  test("is filled by a success until the repeat window ends, or its compensation has succeeded [item 24]", () => {
    const story = new Story().dispatch().ends(1, APPLIED)
    expect(fills(story, DAY - 1)).toBe(true)
    expect(fills(story, DAY)).toBe(false)
    expect(fillsSlot(story.operation, story.now + HOUR, MINUTE)).toBe(false)
    expect(fills(story.do({ type: "compensated", by: "op-2", settled: true }))).toBe(false)
  })

  test("is free of what had no effect, and of a newcomer that is held for another's [item 8] [item 8b]", () => {
    expect(fills(new Story().dispatch().ends(1, REJECTED))).toBe(false)
    expect(fills(new Story().do({ type: "cancel", reason: "no" }))).toBe(false)
    expect(fills(new Story({}, HELD))).toBe(false)
    expect(fills(new Story({}, REFUSED))).toBe(false)
    expect(
      fills(new Story().isLost().hears({ kind: "reversed", reason: "bounced" }, { source: "webhook", rank: "signed" })),
    ).toBe(false)
  })
})
