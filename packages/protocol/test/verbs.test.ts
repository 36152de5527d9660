// Hunts a verb that one door offers and another does not know, a state without a way out by hand, and a right that an agent's door
// would give away.

import {
  isTerminal,
  RIGHTS,
  STATE_NAMES,
  STATES,
  supersedeRight,
  VERB_NAMES,
  VERBS,
  verbsFrom,
  type Verb,
} from "@invokejs/protocol"
import { expect, test } from "vitest"

test("the verbs are the ones that SDK, HTTP, CLI and console are written for [ST-4] [item 25]", () => {
  expect(VERB_NAMES).toEqual([
    "allow",
    "approve",
    "deny",
    "cancel",
    "resolve",
    "retry",
    "supersede",
    "repeat",
    "reconcile",
    "amend",
    "compensate",
    "purge",
    "liftQuarantine",
    "workersGone",
  ])
})

/** Verbs that move nothing themselves: the state table does not list them. */
const BESIDE: readonly Verb[] = ["repeat", "reconcile", "purge", "liftQuarantine", "workersGone"]

test.each(STATE_NAMES)("%s hears the verbs that the state table gives it [ST-4] [item 25]", (state) => {
  const here = verbsFrom(state).filter((verb) => !BESIDE.includes(verb))
  const there: readonly string[] = STATES[state].verbs
  expect([...here].toSorted()).toEqual([...there].toSorted())
})

test("every state that is not terminal has a verb, or an attempt whose worker can be called gone [ST-7] [R29]", () => {
  const open = STATE_NAMES.filter((state) => !isTerminal(state))
  expect(open.filter((state) => verbsFrom(state).length === 0)).toEqual(["dispatched"])
  expect(VERBS.workersGone.right).toBe("attest")
})

test("nothing dispatched is cancelled, and only proof of nothing lets an action be retried [R10] [R18]", () => {
  expect(VERBS.cancel.from).toEqual(["held", "awaiting_approval", "ready"])
  expect(VERBS.retry.from).toEqual(["not_applied"])
  for (const state of ["accepted", "unknown", "needs_review", "closed_unknown", "dispatched"] as const) {
    expect(VERBS.supersede.from).not.toContain(state)
  }
})

test("deciding, resolving, attesting and the journal need rights that no calling profile has [HU-4]", () => {
  const calling = VERB_NAMES.filter((verb) => ["call", "retry", "supersede", "repeat"].includes(VERBS[verb].right))
  expect(calling).toEqual(["allow", "retry", "supersede", "repeat"])
  expect(VERB_NAMES.every((verb) => RIGHTS.includes(VERBS[verb].right))).toBe(true)
})

test("what was never sent may be superseded by every caller, but not a denial; the rest needs the right [item 29]", () => {
  expect(supersedeRight("expired", 0)).toBe("call")
  expect(supersedeRight("refused", 0)).toBe("call")
  expect(supersedeRight("denied", 0)).toBe("supersede")
  expect(supersedeRight("not_applied", 1)).toBe("supersede")
  expect(supersedeRight("replan", 2)).toBe("supersede")
})
