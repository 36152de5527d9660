// Hunts a schema that drifts from the protocol, rows that can be edited or lost, and queries that grow with the journal.

import { STATE_NAMES } from "@invokejs/protocol"
import { loadDriver, openJournalWith } from "@invokejs/journal-sqlite/internal"
import type { Database, Driver, Statement } from "@invokejs/journal-sqlite/internal"
import { systemClock, systemIds } from "@invokejs/engine"
import type { Journal } from "@invokejs/engine"
import { admitted, advance, dispatch, registered, written } from "@invokejs/testkit"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { testFolder, withFile } from "./sqlite-store.ts"
import type { TestFolder } from "./sqlite-store.ts"

const found = await loadDriver()
if (found === null) throw new Error("this Node has no SQLite")
const driver: Driver = found

let place: TestFolder
beforeEach(() => {
  place = testFolder()
})
afterEach(() => place.dispose())

test("the states that the schema allows are the states of the protocol, in their order [ST-4]", () => {
  const sql = readFileSync(new URL("../sql/000001-journal.sql", import.meta.url), "utf8")
  const list = /state IN \(([^)]*)\)/.exec(sql)?.[1] ?? ""
  expect([...list.matchAll(/'(\w+)'/g)].map((match) => match[1])).toEqual([...STATE_NAMES])
})

test.each([
  "UPDATE events SET type = 'approved'",
  "UPDATE events SET data = '{}'",
  "UPDATE events SET at = at + 1",
  "DELETE FROM events",
  "INSERT OR REPLACE INTO events SELECT n, operation_id, tenant, seq, at, 'approved', from_state, to_state, actor, data, data_digest, prev_hash, hash FROM events",
  "DELETE FROM operations",
  "DELETE FROM chain_keys",
])("%s is refused by the schema [AU-2] [ID-9]", async (sql) => {
  const journal = await place.open()
  await admitted(journal)
  await journal.close()
  withFile(driver, place.path, (db) => {
    db.exec("PRAGMA recursive_triggers = ON")
    expect(() => db.exec(sql)).toThrow(/append-only|kept/)
  })
})

test("the data of an event may go, and nothing else of it [R35]", async () => {
  const journal = await place.open()
  await admitted(journal)
  await journal.close()
  withFile(driver, place.path, (db) => {
    db.exec("UPDATE events SET data = NULL")
    expect(() => db.exec("UPDATE events SET data = NULL, actor = 'x'")).toThrow(/append-only/)
  })
})

test("the settings that durability rests on are set and read back, on a file of any other setting [ST-1]", async () => {
  const settings: Record<string, unknown> = {}
  const watching: Driver = {
    name: driver.name,
    open: (path, options) => {
      const db = driver.open(path, options)
      const exec = (sql: string): void => {
        db.exec(sql)
        if (sql === "BEGIN IMMEDIATE") for (const name of NAMES) settings[name] = Object.values(read(db, name))[0]
      }
      return { prepare: (sql) => db.prepare(sql), close: () => db.close(), exec }
    },
  }
  const journal = await openJournalWith(
    { path: place.path, mode: "inline", clock: systemClock, ids: systemIds },
    { driver: watching },
  )
  await admitted(journal)
  await journal.close()
  expect(settings).toEqual({
    journal_mode: "wal",
    synchronous: 2,
    locking_mode: "normal",
    trusted_schema: 0,
    busy_timeout: 5_000,
    wal_autocheckpoint: 0,
  })
})

const NAMES = ["journal_mode", "synchronous", "locking_mode", "trusted_schema", "busy_timeout", "wal_autocheckpoint"]

function read(db: Database, name: string): Record<string, unknown> {
  return db.prepare(`PRAGMA ${name}`).get() as Record<string, unknown>
}

test("a journal whose settings do not hold is not opened [ST-1]", async () => {
  const stubborn: Driver = {
    name: driver.name,
    open: (path, options) => {
      const db = driver.open(path, options)
      const exec = (sql: string): void => db.exec(sql.replace("synchronous = FULL", "synchronous = NORMAL"))
      return { prepare: (sql) => db.prepare(sql), close: () => db.close(), exec }
    },
  }
  const options = { path: place.path, mode: "inline", clock: systemClock, ids: systemIds } as const
  await expect(openJournalWith(options, { driver: stubborn })).rejects.toThrow("synchronous is 1")
})

test("processes that open a new journal at the same moment make one journal [CS-1] [CS-8] [R24]", async () => {
  const program = fileURLToPath(new URL("./children/make-journal.mjs", import.meta.url))
  const children = Array.from({ length: 5 }, () =>
    spawn(process.execPath, [program, place.path, "3"], { stdio: "pipe" }),
  )
  const errors = await Promise.all(
    children.map(
      (child) =>
        new Promise<string>((resolve) => {
          let text = ""
          child.stderr.on("data", (part: Buffer) => (text += part.toString()))
          child.once("close", (status) => resolve(status === 0 ? "" : text))
        }),
    ),
  )
  expect(errors).toEqual(["", "", "", "", ""])
  const journal = await place.open()
  expect((await journal.facts())["operations"]).toBe(15)
  expect(await journal.quarantine()).toBeNull()
})

test("no query of the journal reads a whole table, however long the journal is [ST-7]", async () => {
  const asked = new Set<string>()
  const watching: Driver = {
    name: driver.name,
    open: (path, options) => {
      const db = driver.open(path, options)
      const prepare = (sql: string): Statement => {
        asked.add(sql)
        return db.prepare(sql)
      }
      return { prepare, close: () => db.close(), exec: (sql) => db.exec(sql) }
    },
  }
  const journal = await openJournalWith(
    { path: place.path, mode: "inline", clock: systemClock, ids: systemIds },
    { driver: watching },
  )
  await exercise(journal)
  await journal.close()
  const plans = withFile(driver, place.path, (db) =>
    [...asked]
      .filter((sql) => /^(SELECT|UPDATE|DELETE)/.test(sql))
      .map((sql) => `${sql} → ${JSON.stringify(db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all())}`),
  )
  expect(plans.length).toBeGreaterThan(30)
  const scans = plans.filter((plan) =>
    /SCAN (operations|events|chain_keys|slots|objects|writes|sets|operation_fields)(?! USING (COVERING )?INDEX)/.test(
      plan,
    ),
  )
  expect(scans).toEqual([])
  // The revisions of one key are few; everything else comes in the order of an index.
  const sorted = plans.filter(
    (plan) => plan.includes("USE TEMP B-TREE FOR ORDER BY") && plan.includes("FROM operations"),
  )
  expect(sorted.filter((plan) => !plan.includes("chain_keys"))).toEqual([])
})

/** Calls everything that asks the database something. */
async function exercise(journal: Journal): Promise<void> {
  const lease = await registered(journal, journal.now() + 60_000)
  const operation = await admitted(journal, { run_id: "r" })
  const sent = written(await journal.dispatch(dispatch(operation, lease, journal.now())))
  written(await journal.advance(advance(sent, { state: "succeeded" }, journal.now())))
  journal.noteDuplicate(operation.operation_id, "caller")
  const { tenant, key, operation_id } = operation
  await journal.view({ tenant, keys: [key], resource: "r", slot: { tenant, namespace: "n", intent_digest: "d" } })
  await journal.due({ now: journal.now(), limit: 10, tools: [operation.tool] })
  const page = { limit: 10, cursor: operation_id }
  for (const filter of [
    {},
    { tenant },
    { states: ["unknown", "ready"] as const },
    { tenant, states: ["succeeded"] as const },
    { key },
    { run_id: "r" },
    { where: { field: "invoice", value: "1" } },
    { contradicted: true },
  ]) {
    await journal.operations(filter, page)
  }
  await journal.heldBy(operation_id)
  await journal.rivals({ ...operation, expectation: { match: {}, effect: {}, invariant: {} } })
  await journal.confirmations(tenant, [{ object_id: "o", account: "a", kind: "k" }], operation_id)
  await journal.events(operation_id, 0, 10)
  await journal.stream(null, 10)
  await journal.incidents({ operation_id, open: true })
  await journal.settled("e", operation_id)
  await journal.purge({ before: journal.now() + 1, limit: 10 })
  await journal.workers.renew(lease, journal.now())
  await journal.workers.close(lease.worker_id)
  await journal.facts()
}
