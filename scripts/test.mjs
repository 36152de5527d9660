// @ts-check
// `npm test`: builds, type-checks the tests, lints, checks the format, runs the tests, and ends with `N passed, N failed`.
//
//   npm test                            everything but the tests named *.long.test.ts
//   npm test -- packages/engine         build, types, and the test files whose path contains the filter
//   npm run test:long                   everything, the long tests too
//
// Plain JavaScript without dependencies, because it is what runs before anything is built. It needs no git, no compiler,
// no terminal, no standard input and nothing in HOME.

import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { closingLine, sumTallies, tallyCheck, tallyVitest } from "./count-results.mjs"

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const MINUTE_MS = 60_000
// Far above an honest run (build and checks: seconds; tests: minutes). They turn a hang into a failure that is told.
const CHECK_LIMIT_MS = 10 * MINUTE_MS
const TESTS_LIMIT_MS = 25 * MINUTE_MS
const LONG_TESTS_LIMIT_MS = 120 * MINUTE_MS

const TSC = "node_modules/typescript/bin/tsc"
const OXLINT = "node_modules/oxlint/bin/oxlint"
const OXFMT = "node_modules/oxfmt/bin/oxfmt"
const VITEST = "node_modules/vitest/vitest.mjs"

/** @param {string} title @param {string[]} command a script of node_modules and its arguments @param {number} limitMs */
function run(title, command, limitMs) {
  console.log(`\n== ${title}`)
  const child = spawnSync(process.execPath, command, {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    timeout: limitMs,
    killSignal: "SIGKILL",
  })
  if (child.error !== undefined) console.log(`${title}: ${child.error.message}`)
  if (child.status !== 0) console.log(`${title}: failed (exit code ${child.status ?? child.signal ?? "none"})`)
  return child.status
}

/** @param {string} title @param {string[]} command */
const check = (title, command) => run(title, command, CHECK_LIMIT_MS) === 0

/** @param {string[]} filters @param {boolean} long */
function runVitest(filters, long) {
  const scratch = mkdtempSync(join(tmpdir(), "invoke-test-"))
  const reportFile = join(scratch, "vitest.json")
  const whole = filters.length === 0
  try {
    const exitCode = run(
      "tests",
      [
        VITEST,
        "run",
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${reportFile}`,
        // Only a whole run can say that a requirement has no passing test.
        ...(whole ? ["--reporter=./test/requirements-reporter.ts"] : []),
        ...(long ? ["--mode=long"] : []),
        ...filters,
      ],
      long ? LONG_TESTS_LIMIT_MS : TESTS_LIMIT_MS,
    )
    const report = existsSync(reportFile) ? JSON.parse(readFileSync(reportFile, "utf8")) : undefined
    return tallyVitest(report, exitCode)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** @param {string[]} args */
function parseArguments(args) {
  const unknown = args.filter((arg) => arg.startsWith("-") && arg !== "--long")
  if (unknown.length > 0) throw new Error(`unknown option ${unknown.join(" ")}; known: --long, and path filters`)
  return { long: args.includes("--long"), filters: args.filter((arg) => !arg.startsWith("-")) }
}

function main() {
  const { long, filters } = parseArguments(process.argv.slice(2))
  const missing = [TSC, OXLINT, OXFMT, VITEST].filter((file) => !existsSync(join(ROOT, file)))
  if (missing.length > 0) {
    console.log(`missing: ${missing.join(", ")}. Run \`npm ci\` first.`)
    return tallyCheck(false)
  }
  const built = check("build", [TSC, "-b"])
  const tallies = [tallyCheck(built)]
  if (built) tallies.push(tallyCheck(check("types of the tests", [TSC, "-p", "test/tsconfig.json"])))
  if (filters.length === 0) {
    tallies.push(tallyCheck(check("lint", [OXLINT, "--type-aware"])))
    tallies.push(tallyCheck(check("format", [OXFMT, "--check", "."])))
  } else {
    console.log("\nA filtered run leaves out lint and format.")
  }
  // Tests load dist; after a failed build it would hold what an earlier build left.
  if (built) tallies.push(runVitest(filters, long))
  else console.log("\nThe tests were not run, because the build failed.")
  return sumTallies(tallies)
}

function tallyOfMain() {
  try {
    return main()
  } catch (error) {
    console.log(error instanceof Error ? error.message : error)
    return tallyCheck(false)
  }
}

const tally = tallyOfMain()
process.exitCode = tally.failed === 0 ? 0 : 1
console.log(`\n${closingLine(tally)}`)
