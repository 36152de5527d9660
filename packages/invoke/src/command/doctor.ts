/**
 * `invoke doctor`: this machine and one journal, checked.
 *
 * DR1. It reports what it was called to find: a journal that cannot be opened is a line of the report, not the end of it.
 * DR2. Exit 1 means a problem. A warning is something to know; the journal works.
 */
import { Invoke, type Journal, type JournalIdentity } from "@invokejs/engine"
import { InvokeError, isTerminal, STATE_NAMES, type Json } from "@invokejs/protocol"
import { allOperations } from "./all-operations.ts"
import { defineCommand, JOURNAL_FLAG, type JournalFlag, type Run } from "./define-command.ts"
import { interruptible } from "./interruptible.ts"
import { readWorkers, waitingForTool } from "./live-workers.ts"
import type { Page } from "./page.ts"
import { factOf } from "./quarantine.ts"
import { openJournal } from "./session.ts"

type Level = "ok" | "warning" | "problem"

interface Check {
  readonly check: string
  readonly level: Level
  readonly text: string
}

interface JournalReport {
  readonly identity: JournalIdentity
  readonly facts: { readonly [name: string]: Json }
  readonly quarantine: ReturnType<typeof factOf>
  readonly unresolved: { readonly [state: string]: number }
  readonly waiting_for_tool: number
  readonly contradicted: number
  readonly incidents_open: number
  readonly workers: { readonly live: number; readonly gone: number }
}

export const doctorCommand = defineCommand<JournalFlag>({
  brief: "Check this machine and the journal; exit 1 on a problem",
  flags: { ...JOURNAL_FLAG },
  async run(run, flags) {
    const machine = await interruptible(run, checkMachine(run))
    const { report, checks } = await interruptible(run, checkJournal(run, flags))
    const all = [...machine, ...checks]
    const ok = all.every(({ level }) => level !== "problem")
    return {
      exit: ok ? 0 : 1,
      json: { ok, version: run.world.version, node: run.world.node, checks: all, journal: report },
      text: (page) => {
        showChecks(page, all)
        if (report) showReport(page, report)
        page.line()
        page.line(ok ? "No problem found." : "There is a problem.")
      },
    }
  },
})

async function checkMachine({ world }: Run): Promise<readonly Check[]> {
  const test = await Invoke.selfTest({ clock: world.clock })
  return [
    { check: "invoke", level: "ok", text: world.version },
    { check: "node", level: "ok", text: `${world.node} on ${world.platform}` },
    test.ok
      ? { check: "transport", level: "ok", text: "the self-test passed: stages are believed" }
      : {
          check: "transport",
          level: "problem",
          text: `the self-test failed, every tool runs as opaque: ${test.reason}`,
        },
  ]
}

async function checkJournal(
  run: Run,
  flags: JournalFlag,
): Promise<{ readonly report: JournalReport | null; readonly checks: readonly Check[] }> {
  if (flags.journal === undefined && run.world.journal === undefined) {
    const text = "none is named, so none is checked: pass --journal PATH, or set INVOKE_JOURNAL"
    return { report: null, checks: [{ check: "journal", level: "warning", text }] }
  }
  let journal: Journal
  try {
    journal = await openJournal(run, flags, false)
  } catch (error) {
    if (!InvokeError.is(error)) throw error
    return { report: null, checks: [{ check: "journal", level: "problem", text: error.message }] }
  }
  try {
    const report = await readReport(journal)
    return { report, checks: judge(report) }
  } finally {
    await journal.close()
  }
}

async function readReport(journal: Journal): Promise<JournalReport> {
  const workers = await readWorkers(journal)
  const unresolved: { [state: string]: number } = {}
  let waiting = 0
  for await (const operation of allOperations(journal, { states: STATE_NAMES.filter((state) => !isTerminal(state)) })) {
    unresolved[operation.state] = (unresolved[operation.state] ?? 0) + 1
    if (waitingForTool(workers, operation)) waiting += 1
  }
  let contradicted = 0
  for await (const _operation of allOperations(journal, { contradicted: true })) contradicted += 1
  return {
    identity: journal.identity,
    facts: await journal.facts(),
    quarantine: factOf(await journal.quarantine()),
    unresolved,
    waiting_for_tool: waiting,
    contradicted,
    incidents_open: (await journal.incidents({ open: true })).length,
    workers: {
      live: workers.filter(({ state }) => state === "live").length,
      gone: workers.filter(({ state }) => state === "gone").length,
    },
  }
}

function judge({ identity, facts, quarantine, unresolved, ...counts }: JournalReport): readonly Check[] {
  const full = facts["synchronous"] === "full" || facts["synchronous"] === 2
  const warnings = Array.isArray(facts["warnings"]) ? (facts["warnings"] as readonly Json[]) : []
  const review = unresolved["needs_review"] ?? 0
  const warn = (many: number, check: string, text: string): readonly Check[] =>
    many === 0 ? [] : [{ check, level: "warning", text: `${many} ${text}` }]
  return [
    { check: "journal", level: "ok", text: identity.location },
    {
      check: "synchronous",
      level: full ? "ok" : "problem",
      text: full
        ? "full, read back"
        : `${asText(facts["synchronous"] ?? null)}: a commit may be lost when the machine stops`,
    },
    ...warnings.map((text): Check => ({ check: "file system", level: "warning", text: asText(text) })),
    quarantine === null
      ? { check: "quarantine", level: "ok", text: "no" }
      : { check: "quarantine", level: "problem", text: `yes, nothing is dispatched: ${quarantine.reason}` },
    ...warn(review, "needs_review", "wait for a person: invoke ops ls --state needs_review"),
    ...warn(counts.contradicted, "contradicted", "settled, but contradicted: invoke ops ls --contradicted"),
    ...warn(counts.incidents_open, "incidents", "open: invoke incidents ls"),
    ...warn(counts.waiting_for_tool, "waiting_for_tool", "not settled, and no live worker has the tool"),
  ]
}

function showChecks(page: Page, checks: readonly Check[]): void {
  for (const { check, level, text } of checks) page.fact(check, `${level === "ok" ? "" : `${level}: `}${text}`)
}

function showReport(page: Page, { identity, facts, unresolved, workers }: JournalReport): void {
  const fact = (name: string, value: Json | undefined): void => {
    if (value !== undefined && value !== null && value !== "") page.fact(name, asText(value))
  }
  page.heading("Journal")
  fact("journal_id", identity.journal_id)
  fact("name", identity.name)
  fact("incarnation", identity.incarnation)
  fact("driver", identity.driver)
  fact("sqlite", facts["sqlite"])
  fact("schema", facts["schema"])
  fact("journal_mode", facts["journal_mode"])
  fact("file_system", facts["file_system"])
  fact("bytes", facts["bytes"])
  fact("log_bytes", facts["log_bytes"])
  fact("operations", facts["operations"])
  fact("events", facts["events"])
  const open = Object.entries(unresolved).map(([state, many]) => `${many} ${state}`)
  page.fact("unresolved", open.length === 0 ? "none" : open.join(", "))
  page.fact("workers", `${workers.live} live, ${workers.gone} gone`)
}

function asText(value: Json): string {
  if (Array.isArray(value)) return value.map((one) => asText(one as Json)).join(", ")
  return typeof value === "string" ? value : JSON.stringify(value)
}
