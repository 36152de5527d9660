// Hunts: a joiner that dies with the call it joined, and one that is promoted to do the action again.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startProvider } from "@invokejs/testkit"
import { expect, onTestFinished, test } from "vitest"
import { WorkerProcess } from "../crash/worker-process.mjs"
import { API_KEY } from "./race-tools.mjs"

const PROGRAM = new URL("./racer-program.mjs", import.meta.url)
const LONG = 120_000

async function stage(racers: number) {
  const directory = mkdtempSync(join(tmpdir(), "invoke-race-"))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const settings = { api_key: API_KEY, accept_status: 200 } as const
  const provider = await startProvider("mail", { directory: join(directory, "provider"), settings })
  onTestFinished(() => provider.kill())
  const workers = Array.from({ length: racers }, (_, index) => {
    const mode = index % 2 === 0 ? "inline" : "thread"
    const journal = join(directory, "invoke.db")
    return WorkerProcess.start(PROGRAM, { journal, url: provider.url, racer: `racer-${index}`, mode, guarded: true })
  })
  onTestFinished(async () => {
    for (const worker of workers) await worker.kill()
  })
  await Promise.all(workers.map((worker) => worker.says("ready")))
  return { provider, workers }
}

test.each(["before_effect", "after_effect"] as const)(
  "those who joined a call outlive its process, killed %s, and none of them repeats it [ID-6] [R32] [CS-5] [RP-7]",
  async (place) => {
    const { provider, workers } = await stage(4)
    const [leader, ...joiners] = workers
    await provider.gate(place)
    leader?.tell({ round: "lost", kind: "explicit", at_ms: 0 })
    await provider.atGate(1)
    for (const joiner of joiners) joiner.tell({ round: "lost", kind: "explicit", at_ms: 0 })
    await Promise.all(joiners.map((joiner) => joiner.says("calling")))
    await leader?.kill()
    // What its process began runs to its end at the provider, also where nobody hears of it.
    await provider.gate("open")
    const answers = (await Promise.all(joiners.map((joiner) => joiner.says("answer")))) as {
      status: string
      operation_id: string
    }[]
    expect(answers.map(({ status }) => status)).toEqual(["needs_review", "needs_review", "needs_review"])
    expect(new Set(answers.map(({ operation_id }) => operation_id)).size).toBe(1)
    const requests = (await provider.ledger()).filter((line) => line.type === "request")
    expect(requests).toHaveLength(1)
    expect(await provider.effects("mail.sent")).toHaveLength(1)
  },
  LONG,
)
