// @ts-check
// The program under test: an application with one tool on a journal, in a process that can be stopped at a boundary.
//
// It says what it was told, settles what it finds without any call, makes its calls again, and says what the journal holds.
// Each step waits for a line of its input, so that effects can be counted in between.

import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import { Invoke, sha256, systemIds, systemRandom, thisMachine, verifyChain } from "@invokejs/engine"
import { loadDriver, openJournalWith } from "@invokejs/journal-sqlite/internal"
import { InvokeError } from "@invokejs/protocol"
import { seamedDriver } from "./commit-seam.mjs"
import { fastClock } from "./fast-clock.mjs"
import { seamedJournal } from "./journal-seam.mjs"
import { outsideTool } from "./outside-tools.mjs"

/**
 * @typedef {object} Order
 * @property {string} journal
 * @property {"inline" | "thread"} mode
 * @property {number} speed
 * @property {number} base_ms
 * @property {import("./outside-tools.mjs").Safety} safety
 * @property {import("./outside-tools.mjs").TransportKind} transport
 * @property {string} url
 * @property {"call" | "recover"} act
 * @property {readonly string[]} markers
 * @property {string} [wait] how long a call waits, on the fast clock
 * @property {import("./journal-seam.mjs").Seam | null} seam
 * @property {import("./commit-seam.mjs").CommitSeam | null} commit_seam
 * @property {boolean} end_writer the writer's thread ends while the first shared commit is under way
 */

/** @typedef {{ readonly marker: string, readonly status: string, readonly final_outcome: string, readonly ok: boolean, readonly settled: boolean, readonly operation_id: string }} ToldResult */
/** @typedef {{ readonly marker: string, readonly error: string }} ToldError */
/** @typedef {ToldResult | ToldError} Told */
/** @typedef {{ readonly marker: string, readonly operation_id: string, readonly state: string, readonly attempts: number }} Held */

const order = /** @type {Order} */ (JSON.parse(process.argv[2] ?? "{}"))
const clock = fastClock(order.speed, order.base_ms)
const lines = createInterface({ input: process.stdin })
// It does not outlive the process that drives it.
lines.on("close", () => process.exit(0))
const input = lines[Symbol.asyncIterator]()
const tool = outsideTool(order)
const wait = /** @type {import("@invokejs/engine").Duration} */ (order.wait ?? "30m")

/** Written at once: a line that waits in a buffer is lost with the process. @param {unknown} line */
function say(line) {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

/** Waits for the next line. `end`: closes, which lets a running attempt tell how it ended. */
async function goOn() {
  const { value } = await input.next()
  const { go } = /** @type {{ go: "on" | "end" }} */ (JSON.parse(value ?? '{"go":"end"}'))
  if (go === "end") await end()
}

async function end() {
  await invoke.close()
  say({ closed: true })
  process.exit(0)
}

async function openJournal() {
  const driver = await loadDriver()
  if (driver === null) throw new Error("this Node has no SQLite")
  /** @type {() => Promise<void>} */
  let endWriter = () => Promise.resolve()
  const { commit_seam } = order
  const journal = await openJournalWith(
    { path: order.journal, mode: order.mode, clock, ids: systemIds, allowEphemeral: true },
    {
      ...(commit_seam === null ? {} : { driver: seamedDriver(driver, commit_seam, () => say({ at: "commit" })) }),
      onThread: (terminate) => {
        endWriter = terminate
      },
    },
  )
  if (order.end_writer) return endingWriter(journal, () => endWriter())
  if (order.seam === null) return journal
  return seamedJournal(journal, order.seam, async () => {
    say({ at: "write" })
    await input.next()
  })
}

/**
 * The writer's thread ends once, in the turn in which the last of the calls has been handed to it.
 *
 * @param {import("@invokejs/engine").Journal} journal @param {() => Promise<void>} end
 */
function endingWriter(journal, end) {
  let admissions = 0
  return new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (typeof value !== "function") return value
      if (name !== "admit") return value.bind(target)
      return (/** @type {import("@invokejs/engine").AdmitWrite} */ write) => {
        const answer = target.admit(write)
        admissions += 1
        if (admissions === order.markers.length) setImmediate(() => void end())
        return answer
      }
    },
  })
}

/** @param {Invoke} invoke @returns {Promise<Told[]>} */
async function callAll(invoke) {
  return Promise.all(
    order.markers.map(async (marker) => {
      try {
        return told(marker, await invoke.call({ tool: tool.name, params: { marker }, wait }))
      } catch (error) {
        if (error instanceof InvokeError) return { marker, error: error.code }
        throw error
      }
    }),
  )
}

/** @param {string} marker @param {import("@invokejs/protocol").Result} result @returns {ToldResult} */
function told(marker, { status, final_outcome, ok, settled, operation_id }) {
  return { marker, status, final_outcome, ok, settled, operation_id }
}

/** @param {Invoke} invoke @returns {Promise<Held[]>} */
async function held(invoke) {
  const { items } = await invoke.operations({}, { limit: 100 })
  return items.map(({ params, operation_id, state, attempts }) => ({
    marker: /** @type {{ marker: string }} */ (params).marker,
    operation_id,
    state,
    attempts: attempts.length,
  }))
}

/** @param {Invoke} invoke */
async function chainFaults(invoke) {
  const { items } = await invoke.operations({}, { limit: 100 })
  const faults = await Promise.all(
    items.map(async (operation) => verifyChain(operation, await invoke.timeline(operation.operation_id), sha256)),
  )
  return faults.flat().map(({ fault, seq }) => `${fault} at ${seq}`)
}

const invoke = /** @type {Invoke} */ (
  /** @type {unknown} */ (
    await Invoke.on({
      journal: await openJournal(),
      tools: [tool],
      clock,
      random: systemRandom,
      ids: systemIds,
      telemetry: { log: () => {}, count: () => {} },
      machine: thisMachine(),
    })
  )
)
say({ open: true })
if (order.act === "call") say({ told: await callAll(invoke) })
say({ found: await held(invoke) })
await goOn()
const found = await held(invoke)
say({
  settled: await Promise.all(
    found.map(async ({ marker, operation_id }) => told(marker, await invoke.wait(operation_id, { wait }))),
  ),
})
await goOn()
say({ repeated: await callAll(invoke) })
say({ held: await held(invoke) })
say({ faults: await chainFaults(invoke) })
await goOn()
