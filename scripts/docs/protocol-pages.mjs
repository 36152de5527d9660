// @ts-check
// Reference pages whose truth is a constant of the protocol: results, states, verbs, defaults.

import { agentText, DEFAULTS, RESULT_TABLE, ROW_IDS, STATE_NAMES, STATES, VERB_NAMES, VERBS } from "@invokejs/protocol"
import { numberedIds } from "./bench.mjs"
import { bytes, code, codes, duration, fence, pageHead, table, yes } from "./markdown.mjs"
import { entryDocs, fieldsOf, methodsOf } from "./source-docs.mjs"
import { mermaid, mergeEdges } from "./state-diagram.mjs"

/** @import { Result } from "@invokejs/protocol" */
/** @import { Edge } from "./state-graph.mjs" */

const NOTHING_KNOWN = { next_check_at: null, held_by: null, superseded_by: null, compensated_by: null }
const SAMPLE_ID = "019b7777-0000-70a1-8000-000000000004"

/** @param {Result} sample a result that an engine gave */
export function resultsPage(sample) {
  const rows = ROW_IDS.map((row) => {
    const { when, status, final_outcome, decision, retry, exit, http } = RESULT_TABLE[row]
    return [when, ...[status, final_outcome, decision, retry].map(code), String(exit), String(http)]
  })
  const texts = ROW_IDS.map((row) => [
    code(row),
    agentText(row, null, { operation_id: SAMPLE_ID, ...NOTHING_KNOWN }).replaceAll(SAMPLE_ID, "…"),
  ])
  const fields = fieldsOf("packages/protocol/src/result.ts", "export interface ResultFields")
  return `${pageHead("Results", "packages/protocol/src/result-table.ts", "result.ts", "agent-text.ts")}
Every call is answered with one row of this table, and nothing else can be built.

${table(["state and circumstance", "status", "final_outcome", "decision", "retry", "exit", "HTTP"], rows)}

- \`status\`: what became of this call. \`final_outcome\`: what is true in the world. \`decision\`: what to do.
- \`retry\`: who may start the next attempt. \`blocked\` overrides any plan; \`automatic\` is Invoke's own.
- \`ok\` is true where exit is 0: the effect is in place. \`settled\` is true where HTTP is 200.
- A caller without the right to retry or supersede reads \`blocked\` where the table says \`allowed\` or \`after_replan\`, with
  \`reason.code\` \`needs_right\`. In process the caller is the application itself and has both rights.
- Where \`superseded_by\` is set, the row reads \`replan\` and \`blocked\`.

## A result

A lost acknowledgement, found again by the tool's probe:

${fence("json", numberedIds(JSON.stringify(sample, null, 2)))}

## Fields

The fields beside those of the table.

${table(
  ["field", "type", "says"],
  fields.map(({ name, type, doc }) => [code(name), code(type), doc]),
)}

## What a model is told

\`agent_text\` is one template for each row, in Invoke's own words. It repeats nothing that a provider, a tool or a person
wrote.

${table(["row", "agent_text"], texts)}
`
}

/** @param {readonly Edge[]} edges */
export function statesPage(edges) {
  const rows = STATE_NAMES.map((state) => {
    const { terminal, sent, timers, verbs } = STATES[state]
    return [code(state), yes(terminal), typeof sent === "boolean" ? yes(sent) : sent, codes(timers), codes(verbs)]
  })
  return `${pageHead("States", "packages/protocol/src/state.ts", "what transition() allows")}
The states of an operation, and what each one hears.

${table(["state", "terminal", "was an attempt made", "timers", "verbs of people"], rows)}

Verbs that are about no single state (\`repeat\`, \`reconcile\`, \`purge\`) stand in [the table of verbs](verbs.md).
"Reconciling" is no state: it is \`reconciling: true\` beside \`unknown\`, \`accepted\` or \`needs_review\`.

## Drawn

What happens by itself. Verbs and late news are left out of the drawing and stand in the table below.

${fence("mermaid", mermaid(edges))}

## Every arrow

Walked through \`transition()\`, the only door to a state: an arrow that is missing here is refused there.
"Late" is news of an attempt that nobody waits for any more.

${table(
  ["from", "by", "to"],
  mergeEdges(edges).map(({ from, by, to }) => [code(from), by.join(", "), code(to)]),
)}

A contradicted operation keeps its state, answers as \`needs_review\`, and is closed to retry and supersede until a person amends it.
`
}

export function verbsPage() {
  const rows = VERB_NAMES.map((verb) => {
    /** @type {{ from: readonly string[] | null, to: readonly string[], right: string, does: string, creates?: string }} */
    const { from, to, right, does, creates } = VERBS[verb]
    return [
      code(verb),
      does,
      from === null ? "the journal" : codes(from),
      to.length > 0 ? codes(to) : creates === "operation" ? "a new operation" : "stays",
      code(right),
    ]
  })
  const held = methodsOf("packages/engine/dist/operate/operator.d.ts", "export declare class Operator")
  const built = VERB_NAMES.filter((verb) => held.some(({ name }) => name === verb))
  return `${pageHead("Verbs", "packages/protocol/src/verbs.ts")}
What people may do to an operation, and from which states. One table for every door.

${table(["verb", "does", "from", "to", "right"], rows)}

\`invoke.operator({ name })\` holds the verbs that are built: ${codes(built)}. Hand it to operators' code only: an agent sees the
other object. Not built: ${codes(VERB_NAMES.filter((verb) => !built.includes(verb)))}.
\`invoke.rights(["retry"], { name })\` hands out single verbs. [How to use them](../start/operators.md).
`
}

export function defaultsPage() {
  const docs = entryDocs("packages/protocol/src/defaults.ts", "export const DEFAULTS")
  const rows = Object.entries(DEFAULTS).map(([name, value]) => [
    code(name),
    defaultText(name, value),
    docs.get(name) ?? "",
  ])
  return `${pageHead("Defaults and limits", "packages/protocol/src/defaults.ts")}
Every default and limit, with its unit in its name.

${table(["name", "value", "why"], rows)}

With these defaults an ordinary "it did not happen" takes Q + V + spacing, six to seven minutes: \`max_execution_ms\` and
\`visibility_ms\` after the attempt ended, then a second look. [What brings it to seconds](../concepts/reconciliation.md).
`
}

/** @param {string} name @param {unknown} value */
function defaultText(name, value) {
  if (Array.isArray(value)) return value.map((one) => duration(Number(one))).join(", ")
  if (typeof value === "number" && name.endsWith("_ms")) return duration(value)
  if (typeof value === "number" && name.includes("bytes")) return bytes(value)
  return typeof value === "string" ? code(JSON.stringify(value)) : String(value)
}
