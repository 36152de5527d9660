// What a tidy rule reads and what it says: a rule is a pure function over files, so that a fixture can make it fail.

/** A text file of the repository; the path is relative to its root, with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** A broken rule. The message says what is wrong and what to do instead. */
export interface Finding {
  readonly path: string
  readonly line: number
  readonly message: string
}

/** The line, counted from 1, of an offset into a text. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1
  return line
}

/** One finding a line, in the form that editors turn into links. */
export function formatFindings(findings: readonly Finding[]): string[] {
  return findings.map((finding) => `${finding.path}:${finding.line} ${finding.message}`)
}
