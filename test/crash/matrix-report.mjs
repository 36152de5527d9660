// @ts-check
// The matrix as people read it, and its closing figure.

import { BOUNDARIES, SAFETIES } from "./cells.mjs"
import { outcomeOf } from "./oracle.mjs"

/** @typedef {import("./matrix.mjs").Done} Done */

const TITLES = { idempotent: "idempotent", "write-once-checkable": "checkable", irreversible: "irreversible" }

/** @param {readonly Done[]} all @returns {string[]} */
export function tableOf(all) {
  const rows = new Map()
  for (const done of all) {
    const { boundary, how, who, effect } = done.run.cell
    const key = JSON.stringify([BOUNDARIES.findIndex((name) => name === boundary), who, how, effect])
    rows.set(key, [...(rows.get(key) ?? []), done])
  }
  const lines = [
    row(
      "",
      "interrupted by",
      "goes on",
      "landed",
      SAFETIES.map((safety) => TITLES[safety]),
    ),
  ]
  let last = ""
  for (const list of rows.values()) {
    const { boundary, how, who, effect } = list[0].run.cell
    if (boundary !== last) lines.push("", boundary)
    last = boundary
    lines.push(
      row(
        "",
        how,
        who,
        effect ? "yes" : "no",
        SAFETIES.map((safety) => shown(list, safety)),
      ),
    )
  }
  return lines
}

/** @param {string} indent @param {string} how @param {string} who @param {string} landed @param {readonly string[]} classes */
function row(indent, how, who, landed, classes) {
  const cells = classes.map((text) => text.padEnd(14))
  return `  ${indent}${how.padEnd(42)}${who.padEnd(9)}${landed.padEnd(8)}${cells.join("")}`.trimEnd()
}

/** Outcome and effects, each word once. @param {readonly Done[]} list @param {string} safety */
function shown(list, safety) {
  const runs = list.map(({ run }) => run).filter(({ cell }) => cell.safety === safety)
  if (runs.length === 0) return "-"
  if (runs.some(({ wrong }) => wrong.length > 0)) return "VIOLATION"
  const outcomes = new Set(runs.flatMap(({ repeated }) => repeated.map(outcomeOf)))
  const effects = runs.flatMap((run) => run.effects).reduce((sum, count) => sum + count, 0)
  const actions = runs.reduce((sum, { cell }) => sum + cell.calls, 0)
  return `${[...outcomes].toSorted().join("+")} ${effects}/${actions}`
}

/** @param {readonly Done[]} all @returns {string[]} */
export function violationsOf(all) {
  return all.flatMap(({ run, mode, transport }) =>
    run.wrong.map((text) => `${nameOf(run.cell)} (${mode}, ${transport}): ${text}`),
  )
}

/** @param {import("./cells.mjs").Cell} cell */
export function nameOf({ boundary, how, who, effect, safety }) {
  return `${boundary} / ${how} / ${who} / ${effect ? "landed" : "not landed"} / ${safety}`
}

/** @param {readonly Done[]} all */
export function summaryOf(all) {
  const actions = all.reduce((sum, { run }) => sum + run.cell.calls, 0)
  const effects = all.flatMap(({ run }) => run.effects)
  return {
    cells: all.length,
    actions,
    effects: effects.reduce((sum, count) => sum + count, 0),
    doubled: effects.filter((count) => count > 1).length,
    violations: violationsOf(all),
  }
}

/** @param {readonly Done[]} all */
export function figureOf(all) {
  const { cells, actions, effects, doubled, violations } = summaryOf(all)
  return `crash-matrix: ${cells} cells, ${actions} actions, ${effects} effects, ${doubled} doubled, ${violations.length} violations`
}
