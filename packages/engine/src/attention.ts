/**
 * Telling the application that something needs a person (HU-6 begins here): `on("attention", …)` and one warning line.
 *
 * AN1. Each stay in review, and each incident kind of an operation, is told once by this process.
 */
import type { IncidentDraft, Operation } from "@invokejs/protocol"
import type { Journal } from "./ports/journal.ts"
import type { Telemetry } from "./ports/telemetry.ts"

export interface Attention {
  readonly operation_id: string
  readonly tool: string
  /** The operation's state, `contradicted`, or the kind of the incident. */
  readonly state: string
  readonly reason: string
  /** The command that shows it. */
  readonly command: string
}

/** It goes on by a person's word only, or a person is the quicker way. */
export function needsPerson(operation: Operation): boolean {
  const { state, contradicted } = operation
  if (contradicted || state === "needs_review" || state === "awaiting_approval") return true
  // Held because its effect was found in place already: no other operation will release it.
  return state === "held" && operation.held_by === null
}

export type AttentionListener = (attention: Attention) => void

/** More than a person can read at once; the newest are told. */
const LOOK_OVER_MAX = 100

export class AttentionWatch {
  readonly #journal: Journal
  readonly #telemetry: Telemetry
  readonly #listeners = new Set<AttentionListener>()
  readonly #told = new Map<string, number>()
  readonly #incidents = new Set<string>()
  #looking = false
  readonly #unsubscribe: () => void

  constructor(journal: Journal, telemetry: Telemetry) {
    this.#journal = journal
    this.#telemetry = telemetry
    this.#unsubscribe = journal.subscribe((ids) => {
      if (ids === null) void this.lookOver()
      else for (const id of ids) void this.#look(id)
    })
  }

  /** What already waits for a person, or was moved by another process. One look at a time. */
  async lookOver(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      const waiting = await this.#journal.operations(
        { states: ["needs_review", "awaiting_approval"] },
        { limit: LOOK_OVER_MAX },
      )
      for (const { operation_id } of waiting.items) await this.#look(operation_id)
    } catch {
      // The journal is closing or busy: the next notice looks again.
    } finally {
      this.#looking = false
    }
  }

  on(listener: AttentionListener): () => void {
    this.#listeners.add(listener)
    void this.lookOver()
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#unsubscribe()
  }

  async #look(id: string): Promise<void> {
    const operation = await this.#journal.operation(id).catch(() => null)
    if (!operation) return
    if (!needsPerson(operation)) {
      this.#told.delete(id)
      return
    }
    if (this.#told.get(id) === operation.state_since) return
    this.#told.set(id, operation.state_since)
    this.#tell(operation, operation.contradicted ? "contradicted" : operation.state, operation.reason?.text ?? "")
  }

  /** An incident that this process opened; those that are a state of the operation are told as that. */
  opened(operation: Operation, incidents: readonly IncidentDraft[]): void {
    for (const { kind } of incidents) {
      const key = `${operation.operation_id}:${kind}`
      if (needsPerson(operation) || this.#incidents.has(key)) continue
      this.#incidents.add(key)
      this.#tell(operation, kind, `incident ${kind}`)
    }
  }

  #tell(operation: Operation, state: string, reason: string): void {
    const attention: Attention = {
      operation_id: operation.operation_id,
      tool: operation.tool,
      state,
      reason,
      command: `invoke ops show ${operation.operation_id} --journal ${this.#journal.identity.location}`,
    }
    this.#telemetry.log("warn", `${operation.tool} needs a person: ${attention.reason}`, { ...attention })
    for (const listener of this.#listeners) {
      try {
        listener(attention)
      } catch (error) {
        this.#telemetry.log("error", "an attention listener threw", { error: String(error) })
      }
    }
  }
}
