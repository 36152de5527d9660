// @ts-check
// One racer: an application on the shared journal, which makes the call of each round when it is told to.

import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import { Invoke, sha256, systemClock, systemIds, systemRandom, thisMachine, verifyChain } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { InvokeError } from "@invokejs/protocol"
import { raceCall, raceTools } from "./race-tools.mjs"
import { withoutUniqueKeys } from "./unguarded-journal.mjs"

/** @typedef {{ readonly journal: string, readonly url: string, readonly racer: string, readonly mode: "inline" | "thread", readonly guarded: boolean }} Order */

/** Wall times are of one machine, so those of two processes can be compared. */
/** @typedef {{ readonly started_ms: number, readonly ended_ms: number }} Times */
/** @typedef {Times & { readonly status: string, readonly operation_id: string, readonly output: string, readonly holder: string | null }} Answered */
/** @typedef {Answered | (Times & { readonly error: string })} Answer */
/** @typedef {{ readonly operations: number, readonly faults: readonly string[] }} Audit */
/** @typedef {{ readonly answers: number, readonly by_status: Record<string, number>, readonly operations: number, readonly outputs: number }} Tally */

const order = /** @type {Order} */ (JSON.parse(process.argv[2] ?? "{}"))

/** @param {unknown} line */
function say(line) {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

const { journal: path, mode, guarded, racer } = order
const journal = await openSqliteJournal({ path, mode, clock: systemClock, ids: systemIds, allowEphemeral: true })
const invoke = await Invoke.on({
  journal: guarded ? journal : withoutUniqueKeys(journal, racer),
  tools: raceTools(order.url),
  clock: systemClock,
  random: systemRandom,
  ids: systemIds,
  telemetry: { log: () => {}, count: () => {} },
  machine: thisMachine(),
})

/** @param {import("./race-tools.mjs").Kind} kind @param {string} round @returns {Promise<Answer>} */
async function race(kind, round) {
  const started_ms = Date.now()
  const calling = invoke.call(raceCall(kind, round, racer))
  say({ calling: round })
  try {
    const { status, operation_id, output, held_by } = await calling
    return { status, operation_id, output: JSON.stringify(output), holder: held_by, started_ms, ended_ms: Date.now() }
  } catch (error) {
    if (!(error instanceof InvokeError)) throw error
    return { error: error.code, started_ms, ended_ms: Date.now() }
  }
}

/** A call whose answer is lost, which a person then knows not to have been applied. @param {string} round @returns {Promise<string>} */
async function refute(round) {
  const { status, operation_id } = await invoke.call(raceCall("retry", round, racer))
  if (status !== "needs_review") return status
  const operator = invoke.operator({ name: "ops@example.com" })
  const resolved = await operator.resolve(operation_id, {
    to: "not_applied",
    reason: "the provider's own list does not have it",
    evidence: { ticket: "SUP-1182" },
  })
  return resolved.status
}

/** Many calls of one action in one turn of this process. @param {number} calls @param {string} round @returns {Promise<Tally>} */
async function parallel(calls, round) {
  const results = await Promise.all(
    Array.from({ length: calls }, () => invoke.call(raceCall("explicit", round, racer))),
  )
  /** @type {Record<string, number>} */
  const by_status = {}
  for (const { status } of results) by_status[status] = (by_status[status] ?? 0) + 1
  return {
    answers: results.length,
    by_status,
    operations: new Set(results.map((result) => result.operation_id)).size,
    outputs: new Set(results.map((result) => JSON.stringify(result.output))).size,
  }
}

/** Every operation that the journal holds, each with its whole chain of events. @returns {Promise<Audit>} */
async function audit() {
  let operations = 0
  /** @type {string[]} */
  const faults = []
  /** @type {string | null} */
  let cursor = null
  do {
    /** @type {import("@invokejs/engine").Page<import("@invokejs/protocol").Operation>} */
    const page = await invoke.operations({}, cursor === null ? { limit: 200 } : { limit: 200, cursor })
    for (const operation of page.items) {
      operations += 1
      const found = verifyChain(operation, await invoke.timeline(operation.operation_id), sha256)
      faults.push(...found.map(({ operation_id, seq, fault }) => `${operation_id}: ${fault} at ${seq}`))
    }
    cursor = page.next_cursor
  } while (cursor !== null)
  return { operations, faults }
}

/** @param {number} at_ms */
async function moment(at_ms) {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, at_ms - Date.now())))
}

/** @typedef {{ readonly round: string, readonly kind: import("./race-tools.mjs").Kind, readonly at_ms: number } | { readonly round: string, readonly parallel: number } | { readonly refute: string } | { readonly backup: string } | { readonly audit: true }} Start */

say({ ready: true })
for await (const line of createInterface({ input: process.stdin })) {
  const start = /** @type {Start} */ (JSON.parse(line))
  if ("parallel" in start) {
    say({ tally: await parallel(start.parallel, start.round) })
  } else if ("refute" in start) {
    say({ refuted: await refute(start.refute) })
  } else if ("backup" in start) {
    // Not waited for: it copies the file while the next round's calls are written to it.
    void journal.backup(start.backup).then(({ bytes }) => say({ copied: bytes }))
  } else if ("audit" in start) {
    say({ audit: await audit() })
  } else {
    await moment(start.at_ms)
    say({ answer: await race(start.kind, start.round) })
  }
}
await invoke.close()
