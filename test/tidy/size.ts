// How long files and functions may be.

import type { Finding, SourceFile } from "./finding.ts"
import { lineAt } from "./finding.ts"
import { field, nameOf, parse, walk } from "./syntax.ts"
import type { SyntaxNode } from "./syntax.ts"
import { isTestCode } from "./tree.ts"

export const SOURCE_LINES_MAX = 400
export const TEST_LINES_MAX = 600
export const FUNCTION_LINES_MAX = 60

/** Files past their wall. */
export function judgeFileLength(file: SourceFile): Finding[] {
  const limit = isTestCode(file.path) ? TEST_LINES_MAX : SOURCE_LINES_MAX
  const lines = file.text.trimEnd().split("\n").length
  const message = `has ${lines} lines, ${limit} is the wall; split it by concept`
  return lines > limit ? [{ path: file.path, line: 1, message }] : []
}

/**
 * Functions past their limit. A function's lines are its own: those of a function written inside it are counted there,
 * so that neither a suite of tests nor a closure that returns small functions is a long function.
 */
export function judgeFunctionLength(file: SourceFile): Finding[] {
  const findings: Finding[] = []
  walk(parse(file).program, (node, ancestors) => {
    if (!isFunction(node)) return
    const lines = ownLines(file.text, node)
    if (lines <= FUNCTION_LINES_MAX) return
    const name = nameOf(field(node, "id")) ?? nameOf(field(ancestors.at(-1), "id")) ?? "a function"
    const message = `${name} has ${lines} lines of its own, ${FUNCTION_LINES_MAX} is the limit; take a step out of it`
    findings.push({ path: file.path, line: lineAt(file.text, node.start), message })
  })
  return findings
}

function ownLines(text: string, node: SyntaxNode): number {
  let inner = 0
  walk(node, (below) => {
    if (below === node || !isFunction(below)) return true
    // The first and the last line of an inner function belong to the outer one as well.
    inner += Math.max(0, lineCount(text, below) - 2)
    return false
  })
  return lineCount(text, node) - inner
}

const lineCount = (text: string, node: SyntaxNode): number => text.slice(node.start, node.end).split("\n").length

const isFunction = (node: SyntaxNode): boolean =>
  /^(Function|ArrowFunction)/.test(node.type) && field(node, "body") !== undefined
