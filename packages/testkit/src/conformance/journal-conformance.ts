/**
 * What every journal must do, as a list of cases that any test runner can run: each on a store of its own, with real
 * processes and no clock but the system's, shifted where a case says so.
 *
 * Owns: the contract of `ports/journal.ts` as facts. Must not: know how a journal stores anything.
 */
import { admissionCases } from "./admission-cases.ts"
import { changeCases } from "./change-cases.ts"
import { spawnChild } from "./child-process.ts"
import type { ChildProcess } from "./child-process.ts"
import type { ConformanceCase, Room } from "./conformance-case.ts"
import type { Capability, JournalStore, JournalSubject } from "./journal-store.ts"
import type { Journal } from "@invokejs/engine"
import { leaseCases } from "./lease-cases.ts"
import { processCases } from "./process-cases.ts"
import { readCases } from "./read-cases.ts"
import { retentionCases } from "./retention-cases.ts"
import { timelineCases } from "./timeline-cases.ts"

export interface ConformanceTest {
  readonly name: string
  readonly run: () => Promise<void>
}

const CASES: readonly ConformanceCase[] = [
  ...admissionCases,
  ...changeCases,
  ...leaseCases,
  ...readCases,
  ...timelineCases,
  ...retentionCases,
  ...processCases,
]

export function journalConformance(subject: JournalSubject): readonly ConformanceTest[] {
  return CASES.filter((one) => !isWithheld(subject, one)).map(({ name, run }) => ({
    name,
    run: () => runIn(subject, run),
  }))
}

/** The cases that this subject says it cannot be asked, with what it lacks. */
export function withheldCases(
  subject: JournalSubject,
): readonly { readonly name: string; readonly needs: Capability }[] {
  return CASES.flatMap((one) => (isWithheld(subject, one) ? [{ name: one.name, needs: one.needs }] : []))
}

function isWithheld(
  { without = [] }: JournalSubject,
  one: ConformanceCase,
): one is ConformanceCase & { readonly needs: Capability } {
  return one.needs !== undefined && without.includes(one.needs)
}

async function runIn(subject: JournalSubject, run: ConformanceCase["run"]): Promise<void> {
  const store = await subject.create()
  const opened: Journal[] = []
  const children: ChildProcess[] = []
  try {
    await run(await roomOf(store, opened, children))
  } finally {
    await Promise.all(children.map((child) => child.kill()))
    await Promise.allSettled(opened.map((journal) => journal.close()))
    store.dispose()
  }
}

async function roomOf(store: JournalStore, opened: Journal[], children: ChildProcess[]): Promise<Room> {
  const open: Room["open"] = async (options) => {
    const journal = await store.open(options)
    opened.push(journal)
    return journal
  }
  return {
    store,
    open,
    journal: await open(),
    spawn: (script, ...words) => {
      const child = spawnChild(store, script, words)
      children.push(child)
      return child
    },
  }
}
