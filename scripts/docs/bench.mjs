// @ts-check
// A small world in which the docs' real messages and results are made: a real engine on a real SQLite file, a clock that stands
// still and ids in a row, so that the same code gives the same text.

import { Invoke, thisMachine } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { ManualClock } from "@invokejs/testkit"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** @import { AnyTool, Ids, Invoke as Engine } from "@invokejs/engine" */
/** @typedef {{ clock: ManualClock, folder: string, open: (tools?: readonly AnyTool[]) => Promise<Engine> }} Bench */

/** Ids that look like the real ones and say which they are. @returns {Ids} */
function idsInRow() {
  let count = 0
  const next = (/** @type {string} */ kind) => {
    count += 1
    return `019b7777-0000-7${kind}-8000-${count.toString(16).padStart(12, "0")}`
  }
  return { operation: () => next("0a1"), event: () => next("0b1"), token: () => next("0c1"), worker: () => next("0d1") }
}

const silent = { log: () => undefined, count: () => undefined }

/** Runs something in a world of its own. @template T @param {(bench: Bench) => Promise<T>} run @returns {Promise<T>} */
export async function onBench(run) {
  const folder = mkdtempSync(join(tmpdir(), "invoke-docs-"))
  const clock = new ManualClock()
  const ids = idsInRow()
  /** @type {Engine[]} */
  const opened = []
  const open = async (/** @type {readonly AnyTool[]} */ tools = []) => {
    const journal = await openSqliteJournal({
      path: join(folder, "invoke.db"),
      mode: "inline",
      clock,
      ids,
      allowEphemeral: true,
    })
    const machine = thisMachine()
    const parts = { journal, tools, clock, ids, machine, random: { unit: () => 0 }, telemetry: silent }
    const invoke = await Invoke.on(parts)
    opened.push(invoke)
    return invoke
  }
  try {
    return await run({ clock, folder, open })
  } finally {
    for (const invoke of opened) await invoke.close({ drain: 0 })
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Lets time pass until the promise settles. @template T @param {ManualClock} clock @param {Promise<T>} promise @returns {Promise<T>} */
export async function during(clock, promise) {
  let settled = false
  const watched = promise.finally(() => {
    settled = true
  })
  watched.catch(() => undefined)
  await clock.until(() => settled)
  return watched
}

/** Ids as the docs show them: numbered in the order in which a text names them, whatever the engine used ids for before. @param {string} text */
export function numberedIds(text) {
  /** @type {string[]} */
  const seen = []
  return text.replaceAll(/\b019b7777-[0-9a-f-]{27}\b/g, (found) => {
    if (!seen.includes(found)) seen.push(found)
    return `019b7777-0000-7000-8000-${(seen.indexOf(found) + 1).toString(16).padStart(12, "0")}`
  })
}
