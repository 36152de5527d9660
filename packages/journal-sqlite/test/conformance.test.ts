// Hunts every way in which the journal on SQLite could break the contract of the port: in a thread and inline, on each
// driver that this Node has.

import { DRIVER_NAMES } from "@invokejs/journal-sqlite"
import { loadDriver } from "@invokejs/journal-sqlite/internal"
import { journalConformance } from "@invokejs/testkit"
import { describe, expect, test } from "vitest"
import { presentDrivers, sqliteSubject } from "./sqlite-store.ts"

const present = await presentDrivers()
const subjects = present.flatMap((driver) => [sqliteSubject("inline", driver), sqliteSubject("thread", driver)])

describe.each(subjects)("$name", (subject) => {
  // Not `test.each`: it cuts long names, and with them the ids that they cite.
  for (const { name, run } of journalConformance(subject)) test(`${name}`, () => run())
})

// A driver that this Node lacks shows as a skipped test, so that a run says what it did not try.
for (const name of DRIVER_NAMES) {
  test.skipIf(!present.some((driver) => driver.name === name))(`the driver ${name} is in this Node`, async () => {
    expect((await loadDriver(name))?.name).toBe(name)
  })
}
