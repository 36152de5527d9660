/** An incident: two truths side by side that a person has to look at. It never changes an operation by itself. */
import type { Json } from "./canonical-json.ts"

export const INCIDENT_KINDS = [
  "late_positive",
  "contradicted",
  "double_effect",
  "object_shared",
  "diverged",
  "no_worker",
  "attempt_open_too_long",
  "quarantine",
  "worker_silent",
  "probe_failing",
] as const
export type IncidentKind = (typeof INCIDENT_KINDS)[number]

export interface IncidentDraft {
  readonly kind: IncidentKind
  readonly operation_id: string | null
  readonly detail: { readonly [name: string]: Json }
}

export interface Incident extends IncidentDraft {
  readonly incident_id: string
  readonly tenant: string
  readonly opened_at: number
  readonly closed_at: number | null
  readonly closed_by: string | null
  readonly resolution: string | null
}
