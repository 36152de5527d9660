/** A filter over operations, checked: one that is misspelt must not match every operation there is. */
import { InvokeError, STATE_NAMES } from "@invokejs/protocol"
import { nearName } from "../tool/near-name.ts"

const FIELDS: readonly string[] = [
  "tenant",
  "states",
  "tool",
  "agent_id",
  "key",
  "run_id",
  "where",
  "created_before",
  "contradicted",
]

export function checkFilter(filter: unknown): void {
  if (typeof filter !== "object" || filter === null) throw bad("filter", "a filter is an object of fields")
  for (const name of Object.keys(filter)) {
    if (FIELDS.includes(name)) continue
    const near = nearName(name, FIELDS)
    throw bad(
      name,
      `a filter has no field ${JSON.stringify(name)}`,
      near === null ? undefined : `Did you mean ${near}?`,
    )
  }
  const { states } = filter as { readonly states?: unknown }
  if (states === undefined) return
  const known: readonly string[] = STATE_NAMES
  if (Array.isArray(states) && states.every((one) => known.includes(one as string))) return
  throw bad(
    "states",
    "states is a list of states",
    `Write { states: ["needs_review"] }; the states are ${known.join(", ")}.`,
  )
}

function bad(field: string, happened: string, fix = `Use one of: ${FIELDS.join(", ")}.`): InvokeError {
  return new InvokeError("invalid_request", { happened, fix, detail: { field } })
}
