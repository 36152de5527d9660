// Names of ours that use a word which the glossary gives up for another: in files, exports, fields and SQL.

import type { Finding, SourceFile } from "./finding.ts"
import { lineAt } from "./finding.ts"
import { field, list, nameOf, parse, walk } from "./syntax.ts"
import type { SyntaxNode } from "./syntax.ts"

/** Reads the table "Words not used": each word with the word to take instead. */
export function unusedWords(glossary: string): Map<string, string> {
  const section = glossary.split("## Words not used")[1] ?? ""
  const rows = [...section.matchAll(/^\| *(\w+) *\| *([^|]+?) *\|$/gm)].map(
    (row) => [row[1] ?? "", row[2] ?? ""] as const,
  )
  return new Map(rows.filter(([word]) => word !== "not"))
}

/** Judges the names that the file gives to things. */
export function judgeWords(file: SourceFile, words: ReadonlyMap<string, string>): Finding[] {
  const names = [{ name: file.path.split("/").at(-1)?.split(".")[0] ?? "", start: 0 }]
  if (file.path.endsWith(".sql")) names.push(...sqlNames(file.text))
  else names.push(...declaredNames(parse(file).program))
  return names.flatMap(({ name, start }) =>
    wordsIn(name).flatMap((word) => {
      const better = words.get(word) ?? words.get(word.replace(/s$/, ""))
      if (better === undefined) return []
      return [
        { path: file.path, line: lineAt(file.text, start), message: `${name} says "${word}"; the word is ${better}` },
      ]
    }),
  )
}

/** The words of a name in kebab-case, snake_case or camelCase. */
function wordsIn(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
}

interface PlacedName {
  readonly name: string
  readonly start: number
}

/** What a source declares for others to see: exports, and the fields of its types. */
function declaredNames(program: SyntaxNode): PlacedName[] {
  const names: PlacedName[] = []
  walk(program, (node, ancestors) => {
    const isExported = ancestors.at(-1)?.type === "ExportNamedDeclaration"
    const isField = node.type === "TSPropertySignature" || node.type === "TSMethodSignature"
    const named = isField ? [field(node, "key")] : isExported ? [field(node, "id"), ...declaratorIds(node)] : []
    for (const entry of named) {
      const name = nameOf(entry)
      if (name !== undefined) names.push({ name, start: node.start })
    }
  })
  return names
}

const declaratorIds = (node: SyntaxNode) => list(node, "declarations").map((entry) => field(entry, "id"))

/** Identifiers of SQL outside comments and literals. */
function sqlNames(text: string): PlacedName[] {
  const bare = text.replaceAll(/--[^\n]*|'[^']*'/g, (match) => " ".repeat(match.length))
  return [...bare.matchAll(/[A-Za-z_]\w*/g)].map((match) => ({ name: match[0], start: match.index + 1 }))
}
