// Hunts commits whose answer is lost: one that took place must not be made twice, one that did not must not be believed,
// and what cannot be known must be called in doubt (R23).

import { JournalError } from "@invokejs/engine"
import type { Journal, WriteResult } from "@invokejs/engine"
import { loadDriver } from "@invokejs/journal-sqlite/internal"
import type { Database, Driver } from "@invokejs/journal-sqlite/internal"
import { admission, admitted, advance, newOperation, written } from "@invokejs/testkit"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { testFolder } from "./sqlite-store.ts"
import type { TestFolder } from "./sqlite-store.ts"

const found = await loadDriver()
if (found === null) throw new Error("this Node has no SQLite")
const driver: Driver = found

let place: TestFolder
beforeEach(() => {
  place = testFolder()
})
afterEach(() => place.dispose())

/** SQLite's result codes: the flush failed; the log could not be written; the disk is full. */
const FLUSH_FAILED = 1034
const WRITE_FAILED = 778
const FULL = 13

interface Trouble {
  /** What happens at the next COMMIT, and how often. */
  commit: { readonly code: number; readonly takesPlace: boolean } | null
  /** Whether the lock can be taken afterwards. */
  lockable: boolean
}

/** A driver whose commits fail as told. Everything else is SQLite itself. */
function troubled(trouble: Trouble): Driver {
  return {
    name: driver.name,
    open: (path, options) => {
      const db = driver.open(path, options)
      return options.readOnly ? db : troubledConnection(db, trouble)
    },
  }
}

function failure(code: number): Error {
  return Object.assign(new Error(`arranged failure ${code}`), { errcode: code })
}

function troubledConnection(db: Database, trouble: Trouble): Database {
  return {
    prepare: (sql) => db.prepare(sql),
    close: () => db.close(),
    exec: (sql) => {
      if (sql === "BEGIN IMMEDIATE" && !trouble.lockable) throw failure(5)
      const { commit } = trouble
      if (sql !== "COMMIT" || commit === null) return db.exec(sql)
      trouble.commit = null
      if (commit.takesPlace) db.exec("COMMIT")
      throw failure(commit.code)
    },
  }
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no error",
    (error: unknown) => (error instanceof JournalError ? error.code : error),
  )

describe("a commit that failed", () => {
  test.each([
    [FLUSH_FAILED, "journal_unavailable"],
    [WRITE_FAILED, "journal_unavailable"],
    [FULL, "journal_full"],
  ])(
    "result %i and not there: %s, nothing was written, and the same write can be made [R23] [CS-9]",
    async (code, told) => {
      const trouble: Trouble = { commit: null, lockable: true }
      const journal = await place.open("inline", { driver: troubled(trouble) })
      const operation = await admitted(journal)
      trouble.commit = { code, takesPlace: false }
      const write = advance(operation, { state: "cancelled" }, journal.now())
      expect(await codeOf(journal.advance(write))).toBe(told)
      expect(await journal.settled(write.event_id, operation.operation_id)).toBeNull()
      expect(await journal.operation(operation.operation_id)).toEqual(operation)
      expect(written(await journal.advance(write)).state).toBe("cancelled")
    },
  )

  test("but took place: it is found under the lock and told as what it is [R23] [CS-9]", async () => {
    const trouble: Trouble = { commit: null, lockable: true }
    const journal = await place.open("inline", { driver: troubled(trouble) })
    const operation = await admitted(journal)
    trouble.commit = { code: FLUSH_FAILED, takesPlace: true }
    const next = written(await journal.advance(advance(operation, { state: "cancelled" }, journal.now())))
    expect(await journal.operation(operation.operation_id)).toEqual(next)
    expect(await journal.events(operation.operation_id, 0, 10)).toHaveLength(2)
  })

  test.each([true, false])(
    "and cannot be looked up (took place: %s): it is in doubt until it can [R23] [CS-9]",
    async (takesPlace) => {
      const trouble: Trouble = { commit: null, lockable: true }
      const journal = await place.open("inline", { driver: troubled(trouble) })
      const operation = await admitted(journal)
      const write = advance(operation, { state: "cancelled" }, journal.now())
      trouble.commit = {
        code: FLUSH_FAILED,
        get takesPlace() {
          trouble.lockable = false
          return takesPlace
        },
      }
      expect(await codeOf(journal.advance(write))).toBe("commit_in_doubt")
      expect(await codeOf(journal.settled(write.event_id, operation.operation_id))).toBe("journal_unavailable")
      trouble.lockable = true
      const settled = await journal.settled(write.event_id, operation.operation_id)
      expect(settled?.state).toBe(takesPlace ? "cancelled" : undefined)
      expect(written(await journal.advance(write)).version).toBe(2)
    },
  )

  test("is not taken for done because a write told again stands in its batch [R23] [R33]", async () => {
    const trouble: Trouble = { commit: null, lockable: true }
    const journal = await place.open("inline", { driver: troubled(trouble) })
    const now = journal.now()
    const told = admission(newOperation(now), now)
    written(await journal.admit(told))
    const next = newOperation(now)
    trouble.commit = { code: FLUSH_FAILED, takesPlace: false }
    const codes = await Promise.all([journal.admit(told), journal.admit(admission(next, now))].map(codeOf))
    expect(codes[1]).toBe("journal_unavailable")
    expect(await journal.operation(next.operation_id)).toBeNull()
  })

  test("is answered only together with a commit that overwrites what the failed one left in the log [R23]", async () => {
    const journal = await place.open()
    const operation = await admitted(journal)
    const before = (await journal.facts())["commits"]
    expect(await journal.settled("nobody's", operation.operation_id)).toBeNull()
    expect((await journal.facts())["commits"]).toBe(Number(before) + 1)
  })

  test("takes its whole batch with it, and no more [R33]", async () => {
    const trouble: Trouble = { commit: null, lockable: true }
    const journal = await place.open("inline", { driver: troubled(trouble) })
    trouble.commit = { code: FULL, takesPlace: false }
    const now = journal.now()
    const operations = Array.from({ length: 5 }, () => newOperation(now))
    const codes = await Promise.all(operations.map((next) => codeOf(journal.admit(admission(next, now)))))
    expect(new Set(codes)).toEqual(new Set(["journal_full"]))
    for (const { operation_id } of operations) expect(await journal.operation(operation_id)).toBeNull()
    await admitted(journal)
  })
})

describe("a writer's thread that ends", () => {
  /** Opens in a thread, and says how to end it. */
  async function openThread(): Promise<{ readonly journal: Journal; readonly end: () => Promise<void> }> {
    const ends: (() => Promise<void>)[] = []
    const journal = await place.open("thread", { onThread: (terminate) => ends.push(terminate) })
    return { journal, end: async () => ends.at(-1)?.() }
  }

  test("leaves what was under way in doubt; the next thread settles it and goes on [R23] [CS-5]", async () => {
    const { journal, end } = await openThread()
    const before = await admitted(journal)
    const now = journal.now()
    const operations = Array.from({ length: 300 }, () => newOperation(now))
    const writes = operations.map((next) => admission(next, now))
    const underWay = Promise.allSettled(writes.map((write) => journal.admit(write)))
    await Promise.resolve()
    await end()
    const results = await underWay
    for (const [index, result] of results.entries())
      await judge(journal, result, writes[index]?.event_id ?? "", operations[index]?.operation_id ?? "")
    expect(await journal.operation(before.operation_id)).toEqual(before)
    await admitted(journal)
    expect(await journal.quarantine()).toBeNull()
  })

  /** Whatever was told, it agrees with what the journal then says. */
  async function judge(
    journal: Journal,
    result: PromiseSettledResult<WriteResult>,
    event_id: string,
    operation_id: string,
  ): Promise<void> {
    const settled = await journal.settled(event_id, operation_id)
    expect(await journal.operation(operation_id)).toEqual(settled)
    if (result.status === "fulfilled") return expect(settled).toEqual(written(result.value))
    expect(result.reason).toMatchObject({ code: "commit_in_doubt" })
  }

  test("while it waits for another process's lock has written nothing [R23] [CS-1]", async () => {
    const { journal, end } = await openThread()
    const other = driver.open(place.path, { readOnly: false })
    other.exec("BEGIN IMMEDIATE")
    const now = journal.now()
    const next = newOperation(now)
    const write = admission(next, now)
    const waiting = codeOf(journal.admit(write))
    await Promise.resolve()
    const ended = end()
    other.exec("ROLLBACK")
    other.close()
    await ended
    const told = await waiting
    const settled = await journal.settled(write.event_id, next.operation_id)
    expect([told, settled]).toEqual(["commit_in_doubt", await journal.operation(next.operation_id)])
  })
})
