// Links of the documents, and the form of the change log.

import type { Finding, SourceFile } from "./finding.ts"
import { resolveRelative } from "./imports.ts"

interface ProseLine {
  readonly text: string
  readonly line: number
}

/** The lines outside fenced code, with code spans emptied. */
function proseOf(text: string): ProseLine[] {
  let fenced = false
  return text.split("\n").flatMap((raw, index) => {
    const isFence = /^\s*(```|~~~)/.test(raw)
    if (isFence) fenced = !fenced
    return isFence || fenced ? [] : [{ text: raw.replaceAll(/`[^`]*`/g, "``"), line: index + 1 }]
  })
}

/** Relative links that lead nowhere, in a file or to a heading. `exists` says whether a path is in the repository. */
export function judgeLinks(file: SourceFile, files: readonly SourceFile[]): Finding[] {
  return proseOf(file.text).flatMap(({ text, line }) =>
    [...text.matchAll(/\]\(<?([^()\s>]+)>?(?:\s+"[^"]*")?\)/g)].flatMap((match) => {
      const message = judgeTarget(file, match[1] ?? "", files)
      return message === undefined ? [] : [{ path: file.path, line, message }]
    }),
  )
}

function judgeTarget(file: SourceFile, link: string, files: readonly SourceFile[]): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return undefined
  const [path = "", anchor] = link.split("#")
  const target = path === "" ? file.path : resolveRelative(file.path, decodeURI(path)).replace(/\/$/, "")
  const document = files.find((other) => other.path === target)
  if (document === undefined && !files.some((other) => other.path.startsWith(`${target}/`))) {
    return `links to ${link}, which is not in the repository`
  }
  if (!anchor || document === undefined || headingAnchors(document.text).has(anchor)) return undefined
  return `links to ${link}, but ${target} has no such heading`
}

/** The anchors of the headings of a document, made as the common renderers make them. */
function headingAnchors(text: string): Set<string> {
  const counts = new Map<string, number>()
  const fenceless = text.replaceAll(/^\s*(```|~~~)[\s\S]*?^\s*\1.*$/gm, "")
  const anchors = [...fenceless.matchAll(/^#{1,6} +(.+?)\s*#*$/gm)].map((match) => {
    const base = (match[1] ?? "")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(/\s/g, "-")
    const count = counts.get(base) ?? 0
    counts.set(base, count + 1)
    return count === 0 ? base : `${base}-${count}`
  })
  return new Set(anchors)
}

const SECTIONS = new Set(["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"])

/** The change log: a title, Unreleased first, then versions from new to old, each with the known sections and list items. */
export function judgeChangelog(file: SourceFile): Finding[] {
  const findings: Finding[] = []
  const say = (line: number, message: string) => findings.push({ path: file.path, line, message })
  const prose = proseOf(file.text)
  if (prose[0]?.text !== "# Changelog") say(1, 'opens with "# Changelog"')
  const versions = prose.filter(({ text }) => text.startsWith("## "))
  if (versions[0]?.text !== "## Unreleased") say(versions[0]?.line ?? 1, 'the first section is "## Unreleased"')
  const numbers = versions.slice(1).flatMap(({ text, line }) => {
    const match = /^## (\d+)\.(\d+)\.(\d+) \(\d{4}-\d{2}-\d{2}\)$/.exec(text)
    if (match === null) say(line, `"${text}" is not "## 1.2.3 (2030-12-31)"`)
    return match === null ? [] : [{ order: match.slice(1).map(Number), line }]
  })
  numbers.forEach(({ order, line }, index) => {
    const newer = numbers[index - 1]?.order
    if (newer !== undefined && compareVersions(newer, order) <= 0) say(line, "is not older than the version above it")
  })
  for (const { text, line } of prose.filter((entry) => entry.text.startsWith("### "))) {
    if (!SECTIONS.has(text.slice(4))) say(line, `"${text.slice(4)}" is none of ${[...SECTIONS].join(", ")}`)
  }
  return findings
}

function compareVersions(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((part, index) => part !== b[index])
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}
