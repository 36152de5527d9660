// Hunts a pattern that stalls the process that decides about money, and a pattern that means something else here than in RegExp.

import { PATTERN_LENGTH_MAX, PatternError, safePattern } from "@invokejs/protocol"
import fc from "fast-check"
import { expect, test } from "vitest"

const atom = fc.constantFrom(
  "a",
  "b",
  "0",
  "-",
  " ",
  ".",
  "\\d",
  "\\w",
  "\\s",
  "\\D",
  "\\W",
  "\\S",
  "[ab]",
  "[^a]",
  "[a-z0-9_]",
  "\\.",
  "é",
  "[\\d-]",
  "😀",
)
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    atom,
    fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => a + b),
    fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `(${a}|${b})`),
    fc
      .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{0,2}", "{1,}"))
      .map(([a, mark]) => `(?:${a})${mark}`),
    tie("pattern").map((a) => `^${a}`),
    tie("pattern").map((a) => `${a}$`),
  ),
}))
const texts = fc
  .array(fc.constantFrom("a", "b", "c", "0", "-", " ", ".", "\n", "é", "😀", "_"), { maxLength: 12 })
  .map((all) => all.join(""))

test("every supported pattern means what RegExp means by it", () => {
  fc.assert(
    fc.property(pattern, texts, (source, text) => {
      fc.pre(source.length <= 60)
      expect([source, text, safePattern(source).test(text)]).toEqual([source, text, new RegExp(source, "u").test(text)])
    }),
    { numRuns: 3_000 },
  )
})

// A backtracking matcher needs longer than the age of the universe for each of these: the test would not end.
test.each(["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(a*)*$", "(?:a?){60}a{60}$", "^((a+)+)+$", "(a*)*b"])(
  "%s is matched against a long text that almost fits",
  (source) => {
    expect(safePattern(source).test(`${"a".repeat(10_000)}!`)).toBe(false)
  },
)

test.each([
  ["(?=a)", "not supported"],
  ["(?<!a)b", "not supported"],
  ["(?<n>a)", "not supported"],
  ["(a)\\1", "not supported"],
  ["\\bword", "not supported"],
  ["\\p{L}", "not supported"],
  ["a**", "repeats a repetition"],
  ["a+?", "repeats a repetition"],
  ["*a", "repeats nothing"],
  ["^*", "repeats an anchor"],
  ["a{3,2}", "the wrong way round"],
  ["a{101}", "more than 100 times"],
  ["a{", "without a count"],
  ["(a", "leaves a group open"],
  ["a)", "not open"],
  ["[a", "leaves a class open"],
  ["[b-a]", "a range that is not one"],
  ["[\\d-z]", "a range that is not one"],
  ["a\\", "single backslash"],
  ["]", "without its partner"],
  ["((a{100}){100}){100}", "too large"],
  ["a".repeat(PATTERN_LENGTH_MAX + 1), "longer than"],
])("%s is refused when it is compiled", (source, words) => {
  expect(() => safePattern(source)).toThrow(PatternError)
  expect(() => safePattern(source)).toThrow(words)
})

test("a text beyond the bound is not searched, and says so", () => {
  expect(safePattern("a").test("a".repeat(16_384))).toBe(true)
  expect(safePattern("a").test("a".repeat(16_385))).toBeNull()
})
