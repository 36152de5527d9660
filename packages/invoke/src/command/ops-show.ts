/** `invoke ops show`: one operation as facts: record, attempts, evidence, timeline, incidents, and what may be done next. */
import type { Journal } from "@invokejs/engine"
import {
  isTerminal,
  operationView,
  type AuditEvent,
  type Incident,
  type Operation,
  type OperationView,
  type Result,
} from "@invokejs/protocol"
import { defineCommand, filled, JOURNAL_FLAG, type JournalFlag } from "./define-command.ts"
import { incidentFact, showIncidents } from "./incidents.ts"
import { readWorkers, waitingForTool, whoCarriesOn, workersWith, type WorkerFact } from "./live-workers.ts"
import { nextVerbs, type NextVerb } from "./next-verbs.ts"
import type { Page } from "./page.ts"
import { sayMoment, sayTime } from "./say-time.ts"
import { withJournal } from "./session.ts"
import { readOperation, resultOf } from "./tell-operation.ts"
import { eventFact, readTimeline, showEvent } from "./timeline.ts"

interface ShowFlags extends JournalFlag {
  readonly payload: boolean
}

/** Everything about one operation, read once. */
interface Dossier {
  readonly operation: Operation
  readonly result: Result
  readonly events: readonly AuditEvent[]
  readonly incidents: readonly Incident[]
  readonly workers: readonly WorkerFact[]
  readonly verbs: readonly NextVerb[]
  readonly now: number
  readonly payload: boolean
}

export const opsShowCommand = defineCommand<ShowFlags, [id: string]>({
  brief: "Show one operation as facts, and what to do next",
  details: "Parameters and output are payload: they are shown with --payload only.",
  flags: {
    ...JOURNAL_FLAG,
    payload: { kind: "boolean", brief: "Show parameters and output too", withNegated: false },
  },
  positional: [{ brief: "Id of the operation", parse: filled, placeholder: "ID" }],
  run: (run, flags, id) =>
    withJournal(run, flags, async (journal) => {
      const dossier = await readDossier(journal, id, flags)
      return { exit: 0, json: jsonOf(dossier), text: (page) => showDossier(page, dossier) }
    }),
})

async function readDossier(journal: Journal, id: string, flags: ShowFlags): Promise<Dossier> {
  const operation = await readOperation(journal, id)
  const workers = await readWorkers(journal)
  const now = journal.now()
  return {
    operation,
    workers,
    now,
    payload: flags.payload === true,
    result: await resultOf(journal, operation, workers),
    events: await readTimeline(journal, id),
    incidents: await journal.incidents({ operation_id: id }),
    verbs: nextVerbs(operation, now, flags),
  }
}

function jsonOf({ operation, result, events, incidents, workers, verbs, now, payload }: Dossier): unknown {
  const { output, ...told } = result
  return {
    operation: operationView(operation, now),
    ...(payload ? { params: operation.params, output: operation.output } : {}),
    result: payload ? { ...told, output } : told,
    timeline: events.map(eventFact),
    incidents: incidents.map(incidentFact),
    next: {
      waiting_for_tool: waitingForTool(workers, operation),
      workers: workersWith(workers, operation).map(({ worker_id }) => worker_id),
      verbs,
    },
  }
}

function showDossier(page: Page, dossier: Dossier): void {
  const { operation, now, events, incidents } = dossier
  const view = operationView(operation, now)
  page.heading(`Operation ${operation.operation_id}`)
  showRecord(page, dossier, view)
  if (dossier.payload) {
    page.fact("params", JSON.stringify(operation.params), 2)
    page.fact("output", operation.output === null ? null : JSON.stringify(operation.output), 2)
  }
  page.heading(operation.attempts.length === 0 ? "Attempts: none" : "Attempts")
  showAttempts(page, operation)
  page.heading(operation.evidence.length === 0 ? "Evidence: none" : "Evidence")
  for (const one of view.evidence) {
    const objects = one.object_ids.length === 0 ? "" : `: ${one.object_ids.join(", ")}`
    const about = one.attempt === null ? "" : ` about attempt ${one.attempt}`
    page.fact(one.observed_from.slice(11, 23), `${one.source}, ${one.rank}: ${one.finding}${about}${objects}`, 2)
  }
  page.heading("Timeline")
  for (const event of events) showEvent(page, event)
  if (incidents.length > 0) showIncidents(page, incidents, now)
  showNext(page, dossier)
}

function showRecord(page: Page, { operation, result, now }: Dossier, view: OperationView): void {
  const fields = (values: OperationView["identity"]): string | null =>
    values &&
    Object.entries(values)
      .map(([name, value]) => `${name}=${value}`)
      .join(" ")
  const contradicted = operation.contradicted ? ", contradicted" : ""
  page.fact(
    "tool",
    `${view.tool} version ${view.tool_version}, ${view.safety}${view.checkable ? ", checkable" : ""}`,
    2,
  )
  page.fact("key", `${view.idempotency_key} (${view.key_kind}), revision ${view.revision}`, 2)
  page.fact("identity", fields(view.identity), 2)
  page.fact("intent", fields(view.intent), 2)
  page.fact("resource", view.resource, 2)
  page.fact("agent", view.agent_id, 2)
  page.fact("run", view.run_id, 2)
  page.fact("requested", sayMoment(operation.created_at, now), 2)
  page.fact("deadline", sayMoment(operation.deadline_at, now), 2)
  page.fact("state", `${view.state}${contradicted} since ${sayMoment(operation.state_since, now)}`, 2)
  page.fact("version", view.version, 2)
  for (const name of ["status", "final_outcome", "decision", "retry"] as const) page.fact(name, result[name], 2)
  page.fact("reason", view.reason && `${view.reason.code}: ${view.reason.text}`, 2)
  page.fact("verdict", view.verdict, 2)
  page.fact("cause", view.cause, 2)
  page.fact("object", view.object_id, 2)
  const links = ["held_by", "repeats", "supersedes", "superseded_by", "compensates", "compensated_by"] as const
  for (const name of links) page.fact(name, view[name], 2)
  const { answered, failed, last_at } = operation.probes
  if (last_at !== null) page.fact("looks", `${answered} answered, ${failed} not, last ${sayMoment(last_at, now)}`, 2)
  const { count, last_at: repeated_at } = operation.duplicates
  if (count > 0) page.fact("duplicates", `${count} blocked, last ${sayMoment(repeated_at ?? now, now)}`, 2)
}

function showAttempts(page: Page, operation: Operation): void {
  for (const one of operation.attempts) {
    const facts = [
      one.status,
      `dispatched ${sayTime(one.dispatched_at)}`,
      ...(one.http_status === undefined ? [] : [`HTTP ${one.http_status}`]),
      ...(one.settled_at === null ? [one.gone_at === null ? "not ended" : "its process is gone"] : []),
      ...(one.reason === undefined ? [] : [`${one.reason.code}: ${one.reason.text}`]),
    ]
    page.fact(`attempt ${one.attempt}`, facts.join(", "), 2)
    page.fact("worker", one.worker_id, 4)
  }
}

function showNext(page: Page, { operation, workers, verbs, now, result }: Dossier): void {
  page.heading("Next")
  if (!isTerminal(operation.state)) {
    if (operation.due_at !== null) page.fact("next_check_at", sayMoment(operation.due_at, now), 2)
    page.say(whoCarriesOn(workers, operation), 2)
  }
  page.say(`Agents are told: ${result.agent_text}`, 2)
  for (const { verb, does, command } of verbs) {
    page.line()
    page.say(`${verb}: ${does}`, 2)
    page.line(`    ${command}`)
  }
}
