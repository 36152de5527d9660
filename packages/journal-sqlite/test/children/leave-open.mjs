// Opens a journal, perhaps gives it something to do, and ends without closing it.

import { systemClock, systemIds } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { admission, newOperation } from "@invokejs/testkit"

const [path, script = ""] = process.argv.slice(2)
const [what, mode] = script.split("_")
const journal = await openSqliteJournal({ path, mode, clock: systemClock, ids: systemIds })
journal.subscribe(() => undefined)

const admit = () => journal.admit(admission(newOperation(journal.now()), journal.now()))

if (what === "idle") process.stdout.write("idle\n")
if (what === "writing") {
  const writes = Array.from({ length: 200 }, admit)
  void Promise.all(writes).then((results) => process.stdout.write(`kept ${results.filter(({ ok }) => ok).length}\n`))
}
if (what === "backup") {
  await Promise.all(Array.from({ length: 200 }, admit))
  void journal.backup(`${path}.copy`).then(() => process.stdout.write("copied\n"))
}
