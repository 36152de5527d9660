/**
 * Patterns that cannot explode: a small regular-expression language, matched in time proportional to pattern × text.
 *
 * Owns: parsing and matching by a set of states (no backtracking). Patterns come from tool definitions and from requests,
 * texts from providers; neither may stall the process that decides about money.
 *
 * Language: literals, `.`, `[a-z]`, `[^…]`, `\d \w \s` and their opposites, escaped punctuation, `( )`, `(?: )`, `|`,
 * `* + ? {n} {n,} {n,m}`, `^`, `$`. No back-references, no look-around, no flags. It matches anywhere, as RegExp.test does.
 *
 * SP1. A pattern is refused when compiled, never when matched.
 * SP2. Work is bounded by `PROGRAM_MAX` × the text's length; texts beyond `TEXT_MAX` are not matched (null).
 */
export const PATTERN_LENGTH_MAX = 256
/** States after repetitions are written out. With `TEXT_MAX` it bounds one match to some tens of millions of steps. */
const PROGRAM_MAX = 1_000
const TEXT_MAX = 16_384
const REPEAT_MAX = 100

export class PatternError extends Error {
  override readonly name = "PatternError"
  constructor(pattern: string, at: number, what: string) {
    super(`the pattern ${JSON.stringify(pattern.slice(0, PATTERN_LENGTH_MAX))} ${what} (at character ${at + 1})`)
  }
}

type Test = (codePoint: number) => boolean

type Node =
  | { readonly kind: "one"; readonly test: Test }
  | { readonly kind: "start" | "end" }
  | { readonly kind: "all"; readonly parts: readonly Node[] }
  | { readonly kind: "any"; readonly options: readonly Node[] }
  | { readonly kind: "repeat"; readonly body: Node; readonly least: number; readonly most: number | null }

type Instruction =
  | { readonly op: "one"; readonly test: Test }
  | { readonly op: "start" | "end" | "match" }
  | { readonly op: "fork"; a: number; b: number }

export interface SafePattern {
  /** Whether the pattern occurs in the text; null where the text is too long to be searched. */
  readonly test: (text: string) => boolean | null
}

/** Compiles a pattern. Throws `PatternError` for anything outside the language or beyond the bounds. */
export function safePattern(pattern: string): SafePattern {
  if (pattern.length > PATTERN_LENGTH_MAX) {
    throw new PatternError(pattern, PATTERN_LENGTH_MAX, `is longer than ${PATTERN_LENGTH_MAX} characters`)
  }
  const reader: Reader = { pattern, characters: Array.from(pattern), at: 0 }
  const tree = readAlternatives(reader)
  if (reader.at < reader.characters.length) fail(reader, "closes a group that is not open")
  const program: Instruction[] = []
  emit(tree, program, reader)
  push(program, { op: "match" }, reader)
  return { test: (text) => (text.length > TEXT_MAX ? null : run(program, text)) }
}

interface Reader {
  readonly pattern: string
  readonly characters: readonly string[]
  at: number
}

function fail(reader: Reader, what: string): never {
  throw new PatternError(reader.pattern, reader.at, what)
}

function readAlternatives(reader: Reader): Node {
  const options: Node[] = [readSequence(reader)]
  while (reader.characters[reader.at] === "|") {
    reader.at += 1
    options.push(readSequence(reader))
  }
  return options.length === 1 && options[0] ? options[0] : { kind: "any", options }
}

function readSequence(reader: Reader): Node {
  const parts: Node[] = []
  for (;;) {
    const next = reader.characters[reader.at]
    if (next === undefined || next === "|" || next === ")") return { kind: "all", parts }
    const atom = readAtom(reader)
    parts.push(readQuantifier(reader, atom))
  }
}

function readAtom(reader: Reader): Node {
  const character = reader.characters[reader.at] ?? ""
  switch (character) {
    case "^":
      reader.at += 1
      return { kind: "start" }
    case "$":
      reader.at += 1
      return { kind: "end" }
    case "(":
      return readGroup(reader)
    case "[":
      return { kind: "one", test: readClass(reader) }
    case ".":
      reader.at += 1
      return { kind: "one", test: (code) => code !== 0x0a && code !== 0x0d && code !== 0x20_28 && code !== 0x20_29 }
    case "\\":
      return { kind: "one", test: readEscape(reader).test }
    case "*":
    case "+":
    case "?":
    case "{":
      return fail(reader, `repeats nothing with "${character}"`)
    case "]":
    case "}":
      return fail(reader, `has "${character}" without its partner; write "\\${character}"`)
    default: {
      reader.at += 1
      const wanted = character.codePointAt(0)
      return { kind: "one", test: (code) => code === wanted }
    }
  }
}

function readGroup(reader: Reader): Node {
  reader.at += 1
  if (reader.characters[reader.at] === "?") {
    if (reader.characters[reader.at + 1] !== ":") fail(reader, "uses a group that is not supported; write (?: … )")
    reader.at += 2
  }
  const body = readAlternatives(reader)
  if (reader.characters[reader.at] !== ")") fail(reader, "leaves a group open")
  reader.at += 1
  return body
}

function readQuantifier(reader: Reader, body: Node): Node {
  const character = reader.characters[reader.at]
  const range = character === "{" ? readRange(reader) : simpleRange(character)
  if (!range) return body
  if (character !== "{") reader.at += 1
  if (body.kind === "start" || body.kind === "end") fail(reader, "repeats an anchor")
  if (
    reader.characters[reader.at] === "?" ||
    reader.characters[reader.at] === "*" ||
    reader.characters[reader.at] === "+"
  ) {
    fail(reader, "repeats a repetition; put it into a group")
  }
  return { kind: "repeat", body, ...range }
}

interface Range {
  readonly least: number
  readonly most: number | null
}

function simpleRange(character: string | undefined): Range | null {
  if (character === "*") return { least: 0, most: null }
  if (character === "+") return { least: 1, most: null }
  return character === "?" ? { least: 0, most: 1 } : null
}

function readRange(reader: Reader): Range {
  const rest = reader.characters.slice(reader.at, reader.at + 12).join("")
  const parts = /^\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/.exec(rest)
  if (!parts) return fail(reader, 'has "{" without a count; write "\\{"')
  const least = Number(parts[1])
  const most = parts[2] === undefined ? least : parts[3] === undefined ? null : Number(parts[3])
  if (least > REPEAT_MAX || (most ?? 0) > REPEAT_MAX) fail(reader, `repeats more than ${REPEAT_MAX} times`)
  if (most !== null && most < least) fail(reader, "has its counts the wrong way round")
  reader.at += parts[0].length
  return { least, most }
}

const DIGIT: Test = (code) => code >= 0x30 && code <= 0x39
const WORD: Test = (code) =>
  DIGIT(code) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f
const SPACE: Test = (code) => /\s/u.test(String.fromCodePoint(code))
const NAMED: { readonly [name: string]: Test } = {
  d: DIGIT,
  w: WORD,
  s: SPACE,
  D: (code) => !DIGIT(code),
  W: (code) => !WORD(code),
  S: (code) => !SPACE(code),
}
const CONTROL: { readonly [name: string]: number } = { n: 0x0a, r: 0x0d, t: 0x09 }

/** One escape; `code` is set where it names one character, so that it can begin or end a range. */
function readEscape(reader: Reader): { readonly test: Test; readonly code: number | null } {
  const name = reader.characters[reader.at + 1]
  if (name === undefined) return fail(reader, "ends in a single backslash")
  const named = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined
  const control = Object.hasOwn(CONTROL, name) ? CONTROL[name] : undefined
  if (named === undefined && control === undefined && /[\p{L}\p{N}]/u.test(name)) {
    fail(reader, `uses "\\${name}", which is not supported`)
  }
  reader.at += 2
  if (named) return { test: named, code: null }
  const wanted = control ?? name.codePointAt(0) ?? 0
  return { test: (code) => code === wanted, code: wanted }
}

function readClass(reader: Reader): Test {
  reader.at += 1
  const negated = reader.characters[reader.at] === "^"
  if (negated) reader.at += 1
  const tests: Test[] = []
  for (;;) {
    const character = reader.characters[reader.at]
    if (character === undefined) return fail(reader, "leaves a class open")
    if (character === "]") break
    if (character === "[") fail(reader, 'has "[" inside a class; write "\\["')
    tests.push(readClassItem(reader))
  }
  reader.at += 1
  const holds: Test = (code) => tests.some((test) => test(code))
  return negated ? (code) => !holds(code) : holds
}

function readClassItem(reader: Reader): Test {
  const first = readClassCharacter(reader)
  const isRange = reader.characters[reader.at] === "-" && reader.characters[reader.at + 1] !== "]"
  if (!isRange) return first.test
  reader.at += 1
  if (reader.characters[reader.at] === undefined) fail(reader, "leaves a class open")
  const last = readClassCharacter(reader)
  const { code: from } = first
  const { code: to } = last
  if (from === null || to === null || to < from) return fail(reader, "has a range that is not one")
  return (code) => code >= from && code <= to
}

function readClassCharacter(reader: Reader): { readonly test: Test; readonly code: number | null } {
  const character = reader.characters[reader.at] ?? ""
  if (character === "\\") return readEscape(reader)
  reader.at += 1
  const wanted = character.codePointAt(0) ?? 0
  return { test: (code) => code === wanted, code: wanted }
}

function push(program: Instruction[], instruction: Instruction, reader: Reader): void {
  if (program.length >= PROGRAM_MAX) fail(reader, "is too large once its repetitions are written out")
  program.push(instruction)
}

function emit(node: Node, program: Instruction[], reader: Reader): void {
  switch (node.kind) {
    case "one":
      return push(program, { op: "one", test: node.test }, reader)
    case "start":
    case "end":
      return push(program, { op: node.kind }, reader)
    case "all":
      for (const part of node.parts) emit(part, program, reader)
      return
    case "any":
      return emitAny(node.options, program, reader)
    case "repeat":
      return emitRepeat(node, program, reader)
  }
}

function emitAny(options: readonly Node[], program: Instruction[], reader: Reader): void {
  const ends: { op: "fork"; a: number; b: number }[] = []
  options.forEach((option, index) => {
    if (index === options.length - 1) return emit(option, program, reader)
    const fork = { op: "fork" as const, a: program.length + 1, b: 0 }
    push(program, fork, reader)
    emit(option, program, reader)
    const jump = { op: "fork" as const, a: 0, b: 0 }
    push(program, jump, reader)
    ends.push(jump)
    fork.b = program.length
  })
  for (const jump of ends) jump.a = jump.b = program.length
}

function emitRepeat(node: Node & { kind: "repeat" }, program: Instruction[], reader: Reader): void {
  for (let count = 0; count < node.least; count += 1) emit(node.body, program, reader)
  if (node.most === null) {
    const fork = { op: "fork" as const, a: program.length + 1, b: 0 }
    const back = program.length
    push(program, fork, reader)
    emit(node.body, program, reader)
    push(program, { op: "fork", a: back, b: back }, reader)
    fork.b = program.length
    return
  }
  const forks: { op: "fork"; a: number; b: number }[] = []
  for (let count = node.least; count < node.most; count += 1) {
    const fork = { op: "fork" as const, a: program.length + 1, b: 0 }
    push(program, fork, reader)
    forks.push(fork)
    emit(node.body, program, reader)
  }
  for (const fork of forks) fork.b = program.length
}

/** Steps all possible places in the program at once, character by character. */
function run(program: readonly Instruction[], text: string): boolean {
  const characters = Array.from(text, (character) => character.codePointAt(0) ?? 0)
  const seen = new Int32Array(program.length).fill(-1)
  let here: number[] = []
  for (let position = 0; position <= characters.length; position += 1) {
    // The pattern may begin at every place of the text.
    if (follow(program, 0, position, characters.length, seen, here)) return true
    const code = characters[position]
    if (code === undefined) return false
    const next: number[] = []
    for (const place of here) {
      const instruction = program[place]
      if (instruction?.op !== "one" || !instruction.test(code)) continue
      if (follow(program, place + 1, position + 1, characters.length, seen, next)) return true
    }
    here = next
  }
  return false
}

/** Adds a place and all that follow without a character; true where one of them is the end of the program. */
function follow(
  program: readonly Instruction[],
  from: number,
  position: number,
  length: number,
  seen: Int32Array,
  into: number[],
): boolean {
  const open = [from]
  while (open.length > 0) {
    const place = open.pop() ?? 0
    const instruction = program[place]
    if (instruction === undefined || seen[place] === position) continue
    seen[place] = position
    if (instruction.op === "match") return true
    if (instruction.op === "one") into.push(place)
    else if (instruction.op === "fork") open.push(instruction.b, instruction.a)
    else if (instruction.op === "start" ? position === 0 : position === length) open.push(place + 1)
  }
  return false
}
