/** The schedule of a case, for people: what was sent, what became of it, what was seen and told, in the order of its time. */
import type { AuditEvent, Json } from "@invokejs/protocol"
import { seconds } from "./plan-cases.ts"
import type { DoorEntry } from "./provider-door.ts"
import type { Observation, Telling } from "./run-case.ts"

interface Line {
  readonly at: number
  readonly text: string
}

const LINES_MAX = 40

export function scheduleOf(seen: Observation): readonly string[] {
  const lines: Line[] = [
    ...seen.log.flatMap((entry) => requestLines(entry)),
    ...seen.events.flatMap((event) => eventLine(event, seen.start_wall)),
    ...seen.tellings.map((one) => tellingLine(one)),
  ]
  const sorted = lines.map((line, order) => ({ ...line, order })).toSorted((a, b) => a.at - b.at || a.order - b.order)
  const said = merged(sorted.map(({ at, text }) => `${seconds(at).padStart(9)}  ${text}`))
  if (said.length <= LINES_MAX) return said
  const head = said.slice(0, LINES_MAX / 2)
  const tail = said.slice(-LINES_MAX / 2)
  return [...head, `           … ${said.length - LINES_MAX} lines left out …`, ...tail]
}

/** Equal neighbours are one line. */
function merged(lines: readonly string[]): readonly string[] {
  return lines.filter((line, index) => line !== lines[index - 1])
}

function requestLines(entry: DoorEntry): Line[] {
  if (entry.side === "look") return []
  const { at, handed_at, made, status, answered, request } = entry
  const path = request.path.length > 60 ? `${request.path.slice(0, 57)}…` : request.path
  const who = entry.side === "call" ? "the tool" : "somebody else"
  const sent = `${who} sends ${request.method} ${path}`
  if (handed_at === null) return [{ at, text: `${sent}; the provider never acts on it` }]
  const effect = made > 0 ? `: ${made === 1 ? "an effect" : `${made} effects`}` : ": no effect"
  const answer = answered ? `, answers ${status}` : ", the answer is kept back"
  if (handed_at - at < 1_000) return [{ at, text: `${sent}; the provider acts on it${effect}${answer}` }]
  return [
    { at, text: `${sent}; the provider takes it and does not act yet` },
    { at: handed_at, text: `the provider acts on that ${request.method}${effect}${answer}` },
  ]
}

function tellingLine({ at, who, result, error, effects }: Telling): Line {
  const told =
    result === null
      ? `refused: ${error?.code}`
      : `told "${result.status}", ${result.final_outcome}${result.cause === null ? "" : ` (cause: ${result.cause})`}`
  return { at, text: `${who}: ${told}; effects so far: ${effects}` }
}

function eventLine({ type, to, data, at }: AuditEvent, start: number): Line[] {
  const text = eventText(type, data, to)
  return text === null ? [] : [{ at: at - start, text: `invoke: ${text}` }]
}

function eventText(type: AuditEvent["type"], data: AuditEvent["data"], to: string | null): string | null {
  const reason = said(data["text"] ?? data["reason"])
  switch (type) {
    case "requested":
      return "the call is admitted"
    case "submitted":
      return `the dispatch record of attempt ${said(data["attempt"])} is durable`
    case "evidence":
      return data["source"] === "probe" ? `a look: ${lookText(data)}` : null
    case "acknowledged":
    case "accepted":
    case "attempt_disproved":
    case "attempt_unknown":
    case "never_started":
      return `attempt ${said(data["attempt"])}: ${type.replace("attempt_", "")}${reason === "" ? "" : ` (${reason})`}`
    case "timed_out":
      return "the attempt's time is over"
    case "worker_gone":
      return "the process is proved gone"
    case "state_updated":
    case "unknown":
    case "review_needed":
    case "diverged":
    case "contradicted":
    case "held":
      return `${to ?? type}${reason === "" ? "" : ` (${reason})`}`
    default:
      return null
  }
}

function lookText(data: AuditEvent["data"]): string {
  const parts = ["finding", "candidates", "complete", "search", "text", "reason", "verdict"].flatMap((name) => {
    const value = said(data[name])
    return value === "" ? [] : [name === "finding" ? value : `${name} ${value}`]
  })
  return parts.join(", ")
}

function said(value: Json | undefined): string {
  if (value === undefined || value === null) return ""
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}
