// Hunts two SQLite libraries of one process on the same files: each drops the locks of the other, and a commit that
// returned is lost (R25).

import { loadDriver, openJournalWith, probeWorkerLock } from "@invokejs/journal-sqlite/internal"
import type { Driver } from "@invokejs/journal-sqlite/internal"
import { admitted, registered } from "@invokejs/testkit"
import { spawnSync } from "node:child_process"
import { statSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { optionsFor, presentDrivers, testFolder } from "./sqlite-store.ts"
import type { TestFolder } from "./sqlite-store.ts"

let place: TestFolder
beforeEach(() => {
  place = testFolder()
})
afterEach(() => place.dispose())

const present = await presentDrivers()

test("the driver of this Node is its own where it has one, else the one that brings its binary", async () => {
  const own = await loadDriver("node:sqlite")
  expect((await loadDriver())?.name).toBe(own === null ? "@photostructure/sqlite" : "node:sqlite")
  const journal = await place.open()
  expect(journal.identity.driver).toBe((await loadDriver())?.name)
  expect((await journal.facts())["sqlite"]).toMatch(/^3\.\d+\.\d+$/)
})

test("a driver that this Node does not have is named", async () => {
  const missing = { ...optionsFor(place.path, "inline"), driver: "no such driver" as "node:sqlite" }
  await expect(openJournalWith(missing, {})).rejects.toMatchObject({ code: "journal_unavailable" })
})

test("a file that one library has open is not opened by another in the same process [R25]", async () => {
  const journal = await place.open()
  const other: Driver = { name: otherName(), open: () => expect.unreachable("the file was opened") }
  await expect(openJournalWith(optionsFor(place.path, "inline"), { driver: other })).rejects.toMatchObject({
    code: "journal_unsafe_location",
  })
  await admitted(journal)
})

function otherName(): Driver["name"] {
  return present[0]?.name === "node:sqlite" ? "@photostructure/sqlite" : "node:sqlite"
}

test.skipIf(present.length < 2)(
  "asking with another library about a worker of this process does not free its lock [R25] [item 10]",
  async () => {
    const [first, second] = present
    const journal = await openJournalWith(optionsFor(place.path, "inline", first?.name), {})
    const { worker_id } = await registered(journal, 0)
    // A copy of this package that loaded the other library would ask like this.
    const file = `${place.path}-workers/${worker_id}.lock`
    const inode = statSync(file, { bigint: true }).ino.toString()
    expect(second && probeWorkerLock(second, { file, inode })).toBe("held")
    const program = fileURLToPath(new URL("./children/ask-gone.mjs", import.meta.url))
    const { stdout } = spawnSync(process.execPath, [program, place.path, worker_id], { encoding: "utf8" })
    expect(stdout.trim()).toBe("alive")
    await journal.close()
  },
)
