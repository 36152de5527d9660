// @ts-check
// A journal that stops, fails or forgets at one write: the boundaries of a call that lie inside its own process.
//
// It wraps the Journal port in the program under test. Production code has no such place to hook into.
//
//   pause_before, pause_after   the write waits there until it is resumed, or its process is killed
//   refuse                      nothing is written, and the engine is told so
//   doubt                       it is written, and the answer is lost
//   doubt_lost                  it is not written, and the engine is told that it may have been
//   doubt_blind                 it is written, the answer is lost, and for a while the journal cannot be asked
//   forget                      it is acknowledged and never written: the guard "intent first" is broken on purpose

import { JournalError } from "@invokejs/engine"

/** @typedef {"admit" | "dispatch" | "outcome"} SeamWrite */
/** @typedef {"pause_before" | "pause_after" | "refuse" | "doubt" | "doubt_lost" | "doubt_blind" | "forget"} SeamAct */
/** @typedef {{ readonly on: SeamWrite, readonly act: SeamAct, readonly times?: number }} Seam */
/** @typedef {import("@invokejs/engine").Journal} Journal */
/** @typedef {import("@invokejs/engine").JournalWrite} JournalWrite */
/** @typedef {import("@invokejs/engine").WriteResult} WriteResult */

/** How many of the questions after a blind doubt find the journal unreachable. */
const BLIND_FOR = 2

/**
 * @param {Journal} journal
 * @param {Seam} seam
 * @param {() => Promise<void>} reached told at the boundary; a pause lasts until its promise settles
 * @returns {Journal}
 */
export function seamedJournal(journal, seam, reached) {
  let left = seam.times ?? 1
  let blind = 0

  /** @param {JournalWrite} write @param {() => Promise<WriteResult>} commit @returns {Promise<WriteResult>} */
  const through = async (write, commit) => {
    if (left <= 0 || kindOf(write) !== seam.on) return commit()
    left -= 1
    if (seam.act === "pause_before") await reached()
    if (seam.act === "refuse") throw new JournalError("journal_unavailable", "the seam refuses this write")
    if (seam.act === "doubt_lost") throw inDoubt()
    if (seam.act === "forget") return { ok: true, committed_at: write.at, operation: write.operation.next }
    const result = await commit()
    if (!result.ok) {
      // A write that met a conflict is made again: that one is meant.
      left += 1
      return result
    }
    if (seam.act === "pause_after") await reached()
    if (seam.act === "doubt_blind") blind = BLIND_FOR
    if (seam.act === "doubt" || seam.act === "doubt_blind") throw inDoubt()
    return result
  }

  /** @type {Partial<Journal>} */
  const changed = {
    admit: (write) => through(write, () => journal.admit(write)),
    dispatch: (write) => through(write, () => journal.dispatch(write)),
    advance: (write) => through(write, () => journal.advance(write)),
    settled: (event_id, operation_id) => {
      if (blind === 0) return journal.settled(event_id, operation_id)
      blind -= 1
      return Promise.reject(new JournalError("journal_unavailable", "the seam cannot be asked"))
    },
  }
  return new Proxy(journal, {
    get(target, name) {
      if (Object.hasOwn(changed, name)) return Reflect.get(changed, name)
      const value = Reflect.get(target, name, target)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}

/** @param {JournalWrite} write @returns {SeamWrite | "other"} */
function kindOf(write) {
  if (write.kind !== "advance") return write.kind
  const ended = write.operation.events.some(({ type }) => type === "acknowledged" || type === "attempt_disproved")
  return ended ? "outcome" : "other"
}

function inDoubt() {
  return new JournalError("commit_in_doubt", "the seam lost the answer of this write")
}
