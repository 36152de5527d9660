// What must not stand in the text of any file: work left for nobody, paths of one machine, addresses of a registry, and
// a lint rule switched off without a reason.

import type { Finding, SourceFile } from "./finding.ts"
import { lineAt } from "./finding.ts"
import { parse } from "./syntax.ts"

const MACHINE_PATH = /(?<![\w.:*-])\/(work|root|home\/\w+|Users\/\w+)\//g
const SCRATCH_PATH = /(?<![\w.:*-])\/(tmp|var\/tmp)\b/g
const REGISTRY = /(registry\.(npmjs|yarnpkg)\.|npm\.pkg\.github|verdaccio|artifactory|"resolved": "https?:)/gi
const UNFINISHED = /\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))/g
const LINT_SWITCH = /(?:oxlint|eslint)-(?:disable|enable)(?!.* -- \S)/g

/** Judges one file; a rule that is about comments reads comments alone. */
export function judgeText(file: SourceFile): Finding[] {
  const isCode = /\.(ts|tsx|mjs)$/.test(file.path)
  const comments = isCode ? parse(file).comments : []
  return [
    ...find(file, file.text, 0, MACHINE_PATH, "is a path of one machine; name the place relative to the repository"),
    ...(file.path.endsWith(".md") ? find(file, file.text, 0, SCRATCH_PATH, "is a path of one machine") : []),
    ...find(file, file.text, 0, REGISTRY, "names a package registry; leave it to the user's npm settings"),
    ...comments.flatMap(({ value, start }) => [
      ...find(file, value, start, UNFINISHED, "belongs to nobody; finish it, or name the issue: TODO(#12)"),
      ...find(file, value, start, LINT_SWITCH, "switches a rule off; add the reason after ` -- `"),
    ]),
  ]
}

function find(file: SourceFile, text: string, offset: number, pattern: RegExp, message: string): Finding[] {
  return [...text.matchAll(pattern)].map((match) => ({
    path: file.path,
    line: lineAt(file.text, offset + match.index + 1),
    message: `"${match[0]}" ${message}`,
  }))
}
