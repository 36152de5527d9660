// @ts-check
// What must be true of a run, judged from the provider's ledger and from what callers were told. Invoke's own records are
// asked only whether an action was lost, and whether the chain of events is whole.

/** @typedef {"ok" | "failed" | "not applied" | "review" | "none"} Outcome */
/** @typedef {{ readonly outcome: Outcome | "any", readonly effects: number | "any" }} End `none`: there is no operation */
/** @typedef {import("./worker-program.mjs").Told} Told */
/** @typedef {import("./worker-program.mjs").Held} Held */

/**
 * @typedef {object} Seen what one action looked like at one moment
 * @property {Told | null} told null: there is no operation
 * @property {number} effects
 */

/**
 * @typedef {object} ActionRun
 * @property {string} marker
 * @property {Told | null} told to the first caller; null where it died
 * @property {readonly Held[]} found operations right after the interruption, or after the first caller was told
 * @property {Seen} settled with no caller attached
 * @property {Seen} repeated after the same call was made again
 * @property {readonly Held[]} held operations at the end
 */

/** Codes of errors that say that nothing ran and nothing was reserved. */
const RESERVED_NOTHING = ["journal_unavailable", "overloaded"]

/**
 * @param {{ readonly safety: string, readonly settled: End, readonly repeated: End }} cell
 * @param {ActionRun} run
 * @returns {string[]} what is wrong
 */
export function judgeAction(cell, run) {
  return [
    ...judgeMoment("settled", cell, cell.settled, run.settled),
    ...judgeMoment("repeated", cell, cell.repeated, run.repeated),
    ...judgeFirst(run),
    ...judgeIdentity(run),
  ]
}

/** @param {string} moment @param {{ readonly safety: string }} cell @param {End} expected @param {Seen} seen */
function judgeMoment(moment, cell, expected, seen) {
  /** @type {string[]} */
  const wrong = []
  const { told, effects } = seen
  const outcome = outcomeOf(told)
  if (effects > 1) wrong.push(`${moment}: ${effects} effects`)
  if (outcome === "error") wrong.push(`${moment}: ${told !== null && "error" in told ? told.error : ""}`)
  if (outcome === "open") wrong.push(`${moment}: left ${told !== null && "status" in told ? told.status : ""}`)
  if (outcome === "ok" && effects !== 1) wrong.push(`${moment}: told ok with ${effects} effects`)
  if ((outcome === "failed" || outcome === "not applied" || outcome === "none") && effects !== 0) {
    wrong.push(`${moment}: ${outcome} with ${effects} effects`)
  }
  if (outcome === "review" && cell.safety !== "irreversible")
    wrong.push(`${moment}: a person is asked about what can be found out`)
  if (expected.outcome !== "any" && outcome !== expected.outcome) {
    wrong.push(`${moment}: ${outcome}, expected ${expected.outcome}`)
  }
  if (expected.effects !== "any" && effects !== expected.effects) {
    wrong.push(`${moment}: ${effects} effects, expected ${expected.effects}`)
  }
  return wrong
}

/** What the first caller was told is never taken back. @param {ActionRun} run */
function judgeFirst({ told, found, repeated }) {
  if (told === null) return []
  if ("error" in told) {
    if (!RESERVED_NOTHING.includes(told.error)) return [`first told ${told.error}`]
    return found.length === 0
      ? []
      : [`first told that nothing was reserved, and ${found[0]?.operation_id ?? ""} exists`]
  }
  const now = repeated.told
  /** @type {string[]} */
  const wrong = []
  if (now === null || "error" in now || now.operation_id !== told.operation_id) {
    // An admission that was told to be in doubt, and did not take place, comes back under another id.
    if (found.length > 0) wrong.push(`first told ${told.operation_id}, and it is another operation now`)
  }
  if (told.ok && outcomeOf(now) !== "ok") wrong.push(`first told ok, then ${outcomeOf(now)}`)
  return wrong
}

/** One action is one operation, for ever. @param {ActionRun} run */
function judgeIdentity({ found, held }) {
  /** @type {string[]} */
  const wrong = []
  if (held.length !== 1) wrong.push(`${held.length} operations for one action`)
  const lost = found.filter(({ operation_id }) => !held.some((one) => one.operation_id === operation_id))
  if (lost.length > 0) wrong.push(`operation ${lost[0]?.operation_id ?? ""} was lost`)
  return wrong
}

/** @param {Told | null} told @returns {Outcome | "open" | "error"} */
export function outcomeOf(told) {
  if (told === null) return "none"
  if ("error" in told) return "error"
  if (told.ok) return "ok"
  if (told.status === "needs_review") return "review"
  if (!told.settled) return "open"
  return told.final_outcome === "failed" ? "failed" : told.final_outcome === "not_executed" ? "not applied" : "open"
}
