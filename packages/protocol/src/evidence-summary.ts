/** Evidence as a Result and an operation's view show it: who said what about which attempt, without the payload. */
import { z } from "zod"
import { isoTime } from "./iso-time.ts"
import { RANKS, type Evidence, type Finding } from "./evidence.ts"

export const evidenceSummarySchema = z.object({
  evidence_id: z.string(),
  source: z.enum(["probe", "fence", "transport", "answer", "webhook", "operator", "caller"]),
  rank: z.enum(RANKS),
  finding: z.enum(["look", "unsure", "applied", "accepted", "reversed", "not_applied", "fenced"]),
  attempt: z.int().nullable(),
  generation: z.int().nullable(),
  observed_from: z.iso.datetime(),
  object_ids: z.array(z.string()).readonly(),
})

export type EvidenceSummary = Readonly<z.infer<typeof evidenceSummarySchema>>

/** Objects named at most for one look. */
const OBJECTS_SHOWN = 20

export function summariseEvidence(evidence: Evidence): EvidenceSummary {
  return {
    evidence_id: evidence.evidence_id,
    source: evidence.source,
    rank: evidence.rank,
    finding: evidence.finding.kind,
    attempt: evidence.attempt,
    generation: evidence.generation,
    observed_from: isoTime(evidence.observed_from),
    object_ids: objectIds(evidence.finding).slice(0, OBJECTS_SHOWN),
  }
}

function objectIds(finding: Finding): string[] {
  if (finding.kind === "look") return finding.candidates.map((candidate) => candidate.object_id)
  return "candidate" in finding && finding.candidate ? [finding.candidate.object_id] : []
}
