// Finds what reaches round the ports: the clock, timers, randomness, the environment, output and the network of the process.

import type { BannedKind } from "./adapters.ts"
import type { SourceFile } from "./finding.ts"
import { lineAt } from "./finding.ts"
import { dottedName, field, list, nameOf, parse, stringOf, walk } from "./syntax.ts"
import type { SyntaxNode } from "./syntax.ts"

const REPLACEMENT: Readonly<Record<BannedKind, string>> = {
  time: "take the time from the Clock port",
  timers: "wait through the Clock port",
  randomness: "take it from the Random or Ids port",
  environment: "take the value as a parameter; the environment is read in one place",
  output: "report through the Telemetry port, or write to the stream that the command was given",
  network: "send through the transport that the caller was given",
}

const MEMBERS: Readonly<Record<string, BannedKind>> = {
  "Date.now": "time",
  "performance.now": "time",
  "process.hrtime": "time",
  "Math.random": "randomness",
  "crypto.randomUUID": "randomness",
  "crypto.getRandomValues": "randomness",
  "process.env": "environment",
}

const GLOBALS: Readonly<Record<string, BannedKind>> = {
  setTimeout: "timers",
  setInterval: "timers",
  console: "output",
  fetch: "network",
}

const MODULES: Readonly<Record<string, BannedKind>> = {
  "node:timers": "timers",
  "node:timers/promises": "timers",
  "node:perf_hooks": "time",
}

const IMPORTED: Readonly<Record<string, BannedKind>> = {
  randomUUID: "randomness",
  randomBytes: "randomness",
  randomInt: "randomness",
  getRandomValues: "randomness",
  env: "environment",
}

export interface BannedUse {
  readonly kind: BannedKind
  readonly line: number
  readonly message: string
}

/** Every use of a banned thing in the file, whether or not the file is an adapter. */
export function bannedUsesIn(file: SourceFile): BannedUse[] {
  const { program } = parse(file)
  const local = declaredNames(program)
  const uses: BannedUse[] = []
  walk(program, (node, ancestors) => {
    if (isType(node)) return false
    const found = bannedAt(node, ancestors.at(-1), local)
    if (found !== undefined) {
      const [name, kind] = found
      uses.push({ kind, line: lineAt(file.text, node.start), message: `uses ${name}; ${REPLACEMENT[kind]}` })
    }
    return undefined
  })
  return uses
}

function bannedAt(
  node: SyntaxNode,
  parent: SyntaxNode | undefined,
  local: ReadonlySet<string>,
): [string, BannedKind] | undefined {
  switch (node.type) {
    case "ImportDeclaration": {
      const specifier = stringOf(field(node, "source")) ?? ""
      const kind = MODULES[specifier]
      return kind === undefined ? undefined : [specifier, kind]
    }
    case "ImportSpecifier": {
      const from = stringOf(field(parent, "source")) ?? ""
      const name = nameOf(field(node, "imported")) ?? ""
      const kind = from === "node:crypto" || from === "node:process" ? IMPORTED[name] : undefined
      return kind === undefined ? undefined : [`${name} of ${from}`, kind]
    }
    case "NewExpression":
    case "CallExpression": {
      const isDate = dottedName(field(node, "callee")) === "Date" && !local.has("Date")
      return isDate && list(node, "arguments").length === 0 ? ["the present Date", "time"] : undefined
    }
    case "MemberExpression": {
      const name = (dottedName(node) ?? "").replace(/^(globalThis|global)\./, "")
      const kind = MEMBERS[name] ?? (name === dottedName(node) ? undefined : GLOBALS[name])
      return kind === undefined || local.has(name.split(".")[0] ?? "") ? undefined : [name, kind]
    }
    case "Identifier": {
      const name = nameOf(node) ?? ""
      const kind = GLOBALS[name]
      return kind === undefined || local.has(name) || !isReference(node, parent) ? undefined : [name, kind]
    }
    default:
      return undefined
  }
}

/** Whether an identifier is read as a variable, and is not the name of a property. */
function isReference(node: SyntaxNode, parent: SyntaxNode | undefined): boolean {
  if (parent?.type === "MemberExpression") return field(parent, "object") === node
  if (parent?.type === "ImportSpecifier" || parent?.type === "ExportSpecifier") return false
  if (parent?.type === "Property" || parent?.type === "PropertyDefinition" || parent?.type === "MethodDefinition") {
    return field(parent, "value") === node
  }
  return true
}

/** Types name things without touching them. What TypeScript wraps round an expression is not one of them. */
function isType(node: SyntaxNode): boolean {
  return node.type.startsWith("TS") && !/^TS(As|Satisfies|NonNull|Instantiation)|^TSTypeAssertion/.test(node.type)
}

/** The names that the file itself declares or imports: parameters, variables, functions. They hide the global of that name. */
function declaredNames(program: SyntaxNode): Set<string> {
  const names = new Set<string>()
  walk(program, (node) => {
    for (const key of ["params", "id", "local"]) {
      const patterns = key === "params" ? list(node, key) : [field(node, key)]
      for (const pattern of patterns) if (pattern !== undefined && !isType(node)) collectBound(pattern, names)
    }
    return undefined
  })
  return names
}

function collectBound(pattern: SyntaxNode, names: Set<string>): void {
  const name = pattern.type === "Identifier" ? nameOf(pattern) : undefined
  if (name !== undefined) names.add(name)
  if (pattern.type === "AssignmentPattern") collectAll([field(pattern, "left")], names)
  if (pattern.type === "RestElement") collectAll([field(pattern, "argument")], names)
  if (pattern.type === "ArrayPattern") collectAll(list(pattern, "elements"), names)
  if (pattern.type === "ObjectPattern") {
    collectAll(
      list(pattern, "properties").map((entry) => field(entry, entry.type === "RestElement" ? "argument" : "value")),
      names,
    )
  }
}

function collectAll(patterns: readonly (SyntaxNode | undefined)[], names: Set<string>): void {
  for (const pattern of patterns) if (pattern !== undefined) collectBound(pattern, names)
}
