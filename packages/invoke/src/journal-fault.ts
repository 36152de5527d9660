/** A journal that cannot be opened, told with the path and what to do. Nothing ran. */
import { InvokeError } from "@invokejs/protocol"
import { JournalError } from "@invokejs/engine"

export function journalFault(error: unknown, path: string): unknown {
  if (!(error instanceof JournalError)) return error
  return new InvokeError("journal_unavailable", {
    happened: `the journal ${path} cannot be opened: ${error.message}`,
    detail: { journal_code: error.code },
    cause: error,
  })
}
