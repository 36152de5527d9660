// Hunts: a backup put back after a crash, from which finished work runs again.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { Lane } from "./lane.mjs"
import type { Told } from "./oracle.mjs"
import { WorkerProcess } from "./worker-process.mjs"

const PROGRAM = new URL("./worker-program.mjs", import.meta.url)
const LONG = 120_000

test(
  "an action that the restored file forgot is not done again when it is called again [R24] [CS-9] [CS-5]",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "invoke-crash-"))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const lane = await Lane.start(directory)
    onTestFinished(() => lane.close())
    const side = await lane.side("irreversible")
    onTestFinished(() => side.proxy.close())
    const journal = join(directory, "invoke.db")
    const copy = join(directory, "last-night.db")
    const order = {
      ...{ journal, mode: "inline", speed: 4, base_ms: Date.now(), safety: "irreversible", transport: "invoke" },
      ...{ url: side.proxy.url, markers: ["restored"], wait: "5s", seam: null, commit_seam: null, end_writer: false },
    }
    const start = (act: "call" | "recover") => {
      const worker = WorkerProcess.start(PROGRAM, { ...order, act })
      onTestFinished(() => worker.kill())
      return worker
    }

    const maker = start("recover")
    await maker.says("found")
    maker.tell({ go: "end" })
    await maker.ended()
    copyFileSync(journal, copy)
    // The file beside it says how far the journal had come. It lags by a second: what is put back within that is not seen.
    const sealed = () => readFileSync(`${journal}-incarnation`, "utf8")
    const last = sealed()

    const caller = start("call")
    expect(await caller.says("told")).toMatchObject([{ status: "succeeded", ok: true }])
    expect(await side.effects("restored")).toBe(1)
    while (sealed() === last) await new Promise((resolve) => setTimeout(resolve, 20))
    await caller.kill()

    for (const log of ["-wal", "-shm"]) rmSync(journal + log, { force: true })
    copyFileSync(copy, journal)
    const next = start("recover")
    expect(await next.says("found")).toEqual([])
    for (const go of ["on", "on"]) next.tell({ go })
    const [again] = (await next.says("repeated")) as Told[]
    expect(again).toMatchObject({ ok: false, settled: false })
    expect(await side.effects("restored")).toBe(1)
  },
  LONG,
)
