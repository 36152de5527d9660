/** The probe found objects, and none of them counts as this call's: why. */
import { judge, type Candidate } from "@invokejs/protocol"
import type { Evidence, Finding } from "./finding.ts"

export function causeProblem(evidence: Evidence, verdict: Finding["verdict"], ended: string): Finding | null {
  const { operation, seen } = evidence
  const found = candidatesOf(evidence)
  const blind = operation.evidence.some(({ finding }) => finding.kind === "unsure" && CAUSELESS.test(finding.reason))
  if (seen.effects === 0 || (found.length === 0 && !blind)) return null
  const first = operation.attempts[0]?.dispatched_at ?? 0
  const by = operation.contract.lookup?.correlates
  const dated = found.find((one) => one.created_at !== undefined && one.operation_id === undefined)
  if (by === "created" && dated?.created_at !== undefined && dated.created_at < first) {
    return otherClock(verdict, first - dated.created_at, ended)
  }
  if (!blind && found.some((one) => isOurs(evidence, one))) return null
  const { reason } = judge(operation, { now: operation.updated_at, taken: [], rivals: 0, clock_stepped_at: null })
  const text = UNSETTLED.includes(reason.code) ? ` (${reason.text})` : ""
  return {
    verdict,
    code: "no_cause",
    happened: `the probe found an object and does not say why it is this call's${text}: ${ended}`,
    fix: "Give `found` the operation id or the provider key that the object carries, or the provider's creation time: found({ id, operationId: object.metadata.operation_id, state }).",
  }
}

const CAUSELESS = /without operationId, providerKey or createdAt/
const UNSETTLED: readonly string[] = ["no_creation_time", "created_near_dispatch", "match_missing", "shared_object"]

/** What the looks named, while their evidence is kept. */
function candidatesOf({ operation }: Evidence): readonly Candidate[] {
  return operation.evidence.flatMap(({ source, finding }) =>
    source === "probe" && finding.kind === "look" ? finding.candidates : [],
  )
}

function isOurs({ operation }: Evidence, { operation_id, provider_key, created_at }: Candidate): boolean {
  if (operation.contract.lookup?.correlates === "state") return true
  if (operation_id === operation.operation_id) return true
  if (operation.attempts.some((attempt) => attempt.provider_key === provider_key)) return true
  return operation.contract.lookup?.correlates === "created" && operation_id === undefined && created_at !== undefined
}

function otherClock(verdict: Finding["verdict"], early_ms: number, ended: string): Finding {
  return {
    verdict,
    code: "other_clock",
    happened: `the object that the call made is dated ${Math.round(early_ms / 1_000)} s before the request that made it: ${ended}`,
    fix: "Let the fake date what it makes by the `now` that `provider` is given. If the real provider's clock is that far off, declare `skew`.",
  }
}
