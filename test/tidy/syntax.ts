// Reads TypeScript into a syntax tree with vite's parser, and walks it. Nothing here knows a rule.

import { parseSync } from "vite"
import type { SourceFile } from "./finding.ts"

export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

export interface SyntaxComment {
  readonly value: string
  readonly start: number
  readonly end: number
}

export interface Syntax {
  readonly program: SyntaxNode
  readonly comments: readonly SyntaxComment[]
}

const parsed = new WeakMap<SourceFile, Syntax>()

/** Parses a file, once for each file object. */
export function parse(file: SourceFile): Syntax {
  const known = parsed.get(file)
  if (known !== undefined) return known
  const result = parseSync(file.path, file.text)
  if (result.errors.length > 0) throw new Error(`${file.path} does not parse: ${result.errors[0]?.message}`)
  const syntax = { program: result.program as unknown as SyntaxNode, comments: result.comments }
  parsed.set(file, syntax)
  return syntax
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string"
}

/** The nodes directly under a node, in the order of the source. */
export function children(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node)
    .flatMap((value: unknown): unknown[] => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
}

/** Visits a tree from the top down. A visitor that answers `false` keeps the walk out of what is under the node. */
export function walk(
  node: SyntaxNode,
  visit: (node: SyntaxNode, ancestors: readonly SyntaxNode[]) => boolean | void,
  ancestors: readonly SyntaxNode[] = [],
): void {
  if (visit(node, ancestors) === false) return
  const below = [...ancestors, node]
  for (const child of children(node)) walk(child, visit, below)
}

/** The node in a field, where there is one. */
export function field(node: SyntaxNode | undefined, name: string): SyntaxNode | undefined {
  const value = node?.[name]
  return isNode(value) ? value : undefined
}

/** The nodes in a list field. */
export function list(node: SyntaxNode | undefined, name: string): SyntaxNode[] {
  const value = node?.[name]
  return Array.isArray(value) ? value.filter(isNode) : []
}

/** The text of an identifier, or of a string literal that names something. */
export function nameOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === "Identifier" && typeof node["name"] === "string") return node["name"]
  return stringOf(node)
}

/** The value of a string literal, or of a template without expressions. */
export function stringOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === "Literal" && typeof node["value"] === "string") return node["value"]
  if (node?.type === "TemplateLiteral") {
    return list(node, "quasis")
      .map((quasi) => (quasi["value"] as { cooked: string }).cooked)
      .join("*")
  }
  return undefined
}

/** A dotted path of plain names, as `Date.now` or `test.each`; `undefined` for anything else. */
export function dottedName(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === "Identifier") return nameOf(node)
  if (node?.type !== "MemberExpression" || node["computed"] === true) return undefined
  const object = dottedName(field(node, "object"))
  const property = nameOf(field(node, "property"))
  return object === undefined || property === undefined ? undefined : `${object}.${property}`
}
