/** What must be so when a request leaves, or a tool is called: the record is durable, the time is not over, the bytes are the same. */
import { natureOf, recordAt, wasForgotten } from "./grouping.ts"
import type { Finding } from "./oracle.ts"
import type { DispatchRecord, RunHistory, SentRequest } from "../history.ts"

export function requestFindings(history: RunHistory): readonly Finding[] {
  const findings: Finding[] = []
  const breach = (rule: Finding["rule"], text: string) => findings.push({ rule, weight: "violation", text })
  for (const { at, operation_id, attempt } of history.started) {
    const record = recordAt(history, operation_id, attempt, at)
    const late = record && isLate(record, at)
    if (!record) breach("intent_first", `attempt ${attempt} of ${operation_id} was called at ${at} without a record`)
    if (late) breach("window", `attempt ${attempt} of ${operation_id} was called at ${at}, ${late} ms too late`)
  }
  for (const request of history.requests) {
    const record = recordAt(history, request.operation_id, request.attempt, request.at)
    if (!record) breach("intent_first", `request ${request.n} left at ${request.at} without a record`)
    const late = record && natureOf(history, request.tool).transport === "invoke" && isLate(record, request.at)
    if (late) breach("window", `request ${request.n} left at ${request.at}, ${late} ms too late`)
    const other = otherBytes(history, request)
    if (other && !wasForgotten(history, other, request.at))
      breach("same_bytes", `request ${request.n} has the key of request ${other.n} and other bytes: ${request.body}`)
  }
  for (const record of history.records) {
    if (record.in_quarantine)
      breach("quarantine", `attempt ${record.attempt} of ${record.operation_id} was dispatched in quarantine`)
  }
  return findings
}

function isLate({ committed_at, budget_ms }: DispatchRecord, at: number): number | null {
  const late = at - committed_at - budget_ms
  return late > 0 ? late : null
}

/**
 * The first request of the key, where this one differs from it. Only our own transport sees the bytes before they leave, and only
 * what was told of the first one can be compared.
 */
function otherBytes(history: RunHistory, request: SentRequest): SentRequest | undefined {
  const nature = natureOf(history, request.tool)
  if (nature.remembers === null || nature.transport !== "invoke") return undefined
  const recorded_at = recordAt(history, request.operation_id, request.attempt, request.at)?.committed_at ?? request.at
  const first = history.requests.find((one) => {
    if (one.n >= request.n || one.tool !== request.tool || one.key !== request.key) return false
    const known_at = recordAt(history, one.operation_id, one.attempt, one.at)?.bytes_known_at ?? null
    return known_at !== null && known_at < recorded_at
  })
  return first === undefined || first.body === request.body ? undefined : first
}
