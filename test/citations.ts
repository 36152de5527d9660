// Finds the requirement ids that tests cite, and judges them against the table in requirements.ts.
//
// An id counts where it stands in a string of the code, in brackets: the name of a test, or of a case in a table of cases.
// Comments do not count, and neither does anything inside `.skip`, `.todo` or `.fails`, since that proves nothing.

import type { Requirement } from "./requirements.ts"
import type { Finding, SourceFile } from "./tidy/finding.ts"
import { lineAt } from "./tidy/finding.ts"
import { dottedName, field, parse, stringOf, walk } from "./tidy/syntax.ts"

const CITED_ID = /\[((?:ID|ST|RC|RP|CS|HU|WF|AU)-\d+|R\d+|item \d+)\]/g
const PROVES_NOTHING = /\.(skip|todo|fails)(\.|$)/

export interface Citation {
  readonly id: string
  readonly path: string
  readonly line: number
}

/** The ids in a text, in the order in which they stand there. */
export function idsIn(text: string): string[] {
  return [...text.matchAll(CITED_ID)].map((match) => match[1] ?? "")
}

/** Every id that the file cites. */
export function citationsIn(file: SourceFile): Citation[] {
  const citations: Citation[] = []
  walk(parse(file).program, (node) => {
    if (node.type === "CallExpression" && PROVES_NOTHING.test(calledName(node) ?? "")) return false
    const text = stringOf(node) ?? ""
    for (const id of idsIn(text)) citations.push({ id, path: file.path, line: lineAt(file.text, node.start) })
    return undefined
  })
  return citations
}

/** The dotted name that a call starts from: `test.skip` for `test.skip(…)` and for `test.skip.each(…)(…)`. */
function calledName(call: Parameters<typeof field>[0]): string | undefined {
  const callee = field(call, "callee")
  return callee?.type === "CallExpression" ? calledName(callee) : dottedName(callee)
}

/** What is wrong between the table and the citations: unknown ids, ids that stand twice, built ids that nothing cites. */
export function judgeCitations(requirements: readonly Requirement[], citations: readonly Citation[]): Finding[] {
  const known = new Set(requirements.map((requirement) => requirement.id))
  const cited = new Set(citations.map((citation) => citation.id))
  const table = { path: "test/requirements.ts", line: 1 }
  return [
    ...citations
      .filter((citation) => !known.has(citation.id))
      .map(({ id, path, line }) => ({ path, line, message: `cites ${id}, which test/requirements.ts does not know` })),
    ...requirements
      .filter(({ id }, index) => requirements.findIndex((other) => other.id === id) !== index)
      .map(({ id }) => ({ ...table, message: `${id} stands there twice` })),
    ...requirements
      .filter(({ id, status }) => status === "built" && !cited.has(id))
      .map(({ id, sentence }) => ({ ...table, message: `${id} is built, but no test cites it: ${sentence}` })),
  ]
}
