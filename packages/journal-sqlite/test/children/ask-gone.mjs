// Asks the journal whether a worker's process is proved gone.

import { systemClock, systemIds } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"

const [path, worker_id] = process.argv.slice(2)
const journal = await openSqliteJournal({ path, mode: "inline", clock: systemClock, ids: systemIds })
process.stdout.write(`${(await journal.workers.gone(worker_id)) ?? "alive"}\n`)
await journal.close()
