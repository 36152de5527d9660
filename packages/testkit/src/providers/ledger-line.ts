/** The lines of a provider's ledger: everything that provider ever saw and did, one JSON object each. */

/** Something that became true in the world. What tests count. */
export interface Effect {
  /** `charge.created`, `mail.sent`, `ticket.updated`. */
  readonly kind: string
  readonly object_id: string
  /** The object as it was made or changed by this effect. */
  readonly object: unknown
  readonly request_id: string
  readonly idempotency_key: string | null
  /** By the provider's clock. */
  readonly at_ms: number
}

/** The new content of one object; null deletes it. */
export interface Change {
  readonly collection: string
  readonly id: string
  readonly object: unknown
}

export interface StoredAnswer {
  readonly status: number
  readonly body: string
}

/** What a key layer keeps of the first request under a key. */
export interface KeyRecord {
  readonly key: string
  readonly endpoint: string
  readonly fingerprint: string
  readonly first_used_at_ms: number
}

export type LedgerLine =
  | {
      readonly type: "opened"
      readonly seq: number
      readonly at_ms: number
      readonly provider: string
      readonly seed: string
    }
  | {
      readonly type: "settings"
      readonly seq: number
      readonly at_ms: number
      readonly settings: Record<string, unknown>
    }
  | RequestLine
  | ExecutedLine
  | AnsweredLine
  | { readonly type: "settled"; readonly seq: number; readonly at_ms: number; readonly changes: readonly Change[] }

export interface RequestLine {
  readonly type: "request"
  readonly seq: number
  readonly at_ms: number
  readonly request_id: string
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly idempotency_key: string | null
  readonly body: string
}

/** One line, so that an effect and the key's stored answer are never apart, whenever the process dies. */
export interface ExecutedLine {
  readonly type: "executed"
  readonly seq: number
  readonly at_ms: number
  readonly request_id: string
  readonly effects: readonly Effect[]
  readonly changes: readonly Change[]
  readonly key: KeyRecord | null
  readonly answer: StoredAnswer
}

export interface AnsweredLine {
  readonly type: "answered"
  readonly seq: number
  readonly at_ms: number
  readonly request_id: string
  readonly status: number
  /** The request whose stored answer this was. */
  readonly replay_of: string | null
}

/** Reads a ledger's text. A last line without its end is a write the process did not live to finish: it never was. */
export function parseLedger(text: string): LedgerLine[] {
  const lines = text.split("\n")
  lines.pop()
  return lines.map((line) => JSON.parse(line) as LedgerLine)
}

export function effectsOf(lines: readonly LedgerLine[]): Effect[] {
  return lines.flatMap((line) => (line.type === "executed" ? line.effects : []))
}
