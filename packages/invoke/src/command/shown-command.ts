/** A command for the reader to copy: safe in a shell, on the journal the reader has named. */
import type { JournalFlag } from "./define-command.ts"

export function shownCommand(words: readonly (string | number)[], flags: JournalFlag): string {
  const journal = flags.journal === undefined ? [] : ["--journal", flags.journal]
  return ["invoke", ...words, ...journal].map((word) => shellWord(String(word))).join(" ")
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
