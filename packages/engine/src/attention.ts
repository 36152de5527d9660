/**
 * Telling the application that something needs a person (HU-6 begins here): `on("attention", …)` and one warning line.
 *
 * AN1. Each stay in review, and each incident kind of an operation, is told once by this process.
 */
import type { Operation } from "@invokejs/protocol"
import type { Journal } from "./ports/journal.ts"
import type { Telemetry } from "./ports/telemetry.ts"

export interface Attention {
  readonly operation_id: string
  readonly tool: string
  readonly state: string
  readonly reason: string
  /** The command that shows it. */
  readonly command: string
}

export type AttentionListener = (attention: Attention) => void

export class AttentionWatch {
  readonly #journal: Journal
  readonly #telemetry: Telemetry
  readonly #listeners = new Set<AttentionListener>()
  readonly #told = new Map<string, number>()
  readonly #unsubscribe: () => void

  constructor(journal: Journal, telemetry: Telemetry) {
    this.#journal = journal
    this.#telemetry = telemetry
    this.#unsubscribe = journal.subscribe((ids) => {
      for (const id of ids ?? []) void this.#look(id)
    })
  }

  on(listener: AttentionListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#unsubscribe()
  }

  async #look(id: string): Promise<void> {
    const operation = await this.#journal.operation(id).catch(() => null)
    if (!operation) return
    const needed =
      operation.contradicted || operation.state === "needs_review" || operation.state === "awaiting_approval"
    if (!needed) {
      this.#told.delete(id)
      return
    }
    if (this.#told.get(id) === operation.state_since) return
    this.#told.set(id, operation.state_since)
    this.#tell(operation)
  }

  #tell(operation: Operation): void {
    const attention: Attention = {
      operation_id: operation.operation_id,
      tool: operation.tool,
      state: operation.contradicted ? "contradicted" : operation.state,
      reason: operation.reason?.text ?? "",
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
