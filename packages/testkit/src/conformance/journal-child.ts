/** The program of the child processes: opens the store and does what its script says, telling each step on a line. */
import { systemClock, systemIds } from "@invokejs/engine"
import type { Journal } from "@invokejs/engine"

import { admission, advance, dispatch, newOperation, registered } from "./operation-records.ts"

const [module, argument, script, ...words] = process.argv.slice(2)

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Admits and advances without end; a line is written only after the journal acknowledged. */
async function writeForever(journal: Journal): Promise<void> {
  for (;;) {
    const results = await Promise.all(
      Array.from({ length: 8 }, () => journal.admit(admission(newOperation(journal.now()), journal.now()))),
    )
    for (const result of results) if (result.ok) say(`ack ${result.operation.operation_id} ${result.operation.version}`)
    for (const result of results) {
      if (!result.ok) continue
      const next = await journal.advance(advance(result.operation, { state: "unknown" }, journal.now()))
      if (next.ok) say(`ack ${next.operation.operation_id} ${next.operation.version}`)
    }
  }
}

/** Admits one operation under each key of a list, and tells which admissions it won. */
async function raceForKeys(journal: Journal, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const now = journal.now()
    const result = await journal.admit(admission(newOperation(now, { key }), now))
    say(result.ok ? `won ${key} ${result.operation.operation_id}` : `lost ${key} ${result.conflict.on}`)
  }
  say("done")
}

/** Registers a worker, dispatches one operation and then does nothing, for ever. */
async function holdWorker(journal: Journal, lease_ms: number): Promise<void> {
  const lease = await registered(journal, journal.now() + lease_ms)
  const now = journal.now()
  const result = await journal.admit(admission(newOperation(now), now))
  if (!result.ok) throw new Error(`not admitted: ${result.conflict.on}`)
  const sent = await journal.dispatch(
    dispatch(result.operation, { ...lease, until: journal.now() + lease_ms }, journal.now()),
  )
  if (!sent.ok) throw new Error(`not dispatched: ${sent.conflict.on}`)
  say(`worker ${lease.worker_id} ${result.operation.operation_id}`)
  await forever()
}

async function forever(): Promise<void> {
  for (;;) await new Promise<void>((resolve) => systemClock.after(60_000, resolve, { keep_alive: true }))
}

async function main(): Promise<void> {
  const { openForChild } = (await import(module ?? "")) as { openForChild: (argument: string) => Promise<Journal> }
  const journal = await openForChild(argument ?? "")
  say(`open ${systemIds.event()}`)
  if (script === "write_forever") await writeForever(journal)
  else if (script === "race_for_keys") await raceForKeys(journal, words)
  else if (script === "hold_worker") await holdWorker(journal, Number(words[0]))
  else throw new Error(`no script is named ${script}`)
  await journal.close()
}

await main()
