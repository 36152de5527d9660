/** A mistake in how a command was written. Nothing ran. */
import { InvokeError } from "@invokejs/protocol"

export function usage(happened: string, field: string): InvokeError {
  return new InvokeError("invalid_request", { happened, detail: { field } })
}
