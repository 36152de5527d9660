// How a child process of the conformance suite opens the store of its parent.

import { systemClock, systemIds } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"

/** @param {string} argument */
export function openForChild(argument) {
  const { path, mode, driver } = JSON.parse(argument)
  return openSqliteJournal({ path, mode, driver, clock: systemClock, ids: systemIds })
}
