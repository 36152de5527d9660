// Hunts a run that went wrong and still ends with `0 failed`.

import { expect, test } from "vitest"
import { closingLine, sumTallies, tallyCheck, tallyVitest } from "../../scripts/count-results.mjs"

const file = (status: string, ...statuses: string[]) => ({
  status,
  assertionResults: statuses.map((each) => ({ status: each })),
})

test("passed, failed and skipped tests are counted by file", () => {
  const report = { testResults: [file("failed", "passed", "failed"), file("passed", "passed", "skipped", "todo")] }
  expect(tallyVitest(report, 1)).toEqual({ passed: 2, failed: 1, skipped: 2 })
})

test("a file that did not load counts as one failure", () => {
  expect(tallyVitest({ testResults: [file("failed"), file("passed", "passed")] }, 1).failed).toBe(1)
})

test("an exit code that no failed test explains counts as one failure", () => {
  expect(tallyVitest({ testResults: [file("passed", "passed")] }, 1)).toEqual({ passed: 1, failed: 1, skipped: 0 })
  expect(tallyVitest({ testResults: [file("passed", "passed")] }, null).failed).toBe(1)
})

test("a run without a report, without tests or with skipped tests alone is a failure", () => {
  expect(tallyVitest(undefined, 0).failed).toBe(1)
  expect(tallyVitest({ testResults: [] }, 0).failed).toBe(1)
  expect(tallyVitest({ testResults: [file("passed", "skipped")] }, 0).failed).toBe(1)
})

test("the closing line names skipped tests only where there are some", () => {
  const tally = sumTallies([tallyCheck(true), tallyCheck(false), { passed: 5, failed: 0, skipped: 0 }])
  expect(closingLine(tally)).toBe("6 passed, 1 failed")
  expect(closingLine({ ...tally, skipped: 2 })).toBe("6 passed, 1 failed, 2 skipped")
})
