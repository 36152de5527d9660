// Every module specifier of a file, from any of the forms in which one can be written.

import type { SourceFile } from "./finding.ts"
import { lineAt } from "./finding.ts"
import { dottedName, field, list, nameOf, parse, stringOf, walk } from "./syntax.ts"
import type { SyntaxNode } from "./syntax.ts"

export interface ImportedModule {
  readonly specifier: string
  readonly line: number
  /** The names taken from the module as it exports them; `*` stands for all of them. */
  readonly names: readonly string[]
  /** `file` is a path given by `new URL("./x.js", import.meta.url)`: a worker or a child process, loaded by no import. */
  readonly kind: "import" | "export" | "file"
}

/** What the file imports, re-exports or starts by URL. */
export function importsOf(file: SourceFile): ImportedModule[] {
  const found: ImportedModule[] = []
  walk(parse(file).program, (node) => {
    const module = importAt(node)
    if (module !== undefined) found.push({ ...module, line: lineAt(file.text, node.start) })
  })
  return found
}

function importAt(node: SyntaxNode): Omit<ImportedModule, "line"> | undefined {
  const specifier = stringOf(field(node, "source"))
  switch (node.type) {
    case "ImportDeclaration":
      return { specifier: specifier ?? "", names: list(node, "specifiers").map(importedName), kind: "import" }
    case "ExportNamedDeclaration": {
      if (specifier === undefined) return undefined
      const names = list(node, "specifiers").map((entry) => nameOf(field(entry, "local")) ?? "*")
      return { specifier, names, kind: "export" }
    }
    case "ExportAllDeclaration":
      return { specifier: specifier ?? "", names: ["*"], kind: "export" }
    case "ImportExpression":
    case "TSImportType":
      // What a computed specifier loads is only known when it runs: a user's tool module, for example.
      return specifier === undefined ? undefined : { specifier, names: ["*"], kind: "import" }
    case "NewExpression": {
      const [path, base] = list(node, "arguments")
      const url = dottedName(field(node, "callee")) === "URL" && base !== undefined ? stringOf(path) : undefined
      return url === undefined ? undefined : { specifier: url, names: ["*"], kind: "file" }
    }
    default:
      return undefined
  }
}

function importedName(specifier: SyntaxNode): string {
  if (specifier.type === "ImportDefaultSpecifier") return "default"
  return nameOf(field(specifier, "imported")) ?? "*"
}

/** The package that a bare specifier names; `undefined` for a path. */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith(".") || specifier.startsWith("/") || specifier.startsWith("file:")) return undefined
  const parts = specifier.split("/")
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : parts[0]
}

/** The path in the repository that a relative specifier means, with a built file read as the source that it is built from. */
export function resolveRelative(fromPath: string, specifier: string): string {
  const parts = fromPath.split("/").slice(0, -1)
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop()
    else if (part !== ".") parts.push(part)
  }
  const path = parts.join("/").replace(/\.js$/, ".ts")
  return path.replace(/^(packages\/[^/]+)\/dist\//, "$1/src/")
}
