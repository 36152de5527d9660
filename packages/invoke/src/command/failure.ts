/**
 * What a command says when it has no answer: one message with what to do, an exit code, problem JSON.
 *
 * FA1. An exit code of 1 means that nothing ran. Where that is not known, the code is 3.
 */
import { JournalError } from "@invokejs/engine"
import { InvokeError, JOURNAL_ERRORS, problemOf, type Problem } from "@invokejs/protocol"
import { Interrupted } from "./interruptible.ts"
import { printable } from "./page.ts"

export interface Failure {
  readonly exit: number
  readonly message: string
  readonly problem: { readonly [name: string]: unknown }
}

const COULD_NOT_SERVE = 1
const UNRESOLVED = 3

/** `effect`: the command may have started something before it broke. */
export function failureOf(error: unknown, effect: boolean): Failure {
  if (InvokeError.is(error)) return told(error.exit, error.message, problemOf(error))
  if (error instanceof JournalError) {
    return error.code === "commit_in_doubt" ? inDoubt(error) : failureOf(journalProblem(error), effect)
  }
  if (error instanceof Interrupted)
    return told(COULD_NOT_SERVE, error.message, { code: "interrupted", title: "Interrupted" })
  return broken(error, effect)
}

/** A fault of the journal in the words of the error registry. */
export function journalProblem(error: JournalError): InvokeError {
  const code = error.code === "commit_in_doubt" ? "journal_unavailable" : JOURNAL_ERRORS[error.code]
  return new InvokeError(code, {
    happened: error.message,
    ...(code === "journal_unavailable" ? { fix: FIXES[error.code] ?? "Run the same command later." } : {}),
    detail: { journal_code: error.code },
    cause: error,
  })
}

const FIXES: { readonly [code: string]: string } = {
  journal_corrupt: "Check the path; a damaged journal is replaced from a backup (`invoke backup`).",
  journal_read_only: "Make the file and its folder writable for this user.",
  journal_full: "Free some space, then run the same command.",
  journal_replaced: "Check what was put in the file's place, then run `invoke quarantine show`.",
}

function inDoubt(error: JournalError): Failure {
  const message = `${error.message}. It may have been written: run the same command again, which is safe. (${error.code})`
  return told(UNRESOLVED, message, { code: error.code, title: "The commit is in doubt", detail: message })
}

function broken(error: unknown, effect: boolean): Failure {
  const what = error instanceof Error ? error.message : String(error)
  if (!effect) {
    const fault = new InvokeError("internal", {
      happened: `the command broke: ${what}`,
      fix: "Report it.",
      cause: error,
    })
    return told(fault.exit, fault.message, problemOf(fault))
  }
  const message =
    `the command broke: ${what}. What became of the operation is in the journal: ` +
    "read `invoke ops ls --open`. (internal)"
  return told(UNRESOLVED, message, { code: "internal", title: "The command broke", detail: message })
}

function told(exit: number, message: string, problem: Problem | Failure["problem"]): Failure {
  return { exit, message: printable(message), problem: { ...problem, exit } }
}
