// @ts-check
// Turns what the checks and vitest reported into the one line that `npm test` ends with.
//
// It counts and formats; it runs nothing and prints nothing. Invariants:
//   C1  A run that went wrong anywhere has at least one failure in its tally.
//   C2  A test file that did not load counts as one failure: it would otherwise vanish from the sums.
//   C3  A run that executed no test is a failure, because a mistyped filter must not be green.

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Tally
 * @typedef {{ status: string, assertionResults: { status: string }[] }} FileResult
 */

/** @type {Tally} */
export const EMPTY_TALLY = Object.freeze({ passed: 0, failed: 0, skipped: 0 })

/** @param {Tally[]} tallies @returns {Tally} */
export function sumTallies(tallies) {
  return tallies.reduce(
    (sum, tally) => ({
      passed: sum.passed + tally.passed,
      failed: sum.failed + tally.failed,
      skipped: sum.skipped + tally.skipped,
    }),
    EMPTY_TALLY,
  )
}

/** A check (build, lint, format) counts as one test. @param {boolean} passed @returns {Tally} */
export function tallyCheck(passed) {
  return passed ? { passed: 1, failed: 0, skipped: 0 } : { passed: 0, failed: 1, skipped: 0 }
}

/**
 * Counts a vitest run from its JSON report (`undefined` when vitest left none) and its exit code.
 *
 * @param {{ testResults: FileResult[] } | undefined} report
 * @param {number | null} exitCode `null` when vitest was ended by a signal or the time limit
 * @returns {Tally}
 */
export function tallyVitest(report, exitCode) {
  if (report === undefined) return tallyCheck(false)
  const tally = sumTallies(report.testResults.map(tallyFile))
  const executed = tally.passed + tally.failed
  const wentWrong = exitCode !== 0 || executed === 0
  return wentWrong && tally.failed === 0 ? { ...tally, failed: 1 } : tally
}

/** @param {FileResult} file @returns {Tally} */
function tallyFile(file) {
  const statuses = file.assertionResults.map((result) => result.status)
  const passed = statuses.filter((status) => status === "passed").length
  const failed = statuses.filter((status) => status === "failed").length
  const skipped = statuses.length - passed - failed
  const broken = file.status === "failed" && failed === 0
  return { passed, failed: broken ? 1 : failed, skipped }
}

/** `N passed, N failed`, and `, N skipped` only where something was. @param {Tally} tally */
export function closingLine(tally) {
  const line = `${tally.passed} passed, ${tally.failed} failed`
  return tally.skipped > 0 ? `${line}, ${tally.skipped} skipped` : line
}
