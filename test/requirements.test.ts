// Hunts a promise that is called built while no test stands for it, and a test that cites a promise nobody made.

import { expect, test } from "vitest"
import { citationsIn, judgeCitations } from "./citations.ts"
import { reportRequirements } from "./requirements-reporter.ts"
import { parseRequirements, requirements } from "./requirements.ts"
import { formatFindings } from "./tidy/finding.ts"
import { code, isTestCode } from "./tidy/tree.ts"

// The journal conformance cases stand in testkit's sources and are run by the tests of every journal.
const proofs = code.filter(
  (file) =>
    (isTestCode(file.path) && file.path !== "test/requirements.test.ts") ||
    file.path.startsWith("packages/testkit/src/"),
)

const fixture = (text: string) => citationsIn({ path: "fixture.test.ts", text })
const table = (...lines: string[]) => parseRequirements(lines.join("\n"))

test("every built requirement is cited by a test and every cited id is known", () => {
  expect(formatFindings(judgeCitations(requirements, proofs.flatMap(citationsIn)))).toEqual([])
})

test("a built id without a citation is a finding", () => {
  const findings = judgeCitations(table("ID-1 | A | 2 | built | a", "R7 | review 1 | 2 | planned | b"), [])
  expect(formatFindings(findings)).toEqual(["test/requirements.ts:1 ID-1 is built, but no test cites it: a"])
})

test("an unknown id and an id that stands twice are findings", () => {
  const known = table("ID-1 | A | 2 | planned | a", "ID-1 | A | 2 | planned | a")
  const messages = judgeCitations(known, fixture(`test("x [ID-99]", run)`)).map((finding) => finding.message)
  expect(messages).toEqual(["cites ID-99, which test/requirements.ts does not know", "ID-1 stands there twice"])
})

test("names of tests, of parametrised tests and of cases in a table are citations", () => {
  const text = `
    test("a [ID-3] [R7]", run)
    test.each([1])(\`b \${x} [item 7]\`, run)
    const cases = [{ name: "c [CS-4]", run }]
  `
  expect(fixture(text).map(({ id, line }) => [id, line])).toEqual([
    ["ID-3", 2],
    ["R7", 2],
    ["item 7", 3],
    ["CS-4", 4],
  ])
})

test("comments, skipped tests and tests that must fail cite nothing", () => {
  const text = `
    // [ID-1]
    test.skip("a [ID-2]", run)
    test.skip.each([1])("b [ID-3]", run)
    describe.todo("c [ID-4]")
    test.fails("d [ID-5]", run)
  `
  expect(fixture(text)).toEqual([])
})

test("a line that is no requirement is refused with the line quoted", () => {
  expect(() => parseRequirements("ID-1 | A | 2 | built")).toThrow("not a requirement line: ID-1 | A | 2 | built")
  expect(() => parseRequirements("ID-1 | A | 2 | done | a")).toThrow("status is built or planned: ID-1")
})

test("a built id whose only test did not pass is unproved, and a planned id that passed is ready", () => {
  const known = table("ID-1 | A | 2 | built | a", "ID-2 | A | 2 | planned | b", "ID-3 | A | 2 | built | c")
  const report = reportRequirements(known, ["suite > x [ID-2]", "y [ID-3]"])
  expect(report.unproved.map(({ id }) => id)).toEqual(["ID-1"])
  expect(report.ready.map(({ id }) => id)).toEqual(["ID-2"])
})
