// After a whole run: fails it when a built requirement has no test that passed, and names planned ones that are ready to flip.
//
// The gate in requirements.test.ts reads the sources; this one reads what ran, so that a skipped test, or a conformance case
// that no journal runs, does not stand for a promise.

import type { Reporter, TestModule } from "vitest/node"
import { idsIn } from "./citations.ts"
import type { Requirement } from "./requirements.ts"
import { requirements } from "./requirements.ts"

export interface RequirementReport {
  /** Built, without a test that passed. */
  readonly unproved: readonly Requirement[]
  /** Planned, with a test that passed. */
  readonly ready: readonly Requirement[]
}

/** Judges the table by the full names of the tests that passed. */
export function reportRequirements(table: readonly Requirement[], passedNames: readonly string[]): RequirementReport {
  const proved = new Set(passedNames.flatMap(idsIn))
  return {
    unproved: table.filter(({ id, status }) => status === "built" && !proved.has(id)),
    ready: table.filter(({ id, status }) => status === "planned" && proved.has(id)),
  }
}

function passedNamesIn(modules: readonly TestModule[]): string[] {
  return modules.flatMap((module) => [...module.children.allTests("passed")].map((testCase) => testCase.fullName))
}

/** The reporter that scripts/test.mjs adds to a whole run. */
class RequirementsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const { unproved, ready } = reportRequirements(requirements, passedNamesIn(modules))
    if (ready.length > 0)
      console.log(`Planned, and cited by a test that passed: ${ready.map(({ id }) => id).join(", ")}`)
    if (unproved.length === 0) return
    for (const { id, sentence } of unproved)
      console.log(`${id} is built, but no test that cites it passed: ${sentence}`)
    process.exitCode = 1
  }
}

export default RequirementsReporter
