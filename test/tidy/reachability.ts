// What is reached from the doors of the packages: their entries, their programs, and the tests. What is not reached is dead.

import type { Finding, SourceFile } from "./finding.ts"
import { lineAt } from "./finding.ts"
import { importsOf, packageOf, resolveRelative } from "./imports.ts"
import { doorsOf, sourceOfBuilt, workspacePackages } from "./packages.ts"
import { children, field, list, nameOf, parse, stringOf, walk } from "./syntax.ts"
import type { SyntaxNode } from "./syntax.ts"
import { isSource, isTestCode } from "./tree.ts"

/** A declaration file describes what stands elsewhere; nothing imports it, and it is not asked. */
const isCode = (path: string): boolean => /\.(ts|tsx|mjs)$/.test(path) && !path.endsWith(".d.ts")

/**
 * The programs of the packages: what `bin` names, `src/bin.ts`, and what code starts by URL (workers, child processes).
 * They may run on import.
 */
export function programs(tree: readonly SourceFile[]): Set<string> {
  const bins = workspacePackages(tree).flatMap(({ folder, manifest }) => {
    const paths = typeof manifest.bin === "string" ? [manifest.bin] : Object.values(manifest.bin ?? {})
    return [...paths, "dist/bin.js"].map((path) => sourceOfBuilt(folder, path))
  })
  const started = tree
    .filter((file) => isCode(file.path))
    .flatMap((file) =>
      importsOf(file)
        .filter((module) => module.kind === "file")
        .map((module) => resolveRelative(file.path, module.specifier)),
    )
  return new Set([...bins, ...started].filter((path) => tree.some((file) => file.path === path)))
}

/** Sources that no entry and no program reaches, and files of test code that no test file reaches. */
export function deadFiles(tree: readonly SourceFile[]): Finding[] {
  const files = new Map(tree.filter((file) => isCode(file.path)).map((file) => [file.path, file]))
  const roots = [
    ...doorsOf(workspacePackages(tree)).values(),
    ...programs(tree),
    ...commandsOf(tree),
    ...[...files.keys()].filter(isRoot),
  ]
  const reached = new Set<string>()
  const pending = roots.filter((path) => files.has(path))
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const file = files.get(path)
    if (file === undefined || reached.has(path)) continue
    reached.add(path)
    pending.push(...linksOf(file))
  }
  return [...files.keys()]
    .filter((path) => (isSource(path) || isTestCode(path)) && !reached.has(path))
    .map((path) => ({ path, line: 1, message: "is reached from no entry, program or test; use it or delete it" }))
}

/** The files that the commands of the workspace's package.json name. */
function commandsOf(tree: readonly SourceFile[]): string[] {
  const manifest = tree.find((file) => file.path === "package.json")?.text ?? "{}"
  const { scripts = {} } = JSON.parse(manifest) as { scripts?: Record<string, string> }
  return Object.values(scripts).flatMap((command) => command.match(/[\w./-]+\.(ts|mjs)\b/g) ?? [])
}

const isRoot = (path: string): boolean => path.endsWith(".test.ts") || path.endsWith("-reporter.ts")

/** Files that a file imports, or names by a path in a string, as a test does that starts a child process. */
function linksOf(file: SourceFile): string[] {
  const links = importsOf(file).map((module) => resolveRelative(file.path, module.specifier))
  if (!isTestCode(file.path)) return links
  walk(parse(file).program, (node) => {
    const text = stringOf(node)
    if (text !== undefined && /^[\w./-]+\.(ts|mjs|js)$/.test(text)) links.push(resolveRelative(file.path, text))
  })
  return links
}

/**
 * Exported values of sources that no other file takes by name. `internal.ts` is asked too: a seam that no test uses is
 * dead. Types are not asked: one that stands in the signature of an exported function is rightly exported with it.
 */
export function deadExports(tree: readonly SourceFile[]): Finding[] {
  const doors = doorsOf(workspacePackages(tree))
  const promised = new Set([...doors].filter(([name]) => !name.endsWith("/internal")).map(([, path]) => path))
  const taken = new Set<string>()
  for (const file of tree.filter((candidate) => isCode(candidate.path))) {
    for (const module of importsOf(file)) {
      const target = packageOf(module.specifier) ?? resolveRelative(file.path, module.specifier)
      for (const name of module.names) taken.add(`${doors.get(module.specifier) ?? target}#${name}`)
    }
  }
  return tree
    .filter((file) => isSource(file.path) && isCode(file.path) && !promised.has(file.path))
    .flatMap((file) =>
      exportsOf(file)
        .filter(({ name }) => !taken.has(`${file.path}#${name}`) && !taken.has(`${file.path}#*`))
        .map(({ name, line }) => ({ path: file.path, line, message: `exports ${name}, which no other file imports` })),
    )
}

function exportsOf(file: SourceFile): { name: string; line: number }[] {
  return children(parse(file).program)
    .filter((node) => node.type === "ExportNamedDeclaration")
    .flatMap((node) => exportedNames(node).map((name) => ({ name, line: lineAt(file.text, node.start) })))
}

function exportedNames(node: SyntaxNode): string[] {
  const declaration = field(node, "declaration")
  if (node["exportKind"] === "type" || declaration?.type.startsWith("TS")) return []
  const named = list(node, "specifiers")
    .filter((entry) => entry["exportKind"] !== "type")
    .map((entry) => nameOf(field(entry, "exported")))
  const declared = [declaration, ...list(declaration, "declarations")].map((entry) => nameOf(field(entry, "id")))
  return [...named, ...declared].filter((name) => name !== undefined)
}
