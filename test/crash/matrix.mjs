// @ts-check
// The crash matrix: boundaries × effect or none × who goes on × safety class, with real processes and real SIGKILL.
//
// What a kill cannot show: SIGKILL ends a process, not the machine, so what the kernel has it keeps. That COMMIT flushes is
// read back by the journal when it opens; a lost page cache is not simulated here.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { cellsOf, SAFETIES } from "./cells.mjs"
import { Lane } from "./lane.mjs"
import { MissedBoundary, runCell } from "./run-cell.mjs"

/** @typedef {import("./cells.mjs").Cell} Cell */
/** @typedef {import("./run-cell.mjs").CellRun} CellRun */
/** @typedef {import("./outside-tools.mjs").TransportKind} TransportKind */

/** One cell on one variant of the machine. @typedef {{ readonly cell: Cell, readonly mode: "inline" | "thread", readonly transport: TransportKind }} Job */
/** @typedef {Job & { readonly run: CellRun }} Done */

/**
 * @typedef {object} MatrixOptions
 * @property {"ci" | "full"} size `ci`: each cell once, modes taken in turn; `full`: each cell in both modes and on both transports
 * @property {number} [lanes] cells under way at once
 * @property {(cell: Cell) => boolean} [only]
 * @property {"intent_first"} [break] a guard that is broken on purpose, to see the count turn red
 * @property {(done: Done) => void} [progress]
 */

/** A cell mostly waits for windows to end, so a machine of two cores carries more than two. */
const LANES = 5
/** The processes' clock: backoffs are short, and a stall of the machine is still far from the end of any lease. */
const SPEED = 4
/** Where a lease or an opaque attempt's time is waited for, which is a minute and more. */
const SPEED_OF_WAITS = 10

/** @param {MatrixOptions} options @returns {Promise<readonly Done[]>} */
export async function runMatrix(options) {
  const { lanes = LANES, progress = () => {} } = options
  const jobs = jobsOf(options)
  const directory = await mkdtemp(join(tmpdir(), "invoke-crash-"))
  /** @type {(Done | undefined)[]} */
  const done = jobs.map(() => undefined)
  let next = 0
  const lane = async (/** @type {number} */ number) => {
    const outside = await Lane.start(join(directory, `lane-${number}`))
    try {
      for (let index = next++; index < jobs.length; index = next++) {
        const job = jobs[index]
        if (job === undefined) return
        const { cell, mode, transport } = job
        const speed = cell.outlasts_lease || transport === "opaque" ? SPEED_OF_WAITS : SPEED
        const run = await attempt(cell, { lane: outside, directory, name: `c${index + 1}`, speed, mode, transport })
        const finished = { ...job, run }
        done[index] = finished
        progress(finished)
      }
    } finally {
      await outside.close()
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(lanes, jobs.length) }, (_, index) => lane(index + 1)))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  return done.filter((one) => one !== undefined)
}

const TRIES = 3

/**
 * What could not be run is a violation too: nothing was shown.
 *
 * @param {Cell} cell @param {import("./run-cell.mjs").RunOptions} options @returns {Promise<CellRun>}
 */
async function attempt(cell, options) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await runCell(cell, { ...options, name: `${options.name}_${tries}` })
    } catch (error) {
      if (error instanceof MissedBoundary && tries < TRIES) continue
      return { cell, effects: [], repeated: [], wrong: [error instanceof Error ? error.message : String(error)] }
    }
  }
}

/** @param {MatrixOptions} options @returns {Job[]} */
function jobsOf({ size, only = () => true, break: guard }) {
  const cells = SAFETIES.flatMap((safety) => cellsOf(safety))
    .filter(only)
    .map((cell) => (guard === undefined ? cell : broken(cell)))
  if (size === "ci") return cells.map((cell, index) => jobOf(cell, index % 2 === 0 ? "inline" : "thread", "invoke"))
  return TRANSPORTS.flatMap((transport) =>
    cells
      .filter((cell) => isBounded(cell, transport))
      .flatMap((cell) => modesOf(cell).map((mode) => jobOf(cell, mode, transport))),
  )
}

/** @param {Cell} cell @param {Job["mode"]} mode @param {TransportKind} transport @returns {Job} */
function jobOf(cell, mode, transport) {
  return { cell, mode, transport }
}

/** @type {readonly TransportKind[]} */
const TRANSPORTS = ["invoke", "opaque"]

/** The seams of a commit name their mode themselves. @param {Cell} cell @returns {readonly Job["mode"][]} */
function modesOf(cell) {
  return cell.commit_seam !== null || cell.end_writer ? ["inline"] : ["inline", "thread"]
}

/**
 * What takes more than a minute on the fast clock is left out: an opaque attempt of a process that lives stays open, asleep or
 * not. Only its end, or a person, closes it.
 *
 * @param {Cell} cell @param {TransportKind} transport
 */
function isBounded({ who }, transport) {
  return transport === "invoke" || who === "same" || who === "new"
}

/** Admissions are acknowledged and never written: a crash forgets them, and the same call again is new. @param {Cell} cell @returns {Cell} */
function broken(cell) {
  return cell.seam === null ? { ...cell, seam: { on: "admit", act: "forget" } } : cell
}
