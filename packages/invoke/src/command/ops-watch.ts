/**
 * `invoke ops watch`: events as they come, of one operation until it is settled, or of all until interrupted.
 *
 * With `--json` each line is one event as JSON; of one operation the last line is its Result.
 */
import type { Journal } from "@invokejs/engine"
import { isTerminal, type AuditEvent } from "@invokejs/protocol"
import { defineCommand, filled, JOURNAL_FLAG, type Answer, type JournalFlag, type Run } from "./define-command.ts"
import { waitTime } from "./flags.ts"
import { readWorkers } from "./live-workers.ts"
import { jsonText } from "./page.ts"
import { withJournal } from "./session.ts"
import { answerOf, resultOf } from "./tell-operation.ts"
import { eventFact, readTimeline, showEvent } from "./timeline.ts"
import { pause, waitFor } from "./wait-for.ts"

interface WatchFlags extends JournalFlag {
  readonly wait?: number
}

const PAGE = 500

export const opsWatchCommand = defineCommand<WatchFlags, [id: string | undefined]>({
  brief: "Follow events as they come, of one operation or of all",
  details:
    "Of one operation: its timeline so far, then what follows, until it is settled; then its Result, with its exit code. " +
    "Of all: what comes from now on, until interrupted. With --json each line is one JSON document.",
  flags: {
    ...JOURNAL_FLAG,
    wait: {
      kind: "parsed",
      parse: waitTime,
      brief: "End after this time; default: never",
      placeholder: "TIME",
      optional: true,
    },
  },
  positional: [{ brief: "Id of the operation; default: all", parse: filled, placeholder: "ID", optional: true }],
  run: (run, flags, id) =>
    withJournal(run, flags, (journal) =>
      id === undefined ? watchAll(run, journal, flags.wait ?? null) : watchOne(run, journal, id, flags.wait ?? null),
    ),
})

async function watchOne(run: Run, journal: Journal, id: string, wait_ms: number | null): Promise<Answer> {
  let told = 0
  const operation = await waitFor(run, journal, id, {
    wait_ms,
    enough: ({ state }) => isTerminal(state),
    async seen({ seq }) {
      if (seq === told) return
      for (const event of await readTimeline(journal, id, told)) {
        tell(run, event, false)
        told = event.seq
      }
    },
  })
  const result = await resultOf(journal, operation, await readWorkers(journal))
  const answer = answerOf(result)
  if (run.json) run.world.stdout(`${jsonText(result, 0)}\n`)
  return {
    ...answer,
    json: undefined,
    text: (page) => {
      page.line()
      answer.text(page)
    },
  }
}

async function watchAll(run: Run, journal: Journal, wait_ms: number | null): Promise<Answer> {
  const { clock, interrupted } = run.world
  const until = wait_ms === null ? Number.POSITIVE_INFINITY : clock.monotonic() + wait_ms
  let cursor = await newest(journal)
  while (!interrupted.aborted && clock.monotonic() < until) {
    const page = await journal.stream(cursor, PAGE)
    for (const event of page.events) tell(run, event, true)
    cursor = page.cursor
    if (page.events.length < PAGE) await pause(run)
  }
  return { exit: 0, json: undefined, text: () => undefined }
}

/** The place of the newest event: the journal's facts count events, and their count is the place of the last one. */
async function newest(journal: Journal): Promise<string | null> {
  const { events } = await journal.facts()
  return typeof events === "number" && events > 0 ? String(events) : null
}

function tell(run: Run, event: AuditEvent, named: boolean): void {
  if (run.json) return run.world.stdout(`${jsonText(eventFact(event), 0)}\n`)
  const page = run.page()
  showEvent(page, event, named)
  run.world.stdout(page.text)
}
