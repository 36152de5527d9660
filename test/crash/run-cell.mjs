// @ts-check
// Runs one cell: stops the call at its boundary, lets the outside go on, and sees what becomes of the action.

import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { judgeAction } from "./oracle.mjs"
import { WorkerProcess } from "./worker-process.mjs"

/** @typedef {import("./cells.mjs").Cell} Cell */
/** @typedef {import("./lane.mjs").Side} Side */
/** @typedef {import("./oracle.mjs").Told} Told */
/** @typedef {import("./oracle.mjs").Held} Held */
/** @typedef {import("./worker-program.mjs").Order} Order */

/**
 * @typedef {object} RunOptions
 * @property {import("./lane.mjs").Lane} lane
 * @property {string} directory
 * @property {string} name begins the markers of its effects
 * @property {number} speed of the clock of all its processes
 * @property {"inline" | "thread"} mode
 * @property {import("./outside-tools.mjs").TransportKind} transport
 */

/**
 * @typedef {object} CellRun
 * @property {Cell} cell
 * @property {readonly number[]} effects at the end, one number an action
 * @property {readonly Told[]} repeated
 * @property {readonly string[]} wrong
 */

const PROGRAM = new URL("./worker-program.mjs", import.meta.url)

/** The call ended before it came to its boundary: on a machine that stalls, an attempt can end otherwise. Nothing was shown. */
export class MissedBoundary extends Error {}

/** How often a sleeper is woken and stopped again because it sleeps with the journal's write lock in its hand. */
const STOPS_MAX = 20
const AWAKE_MS = 50

/** @param {Cell} cell @param {RunOptions} options @returns {Promise<CellRun>} */
export async function runCell(cell, options) {
  const side = await options.lane.side(cell.safety)
  const folder = await mkdtemp(join(options.directory, "cell-"))
  const stage = new Stage(cell, options, side, join(folder, "invoke.db"))
  try {
    await cell.prepare(side)
    return await (cell.who === "same" ? stage.runSame() : cell.who === "new" ? stage.runNew() : stage.runFrozen())
  } finally {
    await stage.clear()
    await side.proxy.close()
    await rm(folder, { recursive: true, force: true })
  }
}

class Stage {
  #cell
  #side
  /** @type {Order} */
  #order
  /** @type {WorkerProcess[]} */
  #workers = []

  /** @param {Cell} cell @param {RunOptions} options @param {Side} side @param {string} journal */
  constructor(cell, { name, speed, mode, transport }, side, journal) {
    this.#cell = cell
    this.#side = side
    const { safety, seam, commit_seam, end_writer, calls } = cell
    this.#order = {
      journal,
      // What the seams of the library and of its thread need.
      mode: commit_seam !== null ? "inline" : end_writer ? "thread" : mode,
      speed,
      base_ms: Date.now(),
      safety,
      transport,
      url: side.proxy.url,
      act: "call",
      markers: Array.from({ length: calls }, (_, index) => `${name}_${index + 1}`),
      seam,
      commit_seam,
      end_writer,
    }
  }

  /** The process lives on. */
  async runSame() {
    const worker = this.#start("call")
    await this.#cell.reached(this.#side, worker)
    await this.#cell.after(this.#side)
    const told = await this.#told(worker, "told").catch((/** @type {unknown} */ error) => {
      // A driver whose thread is ended inside a call may take its whole process with it: that is a kill like any other.
      if (this.#order.end_writer && worker.isGone) return null
      throw error
    })
    return this.#finish(told === null ? this.#start("recover") : worker, told)
  }

  /** The process is killed, and a new one opens its journal. */
  async runNew() {
    const worker = this.#start("call")
    await this.#reached(worker, worker.says("told"))
    await worker.kill()
    await this.#cell.after(this.#side)
    return this.#finish(this.#start("recover"), null)
  }

  /** The process stands still past its lease, beside a new one, and wakes up. */
  async runFrozen() {
    const sleeper = this.#start("call")
    const told = sleeper.says("told")
    await this.#reached(sleeper, told)
    const other = await this.#besideStopped(sleeper)
    await this.#cell.after(this.#side)
    const { seam } = this.#cell
    return this.#finish(other, null, async () => {
      sleeper.signal("SIGCONT")
      if (seam !== null) sleeper.tell({ go: "on" })
      await told
      // Its own attempt may still have to tell how it ended.
      sleeper.tell({ go: "end" })
      await sleeper.says("closed")
    })
  }

  /** @param {WorkerProcess} worker @param {Promise<unknown>} told */
  async #reached(worker, told) {
    const reached = this.#cell.reached(this.#side, worker)
    // Whichever comes second is not waited for.
    reached.catch(() => {})
    told.catch(() => {})
    const missed = told.then((value) => {
      throw new MissedBoundary(`told ${JSON.stringify(value)} before the boundary`)
    })
    await Promise.race([reached, missed])
  }

  /** A new process beside the stopped one. Nobody writes to a file whose lock is held by a process that stands still. @param {WorkerProcess} sleeper */
  async #besideStopped(sleeper) {
    for (let stops = 1; ; stops += 1) {
      sleeper.signal("SIGSTOP")
      const other = this.#start("recover")
      try {
        await other.says("open")
        return other
      } catch (error) {
        if (stops === STOPS_MAX) throw error
        sleeper.signal("SIGCONT")
        await new Promise((resolve) => setTimeout(resolve, AWAKE_MS))
      }
    }
  }

  async clear() {
    for (const worker of this.#workers) await worker.kill()
  }

  /** @param {Order["act"]} act */
  #start(act) {
    const seams = act === "call" ? {} : { seam: null, commit_seam: null, end_writer: false }
    const worker = WorkerProcess.start(PROGRAM, { ...this.#order, act, ...seams })
    this.#workers.push(worker)
    return worker
  }

  /**
   * @param {WorkerProcess} worker @param {readonly Told[] | null} told to the first callers
   * @param {() => Promise<void>} meanwhile once all is settled, before the calls are made again
   * @returns {Promise<CellRun>}
   */
  async #finish(worker, told, meanwhile = async () => {}) {
    const found = await this.#held(worker, "found")
    worker.tell({ go: "on" })
    const settled = await this.#told(worker, "settled")
    const atRest = await this.#effects()
    await meanwhile()
    worker.tell({ go: "on" })
    const repeated = await this.#told(worker, "repeated")
    const held = await this.#held(worker, "held")
    const effects = await this.#effects()
    const faults = /** @type {string[]} */ (await worker.says("faults"))
    worker.tell({ go: "end" })
    await worker.says("closed")
    const wrong = this.#order.markers.flatMap((marker, index) =>
      judgeAction(this.#cell, {
        marker,
        told: of(told ?? [], marker)[0] ?? null,
        found: of(found, marker),
        settled: { told: of(settled, marker)[0] ?? null, effects: atRest[index] ?? 0 },
        repeated: { told: of(repeated, marker)[0] ?? null, effects: effects[index] ?? 0 },
        held: of(held, marker),
      }).map((text) => (this.#order.markers.length > 1 ? `${marker}: ${text}` : text)),
    )
    return { cell: this.#cell, effects, repeated, wrong: [...wrong, ...faults.map((text) => `chain: ${text}`)] }
  }

  #effects() {
    return Promise.all(this.#order.markers.map((marker) => this.#side.effects(marker)))
  }

  /** @param {WorkerProcess} worker @param {string} name */
  async #told(worker, name) {
    return /** @type {Told[]} */ (await worker.says(name))
  }

  /** @param {WorkerProcess} worker @param {string} name */
  async #held(worker, name) {
    return /** @type {Held[]} */ (await worker.says(name))
  }
}

/** @template {{ readonly marker: string }} T @param {readonly T[]} list @param {string} marker @returns {T[]} */
function of(list, marker) {
  return list.filter((one) => one.marker === marker)
}
