/** `invoke incidents ls | close`: two truths side by side, for a person. */
import type { Journal } from "@invokejs/engine"
import { InvokeError, type Incident } from "@invokejs/protocol"
import { defineCommand, filled, JOURNAL_FLAG, type JournalFlag } from "./define-command.ts"
import { ACTOR_FLAG, actorOf, type ActorFlag } from "./flags.ts"
import type { Page } from "./page.ts"
import { isoTime, sayMoment } from "./say-time.ts"
import { withInvoke, withJournal } from "./session.ts"

interface ListFlags extends JournalFlag {
  readonly all: boolean
  readonly operation?: string
}

export const incidentsLsCommand = defineCommand<ListFlags>({
  brief: "List incidents that are open",
  flags: {
    ...JOURNAL_FLAG,
    all: { kind: "boolean", brief: "Closed ones too", withNegated: false },
    operation: { kind: "parsed", parse: filled, brief: "Only of this operation", placeholder: "ID", optional: true },
  },
  run: (run, flags) =>
    withJournal(run, flags, async (journal) => {
      const incidents = await journal.incidents({
        ...(flags.all ? {} : { open: true }),
        ...(flags.operation === undefined ? {} : { operation_id: flags.operation }),
      })
      const now = journal.now()
      return {
        exit: 0,
        json: { incidents: incidents.map(incidentFact) },
        text: (page) => showIncidents(page, incidents, now),
      }
    }),
})

interface CloseFlags extends JournalFlag, ActorFlag {
  readonly resolution: string
}

export const incidentsCloseCommand = defineCommand<CloseFlags, [id: string]>({
  brief: "Close an incident, with what was found",
  details: "It changes no operation: what is true of one is said with `invoke ops resolve` or `invoke ops amend`.",
  flags: {
    ...JOURNAL_FLAG,
    ...ACTOR_FLAG,
    resolution: { kind: "parsed", parse: filled, brief: "What was found and done", placeholder: "TEXT" },
  },
  positional: [{ brief: "Id of the incident", parse: filled, placeholder: "ID" }],
  run: (run, flags, id) =>
    withInvoke(run, flags, {}, async ({ journal, invoke }) => {
      const before = await readIncident(journal, id)
      if (before.closed_at !== null) {
        throw new InvokeError("illegal_transition", {
          happened: `incident ${id} was closed by ${before.closed_by ?? "somebody"} on ${isoTime(before.closed_at)}`,
          fix: "There is nothing to do.",
          detail: { incident_id: id },
        })
      }
      await invoke.operator({ name: actorOf(run.world, flags) }).closeIncident(id, flags.resolution)
      const incident = await readIncident(journal, id)
      const now = journal.now()
      return { exit: 0, json: incidentFact(incident), text: (page) => showIncidents(page, [incident], now) }
    }),
})

async function readIncident(journal: Journal, id: string): Promise<Incident> {
  const incident = (await journal.incidents({})).find(({ incident_id }) => incident_id === id)
  if (incident) return incident
  throw new InvokeError("invalid_request", {
    happened: `there is no incident ${id} in this journal`,
    fix: "Read `invoke incidents ls --all`.",
    detail: { field: "incident_id" },
  })
}

export function incidentFact(incident: Incident) {
  return {
    ...incident,
    opened_at: isoTime(incident.opened_at),
    closed_at: incident.closed_at === null ? null : isoTime(incident.closed_at),
  }
}

export function showIncidents(page: Page, incidents: readonly Incident[], now: number): void {
  if (incidents.length === 0) return page.line("No incidents.")
  for (const incident of incidents) {
    page.heading(`${incident.kind} ${incident.incident_id}`)
    page.fact("operation_id", incident.operation_id, 2)
    page.fact("opened", sayMoment(incident.opened_at, now), 2)
    if (incident.closed_at !== null) {
      page.fact("closed", `${sayMoment(incident.closed_at, now)} by ${incident.closed_by ?? "somebody"}`, 2)
      page.fact("resolution", incident.resolution, 2)
    }
    for (const [name, value] of Object.entries(incident.detail)) {
      page.fact(name, typeof value === "string" ? value : JSON.stringify(value), 2)
    }
  }
}
