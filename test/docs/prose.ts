// The register of the docs: short paragraphs, no hedging, no marketing.

import type { Finding, SourceFile } from "../tidy/finding.ts"

const SENTENCES_MAX = 3
const HEDGES =
  /\b(simply|just works|easily|effortless\w*|seamless\w*|powerful|blazing\w*|robust|world-class|cutting-edge|revolutionary|perhaps|probably|hopefully|basically|in order to|please note)\b/gi

/** Paragraphs with too many sentences, and words that say nothing. */
export function judgeProse(file: SourceFile): Finding[] {
  const findings: Finding[] = []
  let line = 1
  for (const part of withoutCode(file.text).split("\n\n")) {
    const at = line
    line += part.split("\n").length + 1
    const say = (message: string) => findings.push({ path: file.path, line: at, message })
    for (const [word] of part.matchAll(HEDGES)) say(`says "${word}"`)
    const text = part.trim()
    if (/^([#|>*<-]|\d+\. )/.test(text)) continue
    const sentences = text.replaceAll(/`[^`]*`/g, "x").match(/[.?!](?=\s|$)/g)?.length ?? 0
    if (sentences > SENTENCES_MAX) say(`has a paragraph of ${sentences} sentences, ${SENTENCES_MAX} is the most`)
  }
  return findings
}

/** Code keeps its lines, so that findings name the right ones. */
function withoutCode(text: string): string {
  return text.replaceAll(/^(```|~~~)[\s\S]*?^\1.*$/gm, (code) => code.replaceAll(/[^\n]/g, "").replaceAll("\n", "\n"))
}
