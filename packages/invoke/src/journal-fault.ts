/** A journal that cannot be opened, told with the path and what to do. Nothing ran. */
import { InvokeError, JOURNAL_ERRORS } from "@invokejs/protocol"
import { JournalError } from "@invokejs/engine"

const FIXES: { readonly [code: string]: string } = {
  journal_newer: "Use the version of Invoke that wrote it, or a newer one.",
  journal_unsafe_location: "Keep the journal on a disk of this machine.",
  journal_corrupt: "Restore a backup made by `invoke backup`, or name the journal's file.",
  journal_full: "Make room on the disk.",
  overloaded: "Open it again in a moment.",
}

export function journalFault(error: unknown, path: string): unknown {
  if (!(error instanceof JournalError)) return error
  const code = error.code === "commit_in_doubt" ? "journal_unavailable" : JOURNAL_ERRORS[error.code]
  return new InvokeError(code, {
    fix: FIXES[error.code] ?? "Check the path, its folder, the rights to it, and the room on the disk.",
    happened: `the journal ${path} cannot be opened: ${error.message}`,
    detail: { journal_code: error.code },
    cause: error,
  })
}
