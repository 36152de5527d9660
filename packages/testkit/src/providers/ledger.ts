/**
 * The append-only ledger file of one provider: its whole durable state.
 *
 * 1. A line that holds an effect is on disk (fsync) before `append` returns, so before anybody is answered.
 * 2. What is in memory is only ever what the lines say; a restart reads them again.
 */
import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { parseLedger, type LedgerLine } from "./ledger-line.ts"

type Unnumbered<Line> = Line extends LedgerLine ? Omit<Line, "seq"> : never

export class Ledger {
  readonly #file: number
  readonly #lines: LedgerLine[]

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true })
    const path = ledgerPath(directory)
    this.#file = openSync(path, "a+")
    const text = readFileSync(path, "utf8")
    this.#lines = parseLedger(text)
    // A torn last line is cut off, or the next one would be glued to it.
    ftruncateSync(this.#file, Buffer.byteLength(text.slice(0, text.lastIndexOf("\n") + 1)))
  }

  get lines(): readonly LedgerLine[] {
    return this.#lines
  }

  get nextSeq(): number {
    return this.#lines.length + 1
  }

  append(line: Unnumbered<LedgerLine>): LedgerLine {
    const numbered = { ...line, seq: this.nextSeq } as LedgerLine
    writeSync(this.#file, `${JSON.stringify(numbered)}\n`)
    if (line.type !== "request" && line.type !== "answered") fsyncSync(this.#file)
    this.#lines.push(numbered)
    return numbered
  }

  close(): void {
    closeSync(this.#file)
  }
}

export function ledgerPath(directory: string): string {
  return join(directory, "ledger.jsonl")
}
