// Registers a worker, tells its id, and does nothing until it is killed.

import { systemClock, systemIds } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { registered } from "@invokejs/testkit"

const journal = await openSqliteJournal({ path: process.argv[2], mode: "inline", clock: systemClock, ids: systemIds })
const { worker_id } = await registered(journal, 0)
process.stdout.write(`${worker_id}\n`)
await new Promise((resolve) => systemClock.after(600_000, resolve, { keep_alive: true }))
