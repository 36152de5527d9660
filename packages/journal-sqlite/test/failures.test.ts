// Hunts effects that happen although the journal cannot keep them: every failure of the place, the file or the schema is
// named before anything is acknowledged, and a journal that can go on again does.

import { JournalError } from "@invokejs/engine"
import { loadDriver } from "@invokejs/journal-sqlite/internal"
import type { Database, Driver } from "@invokejs/journal-sqlite/internal"
import { admitted, advance } from "@invokejs/testkit"
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
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

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no error",
    (error: unknown) => (error instanceof JournalError ? error.code : error),
  )

/** A driver whose connections are changed once they are open. */
function driverThat(change: (db: Database) => void): Driver {
  return {
    name: driver.name,
    open: (path, options) => {
      const db = driver.open(path, options)
      change(db)
      return db
    },
  }
}

/** Made by another process: this one must hold none of its files. */
function makeJournal(path: string, operations: number): void {
  const program = fileURLToPath(new URL("./children/make-journal.mjs", import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [program, path, `${operations}`], { encoding: "utf8" })
  if (status !== 0) throw new Error(stderr)
}

describe("the place", () => {
  test.each([
    ["a file system of the network", 0x6969, "journal_unsafe_location"],
    ["a file system behind FUSE", 0x65735546, "journal_unsafe_location"],
    ["a Windows share", 0xff534d42, "journal_unsafe_location"],
    ["a Windows share whose number comes signed", 0xff534d42 - 2 ** 32, "journal_unsafe_location"],
    ["an ordinary file system", 0xef53, "no error"],
  ])("%s: %s → %s [CS-1]", async (_name, type, code) => {
    expect(await codeOf(place.open("inline", { fileSystemType: () => type }))).toBe(code)
  })

  test("a file system that dies with its container is used with a warning [CS-1]", async () => {
    const journal = await place.open("inline", { fileSystemType: () => 0x794c7630 })
    expect((await journal.facts())["warnings"]).toEqual([expect.stringContaining("overlay")])
    await journal.close()
    const local = await place.open("inline", { fileSystemType: () => 0xef53 })
    expect((await local.facts())["warnings"]).toEqual([])
  })

  test("a folder that is not there is named, and nothing is made", async () => {
    rmSync(place.folder, { recursive: true })
    await expect(place.open()).rejects.toMatchObject({
      code: "journal_unavailable",
      message: expect.stringContaining(place.folder),
    })
  })

  test("a path that is a folder is refused in both modes", async () => {
    mkdirSync(place.path)
    expect(await codeOf(place.open("inline"))).toBe("journal_unavailable")
    expect(await codeOf(place.open("thread"))).toBe("journal_unavailable")
  })

  test("the file is its owner's alone", async () => {
    await place.open()
    for (const file of [place.path, `${place.path}-wal`, `${place.path}-incarnation`]) {
      expect(statSync(file).mode & 0o077).toBe(0)
    }
  })
})

describe("the file", () => {
  test("random bytes are not opened as a journal, and stay as they were", async () => {
    const bytes = Buffer.alloc(64 * 1024, "no journal was ever written here. ")
    writeFileSync(place.path, bytes)
    expect(await codeOf(place.open("inline"))).toBe("journal_corrupt")
    expect(await codeOf(place.open("thread"))).toBe("journal_corrupt")
    expect(readFileSync(place.path).equals(bytes)).toBe(true)
  })

  test("a SQLite file of another program is not opened as a journal, and gets no table", async () => {
    withFile(driver, place.path, (db) => db.exec("CREATE TABLE recipes (name TEXT)"))
    expect(await codeOf(place.open())).toBe("journal_corrupt")
    withFile(driver, place.path, (db) => {
      expect(db.prepare("SELECT name FROM sqlite_schema").all()).toHaveLength(1)
    })
  })

  test("a journal that was cut off is not opened", async () => {
    makeJournal(place.path, 50)
    truncateSync(place.path, Math.floor(statSync(place.path).size / 2 / 4096) * 4096)
    expect(await codeOf(place.open())).toBe("journal_corrupt")
  })

  test("a damaged page is a clear error where it is read, and no invented answer", async () => {
    const journal = await place.open()
    const operation = await admitted(journal, { params: { text: "x".repeat(200_000) } })
    await journal.close()
    const bytes = readFileSync(place.path)
    for (let page = 5; page < bytes.length / 4096; page += 1) bytes.fill(0xa5, page * 4096, page * 4096 + 4096)
    writeFileSync(place.path, bytes)
    const codes = await codeOf(place.open().then((damaged) => damaged.operation(operation.operation_id)))
    expect(codes).toBe("journal_corrupt")
  })
})

describe("the schema", () => {
  const addMigration = (breaking: number): void =>
    withFile(driver, place.path, (db) => db.exec(`INSERT INTO migrations VALUES (2, 'later', 'c', ${breaking}, 0)`))

  test("a newer schema that shuts older programs out is refused before anything is written [CS-8]", async () => {
    await (await place.open()).close()
    addMigration(1)
    // What the log holds goes into the file now: a handle that a closed journal has left would move it at any later moment.
    withFile(driver, place.path, (db) => db.exec("PRAGMA wal_checkpoint(TRUNCATE)"))
    const before = readFileSync(place.path)
    expect(await codeOf(place.open("inline"))).toBe("journal_newer")
    expect(await codeOf(place.open("thread"))).toBe("journal_newer")
    expect(readFileSync(place.path).equals(before)).toBe(true)
  })

  test("a newer schema that does not shut older programs out is used [CS-8]", async () => {
    await (await place.open()).close()
    addMigration(0)
    const journal = await place.open()
    await admitted(journal)
    expect(journal.identity.schema_version).toBe(2)
  })

  test("a migration that was edited after it was applied is refused [CS-8]", async () => {
    await (await place.open()).close()
    withFile(driver, place.path, (db) => db.exec("UPDATE migrations SET checksum = 'another'"))
    expect(await codeOf(place.open())).toBe("journal_corrupt")
  })
})

describe.each(["inline", "thread"] as const)("a journal under which the file changes (%s)", (mode) => {
  test.each([
    ["deleted", (path: string) => rmSync(path)],
    ["moved away", (path: string) => renameSync(path, `${path}.old`)],
    [
      "replaced by a copy",
      (path: string) => {
        writeFileSync(`${path}.copy`, readFileSync(`${path}-incarnation`))
        renameSync(`${path}.copy`, path)
      },
    ],
    ["parted from its log", (path: string) => rmSync(`${path}-wal`)],
  ])("%s: neither writes nor reads go on [R25] [CS-1]", async (_name, harm) => {
    const journal = await place.open(mode)
    const operation = await admitted(journal)
    harm(place.path)
    expect(await codeOf(journal.advance(advance(operation, { state: "cancelled" }, journal.now())))).toBe(
      "journal_replaced",
    )
    expect(await codeOf(journal.operation(operation.operation_id))).toBe("journal_replaced")
    expect(await codeOf(journal.settled("e", operation.operation_id))).toBe("journal_replaced")
  })
})

/** Mounts a small file system in memory at the folder, where the machine lets us. */
function mountSmall(folder: string, options: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]).status === 0
}

const mayMount = ((): boolean => {
  const probe = testFolder()
  const mounted = mountSmall(probe.folder, "size=64k")
  if (mounted) spawnSync("umount", [probe.folder])
  void probe.dispose()
  return mounted
})()

describe("a disk that is full", () => {
  test("a limit on the file's pages is told as full, and the journal reads on", async () => {
    const small = driverThat((db) => db.exec("PRAGMA max_page_count = 90"))
    const journal = await place.open("inline", { driver: small })
    const kept: string[] = []
    let code: unknown = "no error"
    while (code === "no error") {
      code = await codeOf(
        admitted(journal, { params: { text: "x".repeat(20_000) } }).then((one) => kept.push(one.operation_id)),
      )
    }
    expect(code).toBe("journal_full")
    for (const id of kept) expect(await journal.operation(id)).not.toBeNull()
  })

  test.skipIf(!mayMount).each(["inline", "thread"] as const)(
    "a full file system is told as full, and writing goes on once there is room (%s)",
    async (mode) => {
      const folder = join(place.folder, "small")
      mkdirSync(folder)
      expect(mountSmall(folder, "size=3m")).toBe(true)
      try {
        const small = testFolder(folder)
        const journal = await small.open(mode)
        writeFileSync(join(folder, "ballast"), Buffer.alloc(1_000_000))
        const kept: string[] = []
        let code: unknown = "no error"
        while (code === "no error") {
          code = await codeOf(
            admitted(journal, { params: { text: "x".repeat(20_000) } }).then((one) => kept.push(one.operation_id)),
          )
        }
        expect(code).toBe("journal_full")
        rmSync(join(folder, "ballast"))
        kept.push((await admitted(journal)).operation_id)
        for (const id of kept) expect(await journal.operation(id)).not.toBeNull()
        await journal.close()
        const again = await small.open(mode)
        for (const id of kept) expect(await again.operation(id)).not.toBeNull()
        expect(await again.quarantine()).toBeNull()
        await again.close()
      } finally {
        spawnSync("umount", ["-l", folder])
      }
    },
  )

  test.skipIf(!mayMount).each(["inline", "thread"] as const)(
    "a file system that may not be written is told as such, with or without a journal on it (%s)",
    async (mode) => {
      const folder = join(place.folder, "small")
      mkdirSync(folder)
      expect(mountSmall(folder, "size=3m")).toBe(true)
      try {
        const small = testFolder(folder)
        makeJournal(small.path, 1)
        spawnSync("mount", ["-o", "remount,ro", folder])
        expect(await codeOf(small.open(mode))).toBe("journal_read_only")
        spawnSync("mount", ["-o", "remount,rw", folder])
        rmSync(small.path)
        rmSync(`${small.path}-incarnation`)
        spawnSync("mount", ["-o", "remount,ro", folder])
        expect(await codeOf(small.open(mode))).toBe("journal_read_only")
      } finally {
        spawnSync("umount", ["-l", folder])
      }
    },
  )
})
