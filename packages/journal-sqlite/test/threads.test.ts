// Hunts a journal that stalls its program: an event loop that waits for a disk or a lock, a process that cannot end
// because a journal is open, or one that ends before its writes are kept.

import { JournalError, systemClock } from "@invokejs/engine"
import { loadDriver } from "@invokejs/journal-sqlite/internal"
import { admission, admitted, newOperation } from "@invokejs/testkit"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { testFolder } from "./sqlite-store.ts"
import type { TestFolder } from "./sqlite-store.ts"

let place: TestFolder
beforeEach(() => {
  place = testFolder()
})
afterEach(() => place.dispose())

const turn = (ms: number): Promise<void> =>
  new Promise((resolve) => systemClock.after(ms, resolve, { keep_alive: true }))

test("the event loop goes on while a commit in the thread waits for the lock of another process", async () => {
  const driver = await loadDriver()
  const journal = await place.open("thread")
  const other = driver?.open(place.path, { readOnly: false })
  other?.exec("BEGIN IMMEDIATE")
  let settled = false
  const write = admitted(journal).finally(() => (settled = true))
  for (let turns = 0; turns < 5; turns += 1) await turn(10)
  expect(settled).toBe(false)
  other?.exec("ROLLBACK")
  other?.close()
  await write
})

test("a lock that is never freed is told as unavailable, with nothing written", async () => {
  const driver = await loadDriver()
  const journal = await place.open("thread")
  const other = driver?.open(place.path, { readOnly: false })
  other?.exec("BEGIN IMMEDIATE")
  const now = journal.now()
  const next = newOperation(now)
  await expect(journal.admit(admission(next, now))).rejects.toMatchObject({ code: "journal_unavailable" })
  other?.exec("ROLLBACK")
  other?.close()
  expect(await journal.operation(next.operation_id)).toBeNull()
})

test("more than the queue holds is refused at once as overloaded, and the rest is kept", async () => {
  const journal = await place.open("thread")
  const now = journal.now()
  const operations = Array.from({ length: 9_000 }, () => newOperation(now))
  const results = await Promise.allSettled(operations.map((next) => journal.admit(admission(next, now))))
  const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []))
  expect(refused.length).toBeGreaterThan(0)
  for (const error of refused) {
    expect(error instanceof JournalError && error.code).toBe("overloaded")
  }
  const kept = results.filter((result) => result.status === "fulfilled" && result.value.ok).length
  const late = results.filter(
    (result) => result.status === "fulfilled" && !result.value.ok && result.value.conflict.on === "clock",
  ).length
  expect(kept + late + refused.length).toBe(operations.length)
  expect((await journal.facts())["operations"]).toBe(kept)
})

interface Ended {
  readonly status: number | null
  readonly output: string
}

function run(script: string): Promise<Ended> {
  const program = fileURLToPath(new URL("./children/leave-open.mjs", import.meta.url))
  const child = spawn(process.execPath, [program, place.path, script], { stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text))
  return new Promise((resolve) => child.once("close", (status) => resolve({ status, output })))
}

test.each(["thread", "inline"])("an open journal keeps no process alive (%s)", async (mode) => {
  expect(await run(`idle_${mode}`)).toEqual({ status: 0, output: "idle\n" })
})

test.each(["thread", "inline"])("writes under way keep the process alive until they are kept (%s)", async (mode) => {
  const { status, output } = await run(`writing_${mode}`)
  expect([status, output]).toEqual([0, "kept 200\n"])
  const journal = await place.open()
  expect((await journal.facts())["operations"]).toBe(200)
})

test("a backup under way keeps the process alive until it is whole", async () => {
  expect(await run("backup_thread")).toEqual({ status: 0, output: "copied\n" })
})
