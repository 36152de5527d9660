/** Checkpoints of agent runs: versioned, so that a stale run cannot overwrite a newer one (CS-7). */
import { DEFAULTS, InvokeError, type Json } from "@invokejs/protocol"
import { jsonParams } from "./admission/call-request.ts"
import type { Journal, StoredCheckpoint } from "./ports/journal.ts"

export interface Checkpoint {
  /** The newest, or null. */
  read(): Promise<StoredCheckpoint | null>
  /** Writes the next version; refused (`version_conflict`) where somebody wrote since `expectedVersion`. 0 = none yet. */
  write(value: unknown, options: { readonly expectedVersion: number }): Promise<StoredCheckpoint>
}

export function checkpoint(journal: Journal, checkpoint_id: string, tenant: string = DEFAULTS.tenant): Checkpoint {
  if (checkpoint_id.trim() === "") {
    throw new InvokeError("invalid_request", { happened: "a checkpoint has an id", detail: { field: "checkpoint_id" } })
  }
  return {
    read: () => journal.checkpoint(tenant, checkpoint_id),
    async write(value, { expectedVersion }) {
      const json: Json = jsonParams(value)
      const written = await journal.putCheckpoint(tenant, checkpoint_id, expectedVersion, json)
      if (!("conflict" in written)) return written
      throw new InvokeError("version_conflict", {
        happened: `checkpoint ${checkpoint_id} is at version ${written.version}, not ${expectedVersion}`,
        detail: { operation_id: checkpoint_id, version: written.version },
      })
    },
  }
}
