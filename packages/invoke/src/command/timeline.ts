/** Events as a person and a program read them: operational facts, in order. */
import type { Journal } from "@invokejs/engine"
import { DEFAULTS, type AuditEvent, type Json } from "@invokejs/protocol"
import type { Page } from "./page.ts"
import { isoTime, sayTime } from "./say-time.ts"

export interface EventFact extends Omit<AuditEvent, "at"> {
  readonly at: string
}

export function eventFact(event: AuditEvent): EventFact {
  return { ...event, at: isoTime(event.at) }
}

/** Time of day in UTC, then type, change of state, actor and data. */
export function showEvent(page: Page, event: AuditEvent, named = false): void {
  const change = event.from === event.to ? [] : [`${event.from ?? ""}→${event.to ?? ""}`]
  const data = Object.entries(event.data)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${valueText(name, value)}`)
  const words = [...(named ? [event.operation_id] : []), event.type, ...change, event.actor, ...data]
  page.fact(isoTime(event.at).slice(11, 23), words.join(" "))
}

/** Digests are for programs: `--json` has them whole. Moments are told as moments. */
function valueText(name: string, value: Json): string {
  if (typeof value === "string") return value.replace(/^((?:\w:)?[0-9a-f]{12})[0-9a-f]{52}$/, "$1…")
  const moment = typeof value === "number" && /(_at|_before|_send|^until|^since)$/.test(name)
  return moment ? sayTime(value) : JSON.stringify(value)
}

export async function readTimeline(journal: Journal, id: string, after = 0): Promise<readonly AuditEvent[]> {
  const events: AuditEvent[] = []
  for (;;) {
    const page = await journal.events(id, events.at(-1)?.seq ?? after, DEFAULTS.page_max)
    events.push(...page)
    if (page.length < DEFAULTS.page_max) return events
  }
}
