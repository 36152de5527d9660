// Hunts tables that grow without bound, and a cleaning-up that takes what a crash still needs.

import { systemClock } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { loadDriver } from "@invokejs/journal-sqlite/internal"
import type { Driver } from "@invokejs/journal-sqlite/internal"
import { admission, admitted, newOperation, registered, written } from "@invokejs/testkit"
import { afterEach, beforeEach, expect, test } from "vitest"
import { optionsFor, testFolder, withFile } from "./sqlite-store.ts"
import type { TestFolder } from "./sqlite-store.ts"

const found = await loadDriver()
if (found === null) throw new Error("this Node has no SQLite")
const driver: Driver = found
const WEEK_MS = 7 * 24 * 3_600_000

let place: TestFolder
beforeEach(() => {
  place = testFolder()
})
afterEach(() => place.dispose())

const rowsOf = (table: string): number =>
  withFile(driver, place.path, (db) =>
    Number((db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n),
  )

test("the ids of writes are kept for a week and then forgotten, but never the one that the sibling names [R23] [R24]", async () => {
  const then = await place.open()
  const now = then.now()
  const old = admission(newOperation(now), now)
  const operation = written(await then.admit(old))
  for (let index = 0; index < 9; index += 1) await admitted(then)
  await then.close()
  expect(rowsOf("writes")).toBe(10)

  const almost = await place.open("inline", {}, WEEK_MS - 60_000)
  expect(await almost.settled(old.event_id, operation.operation_id)).toEqual(operation)
  await almost.close()

  let offset_ms = WEEK_MS + 60_000
  const clock = { ...systemClock, wall: () => systemClock.wall() + offset_ms }
  const later = await openSqliteJournal({ ...optionsFor(place.path, "inline"), clock })
  // The cleaning-up comes with a sealing, and the first one was at the open.
  offset_ms += 2_000
  await admitted(later)
  await admitted(later)
  await later.close()
  // The last of the old ones is what the sibling named when the others went.
  expect(rowsOf("writes")).toBe(3)
  const again = await place.open("inline", {}, 2 * WEEK_MS + 120_000)
  expect(await again.quarantine()).toBeNull()
  expect(await again.settled(old.event_id, operation.operation_id)).toBeNull()
  expect(await again.operation(operation.operation_id)).toEqual(operation)
})

test("a closed worker is forgotten after a week, one that is not closed never [item 10]", async () => {
  const then = await place.open()
  const closed = await registered(then, 0)
  const left = await registered(then, 0)
  await then.workers.close(closed.worker_id)
  await then.close()
  const later = await place.open("inline", {}, WEEK_MS + 60_000)
  const fresh = await registered(later, 0)
  const known = (await later.workers.list()).map(({ worker_id }) => worker_id)
  expect(new Set(known)).toEqual(new Set([left.worker_id, fresh.worker_id]))
})
