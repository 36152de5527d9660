// What may stand at the top level of a module: nothing that runs on import, and in an entry nothing but named exports.

import type { Finding, SourceFile } from "./finding.ts"
import { lineAt } from "./finding.ts"
import { children, field, nameOf, parse, walk } from "./syntax.ts"
import type { SyntaxNode } from "./syntax.ts"

const DECLARATIONS = /^(ImportDeclaration|Export\w+|FunctionDeclaration|ClassDeclaration|VariableDeclaration|TS\w+)$/

/** Statements that run on import, state of a module, and exports that name nothing. Programs (bins, workers) are not asked. */
export function judgeModuleShape(file: SourceFile): Finding[] {
  const isEntry = /\/src\/(index|internal)\.ts$/.test(file.path)
  return children(parse(file).program).flatMap((statement) => {
    const message = shapeOf(statement) ?? (isEntry ? entryShapeOf(statement) : undefined)
    return message === undefined ? [] : [{ path: file.path, line: lineAt(file.text, statement.start), message }]
  })
}

function shapeOf(statement: SyntaxNode): string | undefined {
  if (statement.type === "ExportAllDeclaration") return "exports *; name what is exported"
  if (statement.type === "ExportDefaultDeclaration") return "exports a default; give it a name"
  if (!DECLARATIONS.test(statement.type)) return "runs on import; put it into a function that a caller calls"
  const declaration = statement.type.startsWith("Export") ? field(statement, "declaration") : statement
  if (declaration?.type === "VariableDeclaration" && declaration["kind"] !== "const") {
    return "is state of the module; hold it in what a caller creates"
  }
  return awaitsOnImport(statement) ? "awaits on import; put it into a function that a caller calls" : undefined
}

function entryShapeOf(statement: SyntaxNode): string | undefined {
  const named = statement.type === "ExportNamedDeclaration" && field(statement, "declaration") === undefined
  return named ? undefined : "stands in an entry, which holds named exports and nothing else"
}

function awaitsOnImport(statement: SyntaxNode): boolean {
  let found = false
  walk(statement, (node) => {
    if (/Function/.test(node.type)) return false
    found ||= node.type === "AwaitExpression"
    return !found
  })
  return found
}

/** `!` without a comment beside it or above it that says why the value is there. */
export function judgeNonNull(file: SourceFile): Finding[] {
  const { program, comments } = parse(file)
  const reasons = new Set(comments.map((comment) => lineAt(file.text, comment.end)))
  const findings: Finding[] = []
  walk(program, (node) => {
    if (node.type !== "TSNonNullExpression") return
    const line = lineAt(file.text, node.end)
    if (reasons.has(line) || reasons.has(line - 1)) return
    const name = nameOf(field(node, "expression")) ?? "a value"
    findings.push({
      path: file.path,
      line,
      message: `says that ${name} is there with "!"; say why in a comment beside it`,
    })
  })
  return findings
}
