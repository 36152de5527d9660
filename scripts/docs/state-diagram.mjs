// @ts-check
// The arrows of the state graph as a drawing and as rows.

import { STATE_NAMES } from "@invokejs/protocol"

/** @import { Edge } from "./state-graph.mjs" */

const ORDER = [...STATE_NAMES, "contradicted"]

/** One row for each pair of states, in the order of the state table. @param {readonly Edge[]} edges */
export function mergeEdges(edges) {
  /** @type {Map<string, { from: string, by: string[], to: string }>} */
  const rows = new Map()
  for (const { from, by, to } of edges) {
    const row = rows.get(`${from} ${to}`) ?? { from, by: [], to }
    row.by.push(by)
    rows.set(`${from} ${to}`, row)
  }
  const place = (/** @type {string} */ state) => ORDER.indexOf(state)
  return [...rows.values()]
    .map((row) => ({ ...row, by: row.by.toSorted() }))
    .toSorted((a, b) => place(a.from) - place(b.from) || place(a.to) - place(b.to))
}

/** What happens by itself: no verb, no late news. @param {readonly Edge[]} edges */
export function mermaid(edges) {
  const rows = mergeEdges(edges.filter(({ kind }) => kind === "by itself"))
  const ends = ORDER.filter((state) => rows.every((row) => row.from !== state) && rows.some((row) => row.to === state))
  return [
    "stateDiagram-v2",
    "  [*] --> ready",
    "  [*] --> held: possible duplicate",
    "  [*] --> refused: duplicate of a settled one",
    ...rows.map(({ from, by, to }) => `  ${from} --> ${to}: ${by.join(", ")}`),
    ...ends.map((state) => `  ${state} --> [*]`),
  ].join("\n")
}
