/**
 * `invoke audit verify`: recomputes the chain of every operation (protocol §12).
 *
 * AV1. A journal in use is not called faulty: events newer than the row that was read are left to the next run, and what
 *      looks wrong is read again before it is told.
 * AV2. What goes with the newest rows of the journal does not show: that needs checkpoints kept outside of it.
 */
import { sha256, verifyChain, type ChainFault, type Journal } from "@invokejs/engine"
import type { Operation } from "@invokejs/protocol"
import { allOperations } from "./all-operations.ts"
import { counted } from "./counted.ts"
import { defineCommand, filled, JOURNAL_FLAG, type JournalFlag } from "./define-command.ts"
import { interruptible } from "./interruptible.ts"
import type { Page } from "./page.ts"
import { withJournal } from "./session.ts"
import { readOperation } from "./tell-operation.ts"
import { readTimeline } from "./timeline.ts"

interface VerifyFlags extends JournalFlag {
  readonly operation?: string
}

type Fault = ChainFault | { readonly operation_id: null; readonly seq: null; readonly fault: "events_missing" }

interface Verdict {
  readonly operations: number
  readonly events: number
  /** Events that the operations say they have: more than `events` where some were dropped. */
  readonly claimed: number
  readonly faults: readonly Fault[]
}

const ROUNDS = 3

export const auditVerifyCommand = defineCommand<VerifyFlags>({
  brief: "Recompute the hash chain of every operation; exit 1 on a fault",
  details:
    "Edits, drops and changes of order show, with the operation and the event. What was taken out at the journal's very end, " +
    "rows and all, does not show without checkpoints kept elsewhere.",
  flags: {
    ...JOURNAL_FLAG,
    operation: { kind: "parsed", parse: filled, brief: "Only this operation", placeholder: "ID", optional: true },
  },
  run: (run, flags) =>
    withJournal(run, flags, async (journal) => {
      const verdict =
        flags.operation === undefined
          ? await interruptible(run, verifyAll(journal))
          : await verifyOne(journal, await readOperation(journal, flags.operation))
      const ok = verdict.faults.length === 0
      const { operations, events, faults } = verdict
      return { exit: ok ? 0 : 1, json: { ok, operations, events, faults }, text: (page) => showVerdict(page, verdict) }
    }),
})

async function verifyAll(journal: Journal): Promise<Verdict> {
  const expected = countOf(await journal.facts(), "events")
  let operations = 0
  let [events, claimed] = [0, 0]
  const faults: Fault[] = []
  for await (const operation of allOperations(journal)) {
    const one = await verifyOne(journal, operation)
    operations += 1
    events += one.events
    claimed += one.claimed
    faults.push(...one.faults)
  }
  // The journal counts its events for itself, and each of them belongs to an operation that must be there.
  if (claimed < expected) faults.push({ operation_id: null, seq: null, fault: "events_missing" })
  return { operations, events, claimed, faults }
}

async function verifyOne(journal: Journal, read: Operation): Promise<Verdict> {
  let operation = read
  for (let round = 1; ; round += 1) {
    const { seq } = operation
    const events = await readTimeline(journal, operation.operation_id)
    const known = events.filter((event) => event.seq <= seq)
    const again = await readOperation(journal, operation.operation_id)
    const beyond = { operation_id: operation.operation_id, seq: seq + 1, fault: "head_differs" } as const
    const faults = [
      ...verifyChain(operation, known, sha256),
      ...(again.seq === seq && events.length > known.length ? [beyond] : []),
    ]
    if (faults.length === 0 || again.seq === seq || round === ROUNDS) {
      return { operations: 1, events: events.length, claimed: Math.max(seq, events.length), faults }
    }
    operation = again
  }
}

function countOf(facts: { readonly [name: string]: unknown }, name: string): number {
  const value = facts[name]
  return typeof value === "number" ? value : 0
}

const WORDS: { readonly [F in Fault["fault"]]: string } = {
  missing: "an event is missing",
  reordered: "an event is out of order",
  edited: "the event was changed",
  data_edited: "the data of the event was changed",
  head_differs: "the chain does not end as the operation says",
  events_missing: "the journal has written more events than its operations have: whole operations are gone",
}

function showVerdict(page: Page, { operations, events, faults }: Verdict): void {
  const all = `${counted(operations, "operation")}, ${counted(events, "event")}`
  page.line(faults.length === 0 ? `Every chain holds: ${all}.` : `${counted(faults.length, "fault")} in ${all}:`)
  for (const { operation_id, seq, fault } of faults) {
    page.line(operation_id === null ? "the journal" : `operation ${operation_id}, event ${seq}`)
    page.say(`${fault}: ${WORDS[fault]}`, 2)
  }
}
