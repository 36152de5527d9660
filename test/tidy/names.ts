// Names of files, folders and tests, and the comments that files open with.

import type { Finding, SourceFile } from "./finding.ts"
import { lineAt } from "./finding.ts"
import { children, dottedName, field, list, parse, stringOf, walk } from "./syntax.ts"
import type { SyntaxNode } from "./syntax.ts"
import { isTestCode } from "./tree.ts"

const NO_HOME = /^(utils?|helpers?|common|services?|managers?|misc|shared)$/
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/
const HEADER_FROM_LINES = 60

/** Folders and files of code: kebab-case, and named for what they do instead of for being useful. */
export function judgePath(path: string): Finding[] {
  const say = (message: string): Finding => ({ path, line: 1, message })
  const parts = path.split("/").map((part) => part.replace(/^\./, ""))
  const stems = parts.map((part, index) => (index === parts.length - 1 ? (part.split(".")[0] ?? "") : part))
  return [
    ...stems
      .filter((stem) => NO_HOME.test(stem))
      .map((stem) => say(`"${stem}" says nothing; name it for what it does`)),
    ...stems.filter((stem) => !KEBAB.test(stem)).map((stem) => say(`"${stem}" is not in kebab-case`)),
  ]
}

/**
 * A core source of some length opens with what it is, what it owns and what it must not do; a test with the bug it hunts.
 * The comment stands before the imports or right after them.
 */
export function judgeHeader(file: SourceFile): Finding[] {
  const isTest = file.path.endsWith(".test.ts")
  const isCore = /^packages\/(engine|protocol)\/src\/(?!(index|internal)\.ts$)/.test(file.path)
  const isLong = file.text.trimEnd().split("\n").length > HEADER_FROM_LINES
  if (!isTest && !(isCore && isLong)) return []
  const { program, comments } = parse(file)
  const body = children(program).find((statement) => statement.type !== "ImportDeclaration")
  const opening = comments[0]
  if (opening !== undefined && opening.start < (body?.start ?? Infinity)) return []
  const message = isTest
    ? "opens without a comment; say which bug it hunts"
    : "opens without a comment; say what it is, what it owns and what it must not do"
  return [{ path: file.path, line: 1, message }]
}

interface NamedTest {
  readonly name: string
  readonly suite: string
  readonly line: number
}

/** The tests of a file with the names of the suites that they stand in. */
function testsIn(file: SourceFile): NamedTest[] {
  const tests: NamedTest[] = []
  walk(parse(file).program, (node, ancestors) => {
    const name = calledWithName(node, /^(test|it)(\.|$)/)
    if (name === undefined) return
    const suites = ancestors.map((ancestor) => calledWithName(ancestor, /^(describe|suite)(\.|$)/))
    const suite = suites.filter((part) => part !== undefined).join(" > ")
    tests.push({ name, suite, line: lineAt(file.text, node.start) })
  })
  return tests
}

function calledWithName(node: SyntaxNode, called: RegExp): string | undefined {
  if (node.type !== "CallExpression") return undefined
  return called.test(startOf(node) ?? "") ? stringOf(list(node, "arguments")[0]) : undefined
}

/** `test.each` for `test.each(table)(name, run)`. */
function startOf(call: SyntaxNode): string | undefined {
  const callee = field(call, "callee")
  return callee?.type === "CallExpression" ? startOf(callee) : dottedName(callee)
}

/** Names of tests state a fact and stand once in their file. */
export function judgeTestNames(file: SourceFile): Finding[] {
  if (!isTestCode(file.path)) return []
  const seen = new Set<string>()
  return testsIn(file).flatMap(({ name, suite, line }) => {
    const full = `${suite} > ${name}`
    const twice = seen.has(full)
    seen.add(full)
    const say = (message: string): Finding => ({ path: file.path, line, message: `"${name}" ${message}` })
    return [
      ...(twice ? [say("names two tests of this file")] : []),
      ...(/^(it |the \w+ )?should\b/i.test(name) ? [say("says should; state the fact in the present tense")] : []),
    ]
  })
}
