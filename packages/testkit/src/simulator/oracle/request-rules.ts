/** What must be so when a request leaves, or a tool is called: the record is durable, the time is not over, the bytes are the same. */
import { natureOf } from "./grouping.ts"
import type { Finding } from "./oracle.ts"
import type { DispatchRecord, RunHistory, SentRequest } from "../history.ts"

export function requestFindings(history: RunHistory): readonly Finding[] {
  const records = new Map(history.records.map((one) => [`${one.operation_id}#${one.attempt}`, one]))
  const findings: Finding[] = []
  const breach = (rule: Finding["rule"], text: string) => findings.push({ rule, weight: "violation", text })
  for (const { at, operation_id, attempt } of history.started) {
    const record = records.get(`${operation_id}#${attempt}`)
    const late = record && isLate(record, at)
    if (!record || record.committed_at > at)
      breach("intent_first", `attempt ${attempt} of ${operation_id} was called at ${at} without a record`)
    if (late) breach("window", `attempt ${attempt} of ${operation_id} was called at ${at}, ${late} ms too late`)
  }
  for (const request of history.requests) {
    const record = records.get(`${request.operation_id}#${request.attempt}`)
    if (!record || record.committed_at > request.at)
      breach("intent_first", `request ${request.n} left at ${request.at} without a record`)
    const late = record && natureOf(history, request.tool).transport === "invoke" && isLate(record, request.at)
    if (late) breach("window", `request ${request.n} left at ${request.at}, ${late} ms too late`)
    const other = otherBytes(history, request)
    if (other)
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

/** Only our own transport sees the bytes before they leave. */
function otherBytes(history: RunHistory, request: SentRequest): SentRequest | undefined {
  const nature = natureOf(history, request.tool)
  if (nature.remembers === null || nature.transport !== "invoke") return undefined
  return history.requests.find(
    (one) => one.n < request.n && one.tool === request.tool && one.key === request.key && one.body !== request.body,
  )
}
