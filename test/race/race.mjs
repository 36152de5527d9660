// @ts-check
// The race: real processes on one journal file, released at the same moment, each round for one action.
//
// Every second round the provider keeps the first request at its gate until every process is calling, so that a round in
// which one call merely follows another is not all that is shown. Effects are counted in the provider's own ledger, whose
// lines are flushed before anybody is answered.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startProvider } from "@invokejs/testkit"
import { WorkerProcess } from "../crash/worker-process.mjs"
import { judgeAudit, judgeParallel, judgeRound } from "./race-oracle.mjs"
import { API_KEY, KINDS } from "./race-tools.mjs"

/** @typedef {import("./race-tools.mjs").Kind} Kind */
/** @typedef {import("./racer-program.mjs").Answer} Answer */
/** @typedef {import("./racer-program.mjs").Audit} Audit */
/** @typedef {import("./racer-program.mjs").Tally} Tally */

/**
 * @typedef {object} RaceOptions
 * @property {number} processes
 * @property {number} rounds
 * @property {number} parallel calls of one action in one process; 0 leaves that out
 * @property {readonly Kind[]} [kinds] taken in turn
 * @property {"unique_keys"} [break] a guard that is broken on purpose, to see the count turn red
 */

/** @typedef {{ readonly round: string, readonly kind: Kind, readonly held: boolean, readonly answers: readonly Answer[] }} Round */

/**
 * @typedef {object} RaceReport
 * @property {number} processes
 * @property {number} rounds
 * @property {number} calls
 * @property {number} effects
 * @property {Record<string, { rounds: number, effects: number }>} kinds
 * @property {number} operations in the journal at the end
 * @property {{ least: number, median: number }} overlap how many calls of a round had begun before the first one was answered
 * @property {{ calls: number, effects: number } | null} parallel
 * @property {string[]} violations
 */

const PROGRAM = new URL("./racer-program.mjs", import.meta.url)
/** From the order to the start: long enough for every process to have read it. */
const LEAD_MS = 20
/** Every so many rounds one racer copies the journal from inside while all write to it. */
const BACKUP_EVERY = 10

/** @param {RaceOptions} options @returns {Promise<RaceReport>} */
export async function runRace(options) {
  const directory = await mkdtemp(join(tmpdir(), "invoke-race-"))
  const provider = await startProvider("mail", {
    directory: join(directory, "provider"),
    settings: { api_key: API_KEY, accept_status: 200 },
  })
  const track = new Track(provider)
  try {
    const kinds = options.kinds ?? KINDS
    /** @type {Round[]} */
    const rounds = []
    await track.enter(options, join(directory, "invoke.db"))
    for (let number = 1; number <= options.rounds; number += 1) {
      const kind = kinds[number % kinds.length] ?? "explicit"
      // By groups, so that every kind is run both ways.
      const held = Math.floor(number / kinds.length) % 2 === 1
      const copy = number % BACKUP_EVERY === 0 ? join(directory, `copy-${number}.db`) : null
      rounds.push(await track.run(`round_${number}`, kind, { held, copy }))
    }
    const tally = options.parallel > 0 ? await track.runParallel("parallel", options.parallel) : null
    const audit = await track.audit()
    return report(options, { rounds, tally, audit, effects: await effectsByRound(provider) })
  } finally {
    await track.leave()
    await provider.kill()
    await rm(directory, { recursive: true, force: true })
  }
}

class Track {
  #provider
  /** @type {WorkerProcess[]} */
  #racers = []

  /** @param {import("@invokejs/testkit").RunningProvider<"mail">} provider */
  constructor(provider) {
    this.#provider = provider
  }

  /** Both journal modes race each other. @param {RaceOptions} options @param {string} journal */
  async enter({ processes, break: guard }, journal) {
    const { url } = this.#provider
    this.#racers = Array.from({ length: processes }, (_, index) => {
      const mode = index % 2 === 0 ? "thread" : "inline"
      return WorkerProcess.start(PROGRAM, {
        journal,
        url,
        racer: `racer-${index + 1}`,
        mode,
        guarded: guard === undefined,
      })
    })
    await Promise.all(this.#racers.map((racer) => racer.says("ready")))
  }

  /** @param {string} round @param {Kind} kind @param {{ held: boolean, copy: string | null }} way @returns {Promise<Round>} */
  async run(round, kind, { held, copy }) {
    if (kind === "retry") await this.#refuted(round)
    const copier = copy === null ? undefined : this.#racers.at(-1)
    copier?.tell({ backup: copy })
    if (held) await this.#provider.gate("before_effect")
    const answers = this.#racers.map((racer) => this.#start(racer, kind, round))
    if (held) {
      await Promise.all(this.#racers.map((racer) => racer.says("calling")))
      const standing = this.#provider.atGate(1)
      // Where nobody sends anything, the answers come first and say so.
      standing.catch(() => {})
      await Promise.race([standing, Promise.all(answers)])
      await this.#provider.gate("open")
    }
    const all = await Promise.all(answers)
    if (!held) await Promise.all(this.#racers.map((racer) => racer.says("calling")))
    await copier?.says("copied")
    return { round, kind, held, answers: all }
  }

  /** @param {string} round @param {number} calls @returns {Promise<Tally>} */
  async runParallel(round, calls) {
    const racer = this.#racers[0]
    if (racer === undefined) throw new Error("nobody races")
    racer.tell({ round, parallel: calls })
    return /** @type {Tally} */ (await racer.says("tally"))
  }

  async audit() {
    const racer = this.#racers[0]
    if (racer === undefined) throw new Error("nobody races")
    racer.tell({ audit: true })
    return /** @type {Audit} */ (await racer.says("audit"))
  }

  async leave() {
    await Promise.all(this.#racers.map((racer) => racer.kill()))
  }

  /** The action is known not to be applied, and has budget: everybody's call is its retry, and one of them wins. @param {string} round */
  async #refuted(round) {
    const racer = this.#racers[0]
    if (racer === undefined) throw new Error("nobody races")
    await this.#provider.answers([{ stage: "execution", match: { marker: `"${round}"` }, then: "rst" }])
    racer.tell({ refute: round })
    const status = await racer.says("refuted")
    if (status !== "not_applied") throw new Error(`${round}: told ${String(status)}, and not what a retry is for`)
  }

  /** @param {WorkerProcess} racer @param {Kind} kind @param {string} round */
  async #start(racer, kind, round) {
    racer.tell({ round, kind, at_ms: Date.now() + LEAD_MS })
    return /** @type {Answer} */ (await racer.says("answer"))
  }
}

/** @param {import("@invokejs/testkit").RunningProvider<"mail">} provider @returns {Promise<Map<string, number>>} */
async function effectsByRound(provider) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const { object } of await provider.effects("mail.sent")) {
    const { subject } = /** @type {{ subject: string }} */ (object)
    counts.set(subject, (counts.get(subject) ?? 0) + 1)
  }
  return counts
}

/**
 * @param {RaceOptions} options
 * @param {{ rounds: readonly Round[], tally: Tally | null, audit: Audit, effects: Map<string, number> }} seen
 * @returns {RaceReport}
 */
function report({ processes, parallel }, { rounds, tally, audit, effects }) {
  /** @type {RaceReport["kinds"]} */
  const kinds = {}
  const overlaps = rounds.map(({ answers }) => overlapOf(answers)).toSorted((a, b) => a - b)
  /** @type {string[]} */
  const violations = []
  let made = 0
  for (const { round, kind, answers } of rounds) {
    const count = effects.get(round) ?? 0
    made += count
    const so_far = kinds[kind] ?? { rounds: 0, effects: 0 }
    kinds[kind] = { rounds: so_far.rounds + 1, effects: so_far.effects + count }
    violations.push(...judgeRound({ round, kind, answers, effects: count }))
  }
  const of_parallel = effects.get("parallel") ?? 0
  if (tally !== null) violations.push(...judgeParallel(tally, { calls: parallel, effects: of_parallel }))
  // Under one intent every racer's key is an operation of its own: one of them acts.
  const admitted = rounds.reduce((sum, { kind }) => sum + (kind === "intent" ? processes : 1), tally === null ? 0 : 1)
  violations.push(...judgeAudit(audit, admitted))
  return {
    processes,
    rounds: rounds.length,
    calls: rounds.length * processes,
    effects: made,
    kinds,
    operations: audit.operations,
    overlap: { least: overlaps[0] ?? 0, median: overlaps[Math.floor(overlaps.length / 2)] ?? 0 },
    parallel: tally === null ? null : { calls: parallel, effects: of_parallel },
    violations,
  }
}

/** @param {readonly Answer[]} answers */
function overlapOf(answers) {
  const first = Math.min(...answers.map(({ ended_ms }) => ended_ms))
  return answers.filter(({ started_ms }) => started_ms <= first).length
}

/** @param {RaceReport} race */
export function figureOf({ processes, rounds, calls, effects, parallel, violations }) {
  const many =
    parallel === null
      ? ""
      : `; ${parallel.calls.toLocaleString("en-US")} parallel calls in one process: ${parallel.effects} effect${parallel.effects === 1 ? "" : "s"}`
  return `race: ${processes} processes, ${rounds} rounds, ${calls} calls: ${effects} effects${many}; ${violations.length} violations`
}
