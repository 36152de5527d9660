// @ts-check
// `npm run quickstart`: a stranger's first ten minutes, in an empty folder.
//
//   npm run quickstart              packs the packages, installs them with npm, runs the code blocks of docs/start as they stand
//   npm run quickstart -- --json    the same, told as one JSON object
//
// What a page says is printed is compared with what is printed, and README.md's excerpt of the demo with the installed demo.
// The last line is the figure; a violation ends with 1.

import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { blocksOf, firstDifference, startSteps } from "./docs/start-blocks.mjs"

const ROOT = dirname(import.meta.dirname)
// Far above an honest run; it turns a hang into a violation that is told.
const STEP_LIMIT_MS = 180_000
const JSON_WANTED = process.argv.includes("--json")

/** @typedef {{ step: string, passed: boolean, seconds: number, problem: string | null }} Told */

/** This Node before any other; npm is asked for nothing but the packages. */
const ENVIRONMENT = {
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
  NO_COLOR: "1",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_prefer_offline: "true",
  npm_config_update_notifier: "false",
}

/** @param {string} command @param {string} folder */
function type(command, folder) {
  const child = spawnSync("sh", ["-euc", `{ ${command}\n} 2>&1`], {
    cwd: folder,
    env: ENVIRONMENT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: STEP_LIMIT_MS,
    killSignal: "SIGKILL",
  })
  return { status: child.status, printed: child.stdout }
}

class Run {
  /** @type {Told[]} */
  told = []
  #started = performance.now()

  /** Seconds since the run began. */
  get seconds() {
    return (performance.now() - this.#started) / 1_000
  }

  /** @param {string} step @param {() => string | null} check answers what is wrong, or null */
  check(step, check) {
    const before = this.seconds
    const problem = check()
    const seconds = Number((this.seconds - before).toFixed(1))
    this.told.push({ step, passed: problem === null, seconds, problem })
    if (!JSON_WANTED)
      console.log(`  ${problem === null ? "holds" : "FAILS"}   ${step}${problem ? `\n          ${problem}` : ""}`)
    return problem === null
  }

  get failed() {
    return this.told.filter(({ passed }) => !passed).length
  }
}

/** Runs a command that prints what it should, or nothing that matters. @param {string} command @param {string} folder @param {string | null} prints */
function typed(command, folder, prints) {
  const { status, printed } = type(command, folder)
  if (status !== 0)
    return `exit code ${status ?? "none"}: ${printed.trim().split("\n").slice(-12).join("\n          ")}`
  return prints === null ? null : firstDifference(prints, printed)
}

/** @param {string} folder of the tarballs */
function pack(folder) {
  const { status, printed } = type(`npm pack --workspaces --pack-destination "${folder}"`, ROOT)
  if (status !== 0) return printed.trim()
  const packed = readdirSync(folder).length
  const packages = readdirSync(join(ROOT, "packages")).length
  return packed === packages ? null : `${packed} tarballs for ${packages} packages`
}

/** Every line of the excerpt stands in the demo's output, in that order. @param {string} folder */
function demoAsQuoted(folder) {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8")
  const excerpt = blocksOf("README.md", readme).find(({ info, text }) => info === "text" && text.startsWith("Act "))
  if (excerpt === undefined) return "README.md quotes no act of the demo"
  const { status, printed } = type("npx invoke demo", folder)
  if (status !== 0) return `the demo ended with ${status ?? "none"}: ${printed.trim().split("\n").at(-1)}`
  return printed.includes(excerpt.text.trimEnd()) ? null : "README.md quotes what the demo does not print"
}

/** @param {Run} run @param {string} folder @returns {number | null} when the first call of a reader was answered */
function follow(run, folder) {
  const packages = join(folder, "invoke-packages")
  const app = join(folder, "app")
  for (const one of [packages, app]) mkdirSync(one)
  writeFileSync(join(app, "package.json"), '{ "private": true }\n')
  if (!run.check("pack the packages", () => pack(packages))) return null
  let firstCall = null
  for (const step of startSteps()) {
    if (step.kind === "save") {
      writeFileSync(join(app, step.file), step.text)
      continue
    }
    const { page, line, command, prints } = step
    run.check(`${page}:${line} ${command.split("\n")[0]}`, () => typed(command, app, prints))
    if (firstCall === null && command === "node pay.mjs") firstCall = run.seconds
  }
  run.check("README.md quotes the installed demo", () => demoAsQuoted(app))
  return firstCall
}

function main() {
  const run = new Run()
  const folder = mkdtempSync(join(tmpdir(), "invoke-quickstart-"))
  /** @type {number | null} */
  let firstCall = null
  try {
    firstCall = follow(run, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const figure = { passed: run.told.length - run.failed, failed: run.failed }
  process.exitCode = run.failed === 0 ? 0 : 1
  if (JSON_WANTED) {
    const seconds_to_first_call = firstCall === null ? null : Number(firstCall.toFixed(1))
    console.log(JSON.stringify({ ...figure, violations: run.failed, seconds_to_first_call, steps: run.told }))
    return
  }
  if (firstCall !== null) console.log(`\nFrom an empty folder to the first guarded call: ${firstCall.toFixed(1)} s`)
  console.log(`${figure.passed} passed, ${figure.failed} failed`)
}

main()
