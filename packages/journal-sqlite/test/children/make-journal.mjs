// Makes a journal with some operations and ends, so that nothing of this process holds its files afterwards.

import { systemClock, systemIds } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { admitted } from "@invokejs/testkit"

const [path, count] = process.argv.slice(2)
const journal = await openSqliteJournal({ path, mode: "inline", clock: systemClock, ids: systemIds })
for (let index = 0; index < Number(count); index += 1) await admitted(journal)
await journal.close()
