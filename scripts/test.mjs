// @ts-check
// `npm test`: builds, type-checks the tests, lints, checks the format, runs the tests, and ends with `N passed, N failed`.
//
//   npm test                            everything but the tests named *.long.test.ts
//   npm test -- packages/engine         build, types, and the test files whose path contains the filter
//   npm run test:long                   everything, the long tests too
//
// Plain JavaScript without dependencies, because it is what runs before anything is built. It needs no git, no compiler,
// no terminal, no standard input and nothing in HOME.

import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { closingLine, sumTallies, tallyCheck, tallyVitest } from "./count-results.mjs"

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const MINUTE_MS = 60_000
// Far above an honest run (build and checks: seconds; tests: minutes). They turn a hang into a failure that is told.
const CHECK_LIMIT_MS = 10 * MINUTE_MS
const TESTS_LIMIT_MS = 20 * MINUTE_MS
const LONG_TESTS_LIMIT_MS = 120 * MINUTE_MS

const TSC = "node_modules/typescript/bin/tsc"
const OXLINT = "node_modules/oxlint/bin/oxlint"
const OXFMT = "node_modules/oxfmt/bin/oxfmt"
const VITEST = "node_modules/vitest/vitest.mjs"

/**
 * Runs a script of node_modules in a process group of its own, so that the time limit also ends what it started: a test
 * whose process is stuck in a native call ends by nothing less.
 *
 * @param {string} title
 * @param {string[]} command the script and its arguments
 * @param {number} limitMs
 * @returns {Promise<number | null>} the exit code; `null` where there is none
 */
async function run(title, command, limitMs) {
  console.log(`\n== ${title}`)
  const child = spawn(process.execPath, command, {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
  })
  const endGroup = () => {
    if (child.pid !== undefined) endProcessGroup(child.pid)
  }
  const onSignal = () => {
    endGroup()
    process.exit(1)
  }
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal)
  const timer = setTimeout(() => {
    console.log(`${title}: ended after ${limitMs / MINUTE_MS} minutes`)
    endGroup()
  }, limitMs)
  /** @type {[number | null, string | null]} */
  const [code, signal] = await new Promise((resolve) => {
    child.once("exit", (...ending) => resolve(ending)).once("error", (error) => resolve([null, error.message]))
  })
  clearTimeout(timer)
  process.off("SIGINT", onSignal).off("SIGTERM", onSignal)
  // What a step leaves behind must not outlive it.
  endGroup()
  if (code !== 0) console.log(`${title}: failed (exit code ${code ?? signal})`)
  return code
}

/** @param {number} group */
function endProcessGroup(group) {
  try {
    process.kill(-group, "SIGKILL")
  } catch {
    // Nothing of the group is left.
  }
}

/** @param {string} title @param {string[]} command */
const check = async (title, command) => tallyCheck((await run(title, command, CHECK_LIMIT_MS)) === 0)

/** @param {string[]} filters @param {boolean} long */
async function runVitest(filters, long) {
  const scratch = mkdtempSync(join(tmpdir(), "invoke-test-"))
  const reportFile = join(scratch, "vitest.json")
  const whole = filters.length === 0
  try {
    const exitCode = await run(
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

async function main() {
  const { long, filters } = parseArguments(process.argv.slice(2))
  const missing = [TSC, OXLINT, OXFMT, VITEST].filter((file) => !existsSync(join(ROOT, file)))
  if (missing.length > 0) throw new Error(`missing: ${missing.join(", ")}. Run \`npm ci\` first.`)
  const built = await check("build", [TSC, "-b"])
  const tallies = [built]
  if (built.failed === 0) tallies.push(await check("types of the tests", [TSC, "-p", "test/tsconfig.json"]))
  if (filters.length === 0) {
    tallies.push(await check("lint", [OXLINT, "--type-aware"]))
    tallies.push(await check("format", [OXFMT, "--check", "."]))
  } else {
    console.log("\nA filtered run leaves out lint and format.")
  }
  // Tests load dist; after a failed build it would hold what an earlier build left.
  if (built.failed === 0) tallies.push(await runVitest(filters, long))
  else console.log("\nThe tests were not run, because the build failed.")
  return sumTallies(tallies)
}

const tally = await main().catch((error) => {
  console.log(error instanceof Error ? error.message : error)
  return tallyCheck(false)
})
process.exitCode = tally.failed === 0 ? 0 : 1
console.log(`\n${closingLine(tally)}`)
