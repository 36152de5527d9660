// Writes without end to a journal whose clock runs fast, so that the sibling is sealed at almost every commit. Tells each
// acknowledged write with one character.

import { systemClock, systemIds } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { admission, newOperation } from "@invokejs/testkit"

const SPEED = 400
const started = systemClock.wall()
const clock = { ...systemClock, wall: () => started + (systemClock.wall() - started) * SPEED }
const journal = await openSqliteJournal({ path: process.argv[2], mode: "inline", clock, ids: systemIds })
for (;;) {
  const now = journal.now()
  const { ok } = await journal.admit(admission(newOperation(now), now))
  if (ok) process.stdout.write(".")
  await new Promise((resolve) => setImmediate(resolve))
}
