// Hunts a worker that is called gone while its process may still send, and one that can never be called gone (item 10).

import { admitted, dispatch, registered, written } from "@invokejs/testkit"
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from "node:fs"
import { machineOf, thisMachine } from "@invokejs/journal-sqlite/internal"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { testFolder } from "./sqlite-store.ts"
import type { TestFolder } from "./sqlite-store.ts"

let place: TestFolder
const children: ChildProcess[] = []
beforeEach(() => {
  place = testFolder()
})
afterEach(async () => {
  for (const child of children.splice(0)) await ended(child)
  await place.dispose()
})

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = new Promise((resolve) => child.once("close", resolve))
  child.kill("SIGKILL")
  await closed
}

/** A process that holds a worker of the journal; answers once it does. */
async function holder(): Promise<{ readonly worker_id: string; readonly end: () => Promise<void> }> {
  const child = spawn(process.execPath, [
    fileURLToPath(new URL("./children/hold-worker.mjs", import.meta.url)),
    place.path,
  ])
  children.push(child)
  const worker_id = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (text: Buffer) => resolve(text.toString().trim()))
    child.once("close", () => reject(new Error("the holder ended")))
  })
  return { worker_id, end: () => ended(child) }
}

const locksIn = (path: string): string[] => (existsSync(`${path}-workers`) ? readdirSync(`${path}-workers`) : [])

test("a process does not call its own worker gone, also asked through another journal, and keeps its lock [item 10]", async () => {
  const journal = await place.open()
  const other = await place.open("thread")
  const { worker_id } = await registered(journal, 0)
  for (const asked of [journal, other, journal]) expect(await asked.workers.gone(worker_id)).toBeNull()
  expect(await probeFromOutside(worker_id)).toBe("alive")
})

test("closing a journal does not free the lock of a worker whose attempts may still run [item 10] [CS-6]", async () => {
  const journal = await place.open()
  const lease = await registered(journal, 0)
  const sent = await journal.dispatch(
    dispatch(await admitted(journal), { ...lease, until: journal.now() + 60_000 }, journal.now()),
  )
  written(sent)
  await journal.workers.close(lease.worker_id)
  await journal.close()
  expect(await probeFromOutside(lease.worker_id)).toBe("alive")
})

test("a worker that was closed leaves no lock file, and is known to be gone [CS-6]", async () => {
  const journal = await place.open()
  const { worker_id } = await registered(journal, 0)
  expect(locksIn(place.path)).toHaveLength(1)
  await journal.workers.close(worker_id)
  expect(locksIn(place.path)).toEqual([])
  expect(await journal.workers.gone(worker_id)).toBe("closed")
})

test.each([
  ["deleted", (lock: string) => rmSync(lock)],
  ["moved away", (lock: string) => renameSync(lock, `${lock}.old`)],
  [
    "replaced by a copy",
    (lock: string) => {
      copyFileSync(lock, `${lock}.copy`)
      renameSync(`${lock}.copy`, lock)
    },
  ],
])("a lock file that was %s proves nothing, alive or dead [item 10]", async (_name, harm) => {
  const journal = await place.open()
  const { worker_id, end } = await holder()
  harm(join(`${place.path}-workers`, locksIn(place.path)[0] ?? ""))
  expect(await journal.workers.gone(worker_id)).toBeNull()
  await end()
  expect(await journal.workers.gone(worker_id)).toBeNull()
})

test("asking about a living worker, often, does not free its lock [item 10] [R25]", async () => {
  const journal = await place.open()
  const { worker_id, end } = await holder()
  for (let asked = 0; asked < 20; asked += 1) expect(await journal.workers.gone(worker_id)).toBeNull()
  await end()
  expect(await journal.workers.gone(worker_id)).toMatch(/^lock_free: /)
})

test("a worker that is marked as gone leaves no lock file; one that lives keeps its own, whatever was said of it [item 10]", async () => {
  const journal = await place.open()
  const dead = await holder()
  const alive = await holder()
  await dead.end()
  await journal.workers.markGone(dead.worker_id, (await journal.workers.gone(dead.worker_id)) ?? "")
  await journal.workers.markGone(alive.worker_id, "operator: I pulled its plug, I think")
  expect(locksIn(place.path)).toEqual([`${alive.worker_id}.lock`])
  expect(await journal.workers.gone(dead.worker_id)).toMatch(/^lock_free: /)
})

test("another machine's lock proves nothing here; this machine started anew proves its former workers gone [item 10]", async () => {
  const { worker_id, end } = await holder()
  const elsewhere = await place.open("inline", { machine: { host: "another host", boot_id: "another boot" } })
  expect(await elsewhere.workers.gone(worker_id)).toBeNull()
  const restarted = await place.open("inline", { machine: { host: thisMachine().host, boot_id: "a later boot" } })
  expect(await restarted.workers.gone(worker_id)).toBeNull()
  await end()
  expect(await elsewhere.workers.gone(worker_id)).toBeNull()
  // Where this runs in a container nothing tells one machine from another, and a new boot proves nothing.
  const proof = await restarted.workers.gone(worker_id)
  if (thisMachine().host === "") expect(proof).toBeNull()
  else expect(proof).toMatch(/^rebooted: /)
  const unknown = await place.open("inline", { machine: { host: thisMachine().host, boot_id: "" } })
  expect(await unknown.workers.gone(worker_id)).toBeNull()
})

test("a container, or a machine without an id, is not told from others by its name [item 10]", () => {
  expect(machineOf({ id: "4f1c", contained: true })).toBe("")
  expect(machineOf({ id: "", contained: false })).toBe("")
  expect(machineOf({ id: "4f1c", contained: false })).toMatch(/^[0-9a-f]{32}$/)
})

/** Asks from another process, which holds none of this one's locks. */
async function probeFromOutside(worker_id: string): Promise<string> {
  const program = fileURLToPath(new URL("./children/ask-gone.mjs", import.meta.url))
  const child = spawn(process.execPath, [program, place.path, worker_id])
  children.push(child)
  let text = ""
  child.stdout.on("data", (part: Buffer) => (text += part.toString()))
  await new Promise((resolve) => child.once("close", resolve))
  return text.trim()
}
