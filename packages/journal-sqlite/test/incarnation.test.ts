// Hunts a journal that has gone back in time, or is a copy of another one, and dispatches all the same (R24).

import { systemClock, systemIds } from "@invokejs/engine"
import type { Journal } from "@invokejs/engine"
import { loadDriver, readSibling, siblingPath } from "@invokejs/journal-sqlite/internal"
import type { Driver, Sibling } from "@invokejs/journal-sqlite/internal"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { admitted, dispatch, registered } from "@invokejs/testkit"
import { spawn, spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
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

/** Made by another process, so that this one holds none of its files. */
function made(path: string, operations: number): void {
  const program = fileURLToPath(new URL("./children/make-journal.mjs", import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [program, path, `${operations}`], { encoding: "utf8" })
  if (status !== 0) throw new Error(stderr)
}

async function reasonAt(path: string): Promise<string | null> {
  const journal = await openSqliteJournal({ path, mode: "inline", clock: systemClock, ids: systemIds })
  try {
    return (await journal.quarantine())?.reason ?? null
  } finally {
    await journal.close()
  }
}

async function mayDispatch(journal: Journal): Promise<boolean> {
  const lease = await registered(journal, journal.now() + 60_000)
  const operation = await admitted(journal)
  return (await journal.dispatch(dispatch(operation, lease, journal.now()))).ok
}

function sibling(path: string): Sibling {
  const read = readSibling(path)
  if (typeof read === "string") throw new Error(`the sibling is ${read}`)
  return read
}

describe("a journal that may dispatch", () => {
  test("is made with its sibling at the first open, and opened again and again [R24]", async () => {
    const journal = await place.open()
    const { incarnation, journal_id } = journal.identity
    expect(sibling(place.path)).toMatchObject({ state: "live", incarnation, journal_id, commits: 0 })
    expect(await mayDispatch(journal)).toBe(true)
    await journal.close()
    for (let round = 0; round < 3; round += 1) expect(await reasonAt(place.path)).toBeNull()
  })

  test("is one whose process crashed between its first two steps [R24]", async () => {
    const journal = await place.open()
    await journal.close()
    writeFileSync(siblingPath(place.path), JSON.stringify({ ...sibling(place.path), state: "new", inode: "0" }))
    expect(await reasonAt(place.path)).toBeNull()
    expect(sibling(place.path).state).toBe("live")
  })

  test("is one whose process crashed before the file had its first row [R24]", async () => {
    const journal = await place.open()
    const { name } = journal.identity
    await journal.close()
    writeFileSync(siblingPath(place.path), JSON.stringify({ ...sibling(place.path), state: "new" }))
    for (const end of ["", "-wal", "-shm"]) rmSync(`${place.path}${end}`, { force: true })
    const again = await place.open()
    expect(await again.quarantine()).toBeNull()
    expect(again.identity.name).toBe(name)
  })

  test("is one whose sibling lags behind, as after any crash [R24] [CS-5]", async () => {
    made(place.path, 3)
    const lagging = sibling(place.path)
    made(place.path, 3)
    expect(sibling(place.path).commits).toBeGreaterThan(lagging.commits)
    writeFileSync(siblingPath(place.path), JSON.stringify(lagging))
    expect(await reasonAt(place.path)).toBeNull()
  })

  test("keeps its sibling from ever being ahead of it, wherever its process is killed [R24] [CS-5]", async () => {
    for (let round = 0; round < 3; round += 1) {
      const child = spawn(process.execPath, [
        fileURLToPath(new URL("./children/write-and-seal.mjs", import.meta.url)),
        place.path,
      ])
      await new Promise<void>((resolve) => {
        let sealed = 0
        child.stdout.on("data", (text: Buffer) => {
          sealed += text.toString().length
          if (sealed > 20 * (round + 1)) resolve()
        })
      })
      child.kill("SIGKILL")
      await new Promise((resolve) => child.once("close", resolve))
      const { commits } = sibling(place.path)
      const stored = withFile(driver, place.path, (db) => db.prepare("SELECT commits FROM meta").get()) as {
        commits: number
      }
      expect(stored.commits).toBeGreaterThanOrEqual(commits)
      expect(await reasonAt(place.path)).toBeNull()
    }
  })
})

describe("a journal that may have forgotten", () => {
  test.each<[string, string, (from: string, to: string) => void]>([
    ["a copy of the file alone", "sibling_missing", (from, to) => cpSync(from, to)],
    [
      "a copy of file and sibling",
      "file_replaced",
      (from, to) => {
        cpSync(from, to)
        cpSync(siblingPath(from), siblingPath(to))
      },
    ],
    [
      "a sibling of another journal",
      "other_incarnation",
      (from, to) => {
        made(to, 1)
        cpSync(siblingPath(from), siblingPath(to))
      },
    ],
    [
      "a sibling that cannot be read",
      "sibling_unreadable",
      (from, to) => {
        cpSync(from, to)
        writeFileSync(siblingPath(to), "{")
      },
    ],
  ])("%s: %s [R24] [CS-9]", async (_name, reason, copy) => {
    made(place.path, 2)
    const folder = join(place.folder, "elsewhere")
    mkdirSync(folder)
    const to = join(folder, "invoke.db")
    copy(place.path, to)
    expect(await reasonAt(to)).toBe(reason)
    expect(await reasonAt(to)).toBe(reason)
    expect(await reasonAt(place.path)).toBeNull()
  })

  test("an older state in the very same file went back [R24] [CS-9]", async () => {
    made(place.path, 2)
    const old = readFileSync(place.path)
    made(place.path, 2)
    writeFileSync(place.path, old)
    expect(await reasonAt(place.path)).toBe("went_back")
  })

  test("another history of the same length is no continuation [R24]", async () => {
    made(place.path, 2)
    withFile(driver, place.path, (db) => db.exec("UPDATE writes SET event_id = event_id || '-of-another-history'"))
    expect(await reasonAt(place.path)).toBe("other_history")
  })

  test("a file that is gone while its sibling stays: the new one keeps the name, so it presents the same provider keys [R24] [item 18]", async () => {
    made(place.path, 2)
    const { incarnation } = sibling(place.path)
    const name = "billing"
    writeFileSync(siblingPath(place.path), JSON.stringify({ ...sibling(place.path), name }))
    for (const end of ["", "-wal", "-shm"]) rmSync(`${place.path}${end}`, { force: true })
    const journal = await place.open()
    expect((await journal.quarantine())?.reason).toBe("journal_lost")
    expect(journal.identity.name).toBe(name)
    expect(journal.identity.incarnation).not.toBe(incarnation)
    expect(await mayDispatch(journal)).toBe(false)
  })

  test("a backup that is put in place of the journal, or opened anywhere [R24] [CS-8] [CS-9]", async () => {
    const copy = join(place.folder, "copy.db")
    const journal = await place.open()
    const operation = await admitted(journal)
    const { location, bytes } = await journal.backup(copy)
    expect([location, bytes]).toEqual([copy, readFileSync(copy).length])
    const forgotten = await admitted(journal)
    expect(await reasonAt(copy)).toBe("backup")
    const restored = await openSqliteJournal({ path: copy, mode: "inline", clock: systemClock, ids: systemIds })
    expect(await restored.operation(operation.operation_id)).toEqual(operation)
    expect(await restored.operation(forgotten.operation_id)).toBeNull()
    expect(await mayDispatch(restored)).toBe(false)
    await restored.liftQuarantine("operator:ann", "one operation after 14:00")
    expect(await mayDispatch(restored)).toBe(true)
    await restored.close()
    expect(await reasonAt(copy)).toBeNull()
    expect(await journal.quarantine()).toBeNull()
  })

  test("a backup is not written over anything [CS-8]", async () => {
    const journal = await place.open()
    const target = join(place.folder, "taken")
    writeFileSync(target, "somebody's")
    await expect(journal.backup(target)).rejects.toMatchObject({
      name: "JournalError",
      message: expect.stringContaining("exists") as string,
    })
    expect(readFileSync(target, "utf8")).toBe("somebody's")
    await expect(journal.backup(join(place.folder, "no such folder", "copy.db"))).rejects.toMatchObject({
      name: "JournalError",
    })
    expect(existsSync(join(place.folder, "no such folder"))).toBe(false)
    await admitted(journal)
  })
})

test("a journal keeps the name of its first open, and is not opened under another [item 18]", async () => {
  const open = (name?: string) =>
    openSqliteJournal({
      path: place.path,
      mode: "inline",
      clock: systemClock,
      ids: systemIds,
      ...(name ? { name } : {}),
    })
  const first = await open("billing")
  expect(first.identity.name).toBe("billing")
  await first.close()
  await expect(open("payroll")).rejects.toMatchObject({ code: "journal_replaced" })
  const again = await open()
  expect(again.identity.name).toBe("billing")
  await again.close()
})
