/** A journal that cannot be opened, told with the path and what to do. Nothing ran. */
import { InvokeError, JOURNAL_ERRORS } from "@invokejs/protocol"
import { JournalError } from "@invokejs/engine"

export function journalFault(error: unknown, path: string): unknown {
  if (!(error instanceof JournalError)) return error
  const code = error.code === "commit_in_doubt" ? "journal_unavailable" : JOURNAL_ERRORS[error.code]
  return new InvokeError(code, {
    happened: `the journal ${path} cannot be opened: ${error.message}`,
    detail: { journal_code: error.code },
    cause: error,
  })
}
