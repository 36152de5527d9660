/** The schedule of a case, for people: what was sent, what became of it, what was seen and told, in the order of its time. */
import type { AuditEvent, Json } from "@invokejs/protocol"
import { seconds } from "./say-time.ts"
import type { DoorEntry } from "./provider-door.ts"
import type { Observation, Telling } from "./run-case.ts"

interface Line {
  readonly at: number
  readonly rank: number
  readonly text: string
}

const CALLERS: { readonly [who in Telling["who"]]: string } = {
  call: "the caller",
  "second caller": "the second caller",
  repeat: "the same call again",
  "last repeat": "the same call, once more",
  "reworded call": "the call in other words",
}
const LINES_MAX = 40
const RANK = { admitted: 0, request: 1, event: 2, telling: 3 } as const
const BEFORE_REQUESTS: readonly string[] = ["requested", "submitted"]

export function scheduleOf(seen: Observation): readonly string[] {
  const [first] = seen.log.filter((entry) => entry.side === "call")
  const lines: Line[] = [
    ...lostRequest(seen),
    ...seen.log.flatMap((entry) => requestLines(entry, entry === first && seen.wire !== null)),
    ...seen.events.flatMap((event) => eventLine(event, seen.start_wall)),
    ...seen.tellings.map((one) => tellingLine(one)),
  ]
  // What falls into one millisecond stands in the order in which it can only have happened.
  const sorted = lines.toSorted((a, b) => a.at - b.at || a.rank - b.rank)
  const said = merged(sorted)
  if (said.length <= LINES_MAX) return said
  const head = said.slice(0, LINES_MAX / 2)
  const tail = said.slice(-LINES_MAX / 2)
  return [...head, `           … ${said.length - LINES_MAX} lines left out …`, ...tail]
}

/** Only what was sent: for cases in which nothing is called. */
export function requestsOf(log: readonly DoorEntry[]): readonly string[] {
  return merged(log.flatMap((entry) => requestLines(entry, false, "the tool's own function")))
}

/** A request that a fault kept from the provider. */
function lostRequest({ wire, started, plan }: Observation): Line[] {
  const [attempt] = started
  if (wire === null || wire.deliveries > 0 || attempt === undefined) return []
  return [{ at: attempt.at, rank: RANK.request, text: `the tool sends ${wire.method} ${wire.path}: ${plan.says}` }]
}

/** Of many equal neighbours the first, how many more, and the last. */
function merged(lines: readonly Line[]): readonly string[] {
  const said: string[] = []
  for (let at = 0; at < lines.length;) {
    const first = lines[at]
    let end = at + 1
    while (lines[end]?.text === first?.text && end < lines.length) end += 1
    const last = lines[end - 1]
    if (first) said.push(shown(first))
    if (end - at > 2) said.push(`${" ".repeat(11)}… ${end - at - 2} more of these …`)
    if (last && end - at > 1) said.push(shown(last))
    at = end
  }
  return said
}

function shown({ at, text }: Line): string {
  return `${seconds(at).padStart(9)}  ${text}`
}

function requestLines(entry: DoorEntry, broken: boolean, stranger = "somebody else"): Line[] {
  const rank = RANK.request
  if (entry.side === "look") return []
  const { at, handed_at, made, status, answered, request } = entry
  const path = request.path.length > 60 ? `${request.path.slice(0, 57)}…` : request.path
  const who = entry.side === "call" ? "the tool" : stranger
  const sent = `${who} sends ${request.method} ${path}`
  if (handed_at === null) return [{ at, rank, text: `${sent}; the provider never acts on it` }]
  const effect = made > 0 ? `: ${made === 1 ? "an effect" : `${made} effects`}` : ": no effect"
  const whole = broken ? " (the tool does not get that answer as it was)" : ""
  const answer = answered ? `, answers ${status}${whole}` : ", the answer is kept back"
  if (handed_at - at < 1_000) return [{ at, rank, text: `${sent}; the provider acts on it${effect}${answer}` }]
  return [
    { at, rank, text: `${sent}; the provider takes it and does not act yet` },
    { at: handed_at, rank, text: `the provider acts on that ${request.method}${effect}${answer}` },
  ]
}

function tellingLine({ at, who, result, error, effects }: Telling): Line {
  const told =
    result === null
      ? `refused: ${error?.code}`
      : `told "${result.status}", ${result.final_outcome}${result.cause === null ? "" : ` (cause: ${result.cause})`}`
  return { at, rank: RANK.telling, text: `${CALLERS[who]}: ${told}; effects so far: ${effects}` }
}

function eventLine({ type, to, data, at }: AuditEvent, start: number): Line[] {
  const text = eventText(type, data, to)
  const rank = BEFORE_REQUESTS.includes(type) ? RANK.admitted : RANK.event
  return text === null ? [] : [{ at: at - start, rank, text: `invoke: ${text}` }]
}

function eventText(type: AuditEvent["type"], data: AuditEvent["data"], to: string | null): string | null {
  const reason = said(data["code"] ?? data["reason_code"] ?? data["reason"])
  switch (type) {
    case "requested":
      return "the call is admitted"
    case "submitted":
      return `the dispatch record of attempt ${said(data["attempt"])} is durable`
    case "provider_result":
      return `a look finds ${lookText(data)}`
    case "evidence":
      return data["finding"] === "unanswered" ? `a look is not answered (${said(data["text"])})` : null
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
    case "unknown":
      return "unknown"
    case "state_updated":
    case "review_needed":
    case "diverged":
    case "contradicted":
    case "held":
      return `${to ?? type}${reason === "" ? "" : ` (${reason})`}`
    default:
      return null
  }
}

function lookText({ finding, candidates, complete }: AuditEvent["data"]): string {
  if (finding !== "look") return `${said(finding)}, which says nothing`
  const found =
    Array.isArray(candidates) && candidates.length > 0 ? candidates.map((one: Json) => said(one)).join(", ") : "nothing"
  return `${found}${complete === true ? ", and says that it saw everything" : ", and does not say that it saw everything"}`
}

function said(value: Json | undefined): string {
  if (value === undefined || value === null) return ""
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}
