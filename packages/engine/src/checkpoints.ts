/** Checkpoints of agent runs: versioned, so that a stale run cannot overwrite a newer one (CS-7). */
import { DEFAULTS, InvokeError, type Json } from "@invokejs/protocol"
import { journaled } from "./admission/call.ts"
import { jsonParams } from "./admission/call-request.ts"
import type { Journal, StoredCheckpoint } from "./ports/journal.ts"

export interface Checkpoint {
  /** The newest, or null. */
  read(): Promise<StoredCheckpoint | null>
  /** Writes the next version; refused (`version_conflict`) where somebody wrote since `expectedVersion`. 0 = none yet. */
  write(value: unknown, options: { readonly expectedVersion: number }): Promise<StoredCheckpoint>
}

const ID_MAX = 200

export function checkpoint(journal: Journal, checkpoint_id: string, tenant: string = DEFAULTS.tenant): Checkpoint {
  if (typeof checkpoint_id !== "string" || checkpoint_id.trim() === "" || checkpoint_id.length > ID_MAX) {
    throw invalid(`a checkpoint has an id, a string of 1 to ${ID_MAX} characters`, "checkpoint_id")
  }
  return {
    read: () => journaled(() => journal.checkpoint(tenant, checkpoint_id)),
    async write(value, options) {
      const expected: unknown = (options as { readonly expectedVersion?: unknown } | undefined)?.expectedVersion
      if (typeof expected !== "number" || !Number.isSafeInteger(expected) || expected < 0) {
        throw invalid("expectedVersion is the version that was read, or 0 where there is none yet", "expectedVersion")
      }
      const json: Json = jsonParams(value)
      const written = await journaled(() => journal.putCheckpoint(tenant, checkpoint_id, expected, json))
      if (!("conflict" in written)) return written
      throw new InvokeError("version_conflict", {
        happened: `checkpoint ${checkpoint_id} is at version ${written.version}, not ${expected}`,
        detail: { operation_id: checkpoint_id, version: written.version },
      })
    },
  }
}

function invalid(happened: string, field: string): InvokeError {
  return new InvokeError("invalid_request", { happened, detail: { field } })
}
